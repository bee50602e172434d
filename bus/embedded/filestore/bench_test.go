package filestore_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/filestore"
)

// BenchmarkRead is what looking at a ledger costs each start: MB/s of files that are in
// the kernel's cache, with messages of 1 KiB.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	server, err := embedded.Start(b.Context(), embedded.Config{Dir: dir, Durability: embedded.Interval, Shards: 2, Logger: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	core, err := server.Core(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat([]byte("x"), 1<<10)
	const messages = 100_000
	failed := make(chan error, messages)
	for i := range messages {
		core.Publish(bus.Message{Subject: fmt.Sprintf("podium.session.%d.%d", i%2, i), Header: bus.Header{"ce-id": {"1"}}, Body: body}, bus.Expect{},
			func(_ bus.Ack, err error) { failed <- err })
	}
	for range messages {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	core.Close()
	if err := server.Close(); err != nil {
		b.Fatal(err)
	}
	var size int64
	for b.Loop() {
		size = 0
		if _, err := filestore.Read(b.Context(), dir+"/ledger", func(string, uint32) int64 { return 0 }, func(bytes int64) { size += bytes }); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(size)
}
