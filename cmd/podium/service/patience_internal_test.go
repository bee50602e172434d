package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/cmd/podium/config"
)

// TestPatience: who is away is waited for, with words at once and every five seconds,
// also while one attempt takes long; what no try helps against, and the end, are not.
func TestPatience(t *testing.T) {
	t.Parallel()
	away := &bus.TemporaryError{Op: "connect", Err: errors.New("nobody is there")}
	final := errors.New("the key is wrong")
	for name, test := range map[string]struct {
		attempt func(context.Context, time.Duration) error
		stop    time.Duration // 0 is never
		want    error
		least   int // sentences
		most    int
		within  time.Duration
	}{
		"there":         {func(context.Context, time.Duration) error { return nil }, 0, nil, 0, 0, 0},
		"wrong":         {func(context.Context, time.Duration) error { return final }, 0, final, 0, 0, 0},
		"away for 21 s": {func(_ context.Context, at time.Duration) error { return unless(at > 21*time.Second, away) }, 0, nil, 5, 5, 25 * time.Second},
		"away, then wrong": {func(_ context.Context, at time.Duration) error {
			if at > time.Second {
				return final
			}
			return away
		}, 0, final, 1, 1, 2600 * time.Millisecond}, // the fourth pause is 1.6 s at the most
		"silent for 21 s":            {func(context.Context, time.Duration) error { time.Sleep(21 * time.Second); return nil }, 0, nil, 4, 4, 21 * time.Second},
		"told to stop":               {func(context.Context, time.Duration) error { return away }, 7 * time.Second, context.DeadlineExceeded, 2, 2, 7 * time.Second},
		"told to stop in an attempt": {func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return away }, 7 * time.Second, context.DeadlineExceeded, 1, 1, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				if test.stop > 0 {
					ctx, stop = context.WithTimeout(t.Context(), test.stop)
				}
				defer stop()
				var said []string
				p := &patience{servers: (&config.NATS{URL: "nats://one:secret@host:4222"}).Servers(), tell: func(sentence string) { said = append(said, sentence) }, log: zerolog.Nop()}
				began := time.Now()
				err := p.until(ctx, func(ctx context.Context) error { return test.attempt(ctx, time.Since(began)) })
				if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
					t.Errorf("it ended with %v, want %v", err, test.want)
				}
				if len(said) < test.least || len(said) > test.most {
					t.Errorf("it said %d sentences: %q", len(said), said)
				}
				if took := time.Since(began); took > test.within {
					t.Errorf("it took %s", took)
				}
				for _, sentence := range said {
					if !strings.Contains(sentence, "host:4222") || strings.Contains(sentence, "secret") {
						t.Errorf("it says %q", sentence)
					}
				}
			})
		})
	}
}

func unless(holds bool, err error) error {
	if holds {
		return nil
	}
	return err
}
