package embedded_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"podium/bus"
	"podium/bus/embedded"
)

// TestRefusedByTheClient: a message that cannot even be sent is told so, and those
// that would have been stored together with it are stored without it.
func TestRefusedByTheClient(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]bus.Header{
		"no name of a header": {"no name": {"x"}},
		"too large a header":  {"ce-large": {strings.Repeat("x", embedded.MaxPayload)}},
	} {
		for _, at := range []int{1, 30, 59} {
			t.Run(name+" "+strconv.Itoa(at), func(t *testing.T) {
				t.Parallel()
				c := core(t, start(t, embedded.Config{}))
				const count = 60
				errs := make([]error, count)
				var done sync.WaitGroup
				done.Add(count)
				for i := range count {
					record := bus.Message{Subject: bus.SessionSubject(sessionOn(i), 2)}
					if i == at {
						record.Header = header
					}
					c.Publish(record, bus.ExpectLast(0), func(_ bus.Ack, err error) {
						defer done.Done()
						errs[i] = err
					})
				}
				done.Wait()
				for i, err := range errs {
					if (err != nil) != (i == at) {
						t.Errorf("append %d: %v", i, err)
					}
				}
			})
		}
	}
}
