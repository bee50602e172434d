package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded/recovery"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
)

// TestDamageFoundByARestartIsSaid: the server has met a full disk, there is room again, and the
// look before it is started again finds damage.
func TestDamageFoundByARestartIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ledger, err := installation.OpenLedger(t.Context(), config.Ledger{Data: dir, Durability: config.DurabilityFsync, Shards: 1}, nil, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := bus.Append(t.Context(), ledger.Core, bus.Message{Subject: "podium.in.chat.0", Body: []byte(`{"text":"this is what was said"}`)}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	r := newRoom(ledger, zerolog.New(&log))
	r.lookForLoss(t.Context())
	r.set(&r.failed, fmt.Errorf("%w: its disk had no room for a message: make room there, and podium goes on by itself", bus.ErrFull)) // as checkWrites says
	file := filepath.Join(dir, "ledger/jetstream/CORE/streams/PODIUM_0/msgs/1.blk")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 4
	content[len(content)/2+1] ^= 8
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.tried = time.Time{}
		r.resume(t.Context())
	}
	if said, _, takes := r.health(t.Context()); !strings.Contains(said, "is damaged") || takes {
		t.Errorf("health says %q, and takes %t", said, takes)
	}
	if err := ledger.Close(); err == nil {
		t.Error("the stop says nothing")
	}
	if found, err := installation.CheckLedger(t.Context(), dir, zerolog.Nop()); err != nil || len(found.Open) == 0 {
		t.Errorf("the check says %v, %v", found, err)
	}
}

// TestLossIsToldToMany: many ask at once for the health of a ledger that is damaged.
func TestLossIsToldToMany(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	settings := &config.Config{}
	settings.HTTP.Listen = address
	lost := &recovery.LossError{Data: strings.Repeat("d", 13), Losses: []recovery.Loss{{Stream: "PODIUM_0", Cause: recovery.Missing, First: 1, Last: 2}}}
	go func() { ended <- ServeLoss(ctx, settings, lost, zerolog.Nop()) }()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					continue // it does not listen yet
				}
				body, err := io.ReadAll(response.Body)
				if err = errors.Join(err, response.Body.Close()); err != nil || !strings.HasSuffix(string(body), "}\n") {
					t.Errorf("it says %s, %v", body, err)
				}
			}
		})
	}
	all.Wait()
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
