package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/backoff"
)

const (
	firstPause   = 200 * time.Millisecond // after the first attempt; then twice as long each time
	longestPause = 3 * time.Second
	tellEvery    = 5 * time.Second
)

// A patience is how a start waits for a ledger that is away, or held.
type patience struct {
	servers string
	tell    func(sentence string) // for a person
	log     zerolog.Logger

	mu       sync.Mutex
	reason   error // why it waits, for the log
	sentence string
}

// until attempts something again and again for as long as its error is temporary, and
// says what it waits for at once and then every few seconds. The end of ctx ends it.
func (p *patience) until(ctx context.Context, attempt func(context.Context) error) error {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	p.away(errors.New("it has not answered yet"))
	trouble := backoff.Backoff{First: firstPause, Most: longestPause}
	for first := true; ; first = false {
		outcome := make(chan error, 1)
		go func() { outcome <- attempt(ctx) }()
		err := p.await(outcome, ticker.C)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !bus.Temporary(err):
			return err
		}
		p.away(err)
		if first {
			p.say()
		}
		select {
		case <-time.After(trouble.Next()):
		case <-ticker.C:
			p.say()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// await returns the outcome of an attempt, and says meanwhile what it waits for.
func (p *patience) await(outcome <-chan error, tick <-chan time.Time) error {
	for {
		select {
		case err := <-outcome:
			return err
		case <-tick:
			p.say()
		}
	}
}

// away notes that the ledger cannot be used, and why.
func (p *patience) away(reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reason, p.sentence = reason, fmt.Sprintf("the ledger on %s is not there yet: %v", p.servers, reason)
}

// waitsFor says in a sentence what the start waits for.
func (p *patience) waitsFor() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sentence == "" {
		return "starting: the ledger is being opened"
	}
	return "starting: " + p.sentence
}

// held says that another process has the ledger, in a sentence that names it.
func (p *patience) held(sentence string) {
	p.mu.Lock()
	p.reason, p.sentence = errors.New("another process holds it"), sentence
	p.mu.Unlock()
	p.say()
}

func (p *patience) say() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.Warn().Err(p.reason).Msg("the start waits for the ledger")
	p.tell(p.sentence)
}
