package embedded_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/embedded"
)

// TestFullStoreIsSaidAtOnce: when the store takes no more in the middle of what
// is published at once, none of it waits long for an answer that does not come.
func TestFullStoreIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(i int) string{
		"requests": func(int) string { return bus.RequestSubject("alpha") },
		"records":  func(i int) string { return bus.SessionSubject(sessionOn(i), 2) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := core(t, start(t, embedded.Config{MaxBytes: 8 << 20}))
			const burst = 100
			full, stored := 0, 0
			n := 0
			for range 10 {
				var done sync.WaitGroup
				var mu sync.Mutex
				done.Add(burst)
				began := time.Now()
				for range burst {
					n++
					c.Publish(bus.Message{Subject: of(n), Body: make([]byte, 20<<10)}, bus.Expect{}, func(_ bus.Ack, err error) {
						defer done.Done()
						mu.Lock()
						defer mu.Unlock()
						switch {
						case errors.Is(err, bus.ErrFull):
							full++
						case err == nil:
							stored++
						case !bus.Temporary(err):
							t.Error(err)
						}
					})
				}
				done.Wait()
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("the outcomes took %s", took)
				}
				if full > 0 {
					break
				}
			}
			if full == 0 || stored == 0 {
				t.Errorf("%d stored, %d refused as full", stored, full)
			}
		})
	}
}
