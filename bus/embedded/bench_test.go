package embedded_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
	"podium/schemas"
)

// window bounds the publishes under way, as a shard's owner would.
const window = 4096

// eachConnection runs a benchmark over both ways to reach the server, at both durabilities.
func eachConnection(b *testing.B, run func(b *testing.B, c *jetstream.Core, server *embedded.Server)) {
	b.Helper()
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		for _, way := range []string{"tcp", "inprocess"} {
			b.Run(string(durability)+"/"+way, func(b *testing.B) {
				server := start(b, embedded.Config{Durability: durability})
				config := jetstream.Config{URL: server.URL(), SeedFile: server.Keys().Core.SeedFile, Shards: 2, Logger: zerolog.Nop()}
				if way == "inprocess" {
					config.InProcess = server
				}
				c, err := jetstream.Connect(b.Context(), config)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(c.Close)
				b.ReportAllocs()
				run(b, c, server)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
			})
		}
	}
}

func record(subject string) bus.Message {
	return bus.Message{
		Subject: subject,
		Header:  bus.Header{"ce-id": {"0b2f"}, "ce-type": {"podium.record.v1"}, "ce-source": {"/podium/bench"}},
		Body:    make([]byte, 512),
	}
}

// BenchmarkPublish is the bare rate: no expectation, one stream, a window under way.
func BenchmarkPublish(b *testing.B) {
	eachConnection(b, func(b *testing.B, c *jetstream.Core, _ *embedded.Server) {
		b.Helper()
		message := record(bus.InSubject("bench", 0))
		slots := make(chan struct{}, window)
		for b.Loop() {
			slots <- struct{}{}
			c.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) {
				<-slots
				if err != nil {
					b.Error(err)
				}
			})
		}
		for range window { // wait for the last
			slots <- struct{}{}
		}
	})
}

// BenchmarkAppend is compare-and-append: 64 sessions on two shards, each one
// awaited before its next.
func BenchmarkAppend(b *testing.B) {
	const sessions = 64
	eachConnection(b, func(b *testing.B, c *jetstream.Core, _ *embedded.Server) {
		b.Helper()
		var group sync.WaitGroup
		work := make(chan struct{}, sessions)
		for i := range sessions {
			message := record(bus.SessionSubject(schemas.SessionID("bench", strconv.Itoa(i)), c.Shards()))
			group.Go(func() {
				last := uint64(0)
				for range work {
					ack, err := bus.Append(b.Context(), c, message, bus.ExpectLast(last))
					if err != nil {
						b.Error(err)
						return
					}
					last = ack.Sequence
				}
			})
		}
		for b.Loop() {
			work <- struct{}{}
		}
		close(work)
		group.Wait()
	})
}

// BenchmarkGroupCommit appends to many sessions of one shard at once, each
// message by itself or all that wait together; the durability is fsync. It says
// from which number on a batch pays.
func BenchmarkGroupCommit(b *testing.B) {
	for _, count := range []int{8, 16, 32, 64, 256} {
		for name, group := range map[string]bool{"alone": false, "together": true} {
			b.Run(strconv.Itoa(count)+"/"+name, func(b *testing.B) {
				server := start(b, embedded.Config{Shards: 1})
				c, err := jetstream.Connect(b.Context(), jetstream.Config{
					URL: server.URL(), InProcess: server, SeedFile: server.Keys().Core.SeedFile, Shards: 1, GroupCommit: group, Logger: zerolog.Nop(),
				})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(c.Close)
				message := record("")
				last := make([]uint64, count)
				for b.Loop() {
					var done sync.WaitGroup
					done.Add(count)
					for i := range count {
						message.Subject = bus.SessionSubject(schemas.SessionID("bench", strconv.Itoa(i)), 1)
						c.Publish(message, bus.ExpectLast(last[i]), func(ack bus.Ack, err error) {
							defer done.Done()
							last[i] = ack.Sequence
							if err != nil {
								b.Error(err)
							}
						})
					}
					done.Wait()
				}
				b.ReportMetric(float64(b.N*count)/b.Elapsed().Seconds(), "msg/s")
			})
		}
	}
}

// BenchmarkRead is ordered reading of what stands in the stream.
func BenchmarkRead(b *testing.B) {
	eachConnection(b, func(b *testing.B, c *jetstream.Core, _ *embedded.Server) {
		b.Helper()
		const stored = 20_000
		message := record(bus.InSubject("bench", 0))
		var group sync.WaitGroup
		group.Add(stored)
		for range stored {
			c.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) {
				defer group.Done()
				if err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
		b.ResetTimer()
		for read := 0; read < b.N; {
			for _, err := range c.Scan(b.Context(), bus.ShardStream(0), 1) {
				if err != nil {
					b.Fatal(err)
				}
				if read++; read >= b.N {
					break
				}
			}
		}
	})
}

// BenchmarkLast is the look-up of one newest message.
func BenchmarkLast(b *testing.B) {
	eachConnection(b, func(b *testing.B, c *jetstream.Core, _ *embedded.Server) {
		b.Helper()
		subject := bus.SessionSubject(schemas.SessionID("bench", "last"), c.Shards())
		if _, err := bus.Append(b.Context(), c, record(subject), bus.Expect{}); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := c.Last(b.Context(), subject); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRequest is one request through an agent: publish, fetch, respond, acknowledge.
func BenchmarkRequest(b *testing.B) {
	eachConnection(b, func(b *testing.B, c *jetstream.Core, server *embedded.Server) {
		b.Helper()
		if err := c.Declare(b.Context(), "echo", bus.Pool{Size: 64, AckWait: ackWait}); err != nil {
			b.Fatal(err)
		}
		w := connectWorker(b, server, "echo")
		request, response := record(bus.RequestSubject("echo")), record(bus.ResponseSubject("echo", 0))
		slots := make(chan struct{}, 64)
		var group sync.WaitGroup
		group.Go(func() {
			for done := 0; done < b.N; {
				deliveries, err := w.Fetch(b.Context(), 64)
				if err != nil {
					b.Error(err)
					return
				}
				done += len(deliveries)
				for _, d := range deliveries {
					group.Go(func() {
						defer func() { <-slots }()
						if _, err := w.Publish(b.Context(), response); err != nil {
							b.Error(err)
						}
						if err := d.Ack(b.Context()); err != nil {
							b.Error(err)
						}
					})
				}
			}
		})
		b.ResetTimer()
		for range b.N {
			slots <- struct{}{}
			c.Publish(request, bus.Expect{}, func(_ bus.Ack, err error) {
				if err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
	})
}
