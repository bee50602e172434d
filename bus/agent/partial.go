package agent

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"podium/bus"
	"podium/schemas"
)

const (
	partialInterval = 250 * time.Millisecond // the least time between two texts
	partialTries    = 3                      // after so many in a row that nobody has taken, no more are sent
)

// Partial tells what the text of the result is so far, as a whole, to whoever waits for it at a page or a chat (O-35). It does
// nothing unless the task's context says Stream. It may be called from any goroutine until Handle returns, as often
// as there is more: at most four texts a second are sent, and of each schemas.MaxPartial bytes. What is told may be
// missed: the outcome has to say it all.
func (r *Request) Partial(text string) {
	if r.partial != nil {
		r.partial(text)
	}
}

// Streams reports whether Partial reaches anybody.
func (r *Request) Streams() bool { return r.partial != nil }

// WithPartial returns the request with somebody who hears Partial.
func (r *Request) WithPartial(hear func(text string)) *Request {
	telling := *r
	telling.partial = hear
	return &telling
}

// A teller sends the text of one result while it comes.
type teller struct {
	server  *server
	request string
	cancel  context.CancelFunc
	sending sync.WaitGroup

	mu    sync.Mutex
	said  string
	sent  string // what is known at the other end
	busy  bool   // somebody sends
	ended bool
}

// startPartials lets a handler tell the text of its result, until end is called.
func (s *server) startPartials(ctx context.Context, request *Request) (end func()) {
	if !request.Task().Context.Stream {
		return func() {}
	}
	t := &teller{server: s, request: request.MessageID}
	ctx, t.cancel = context.WithCancel(ctx)
	request.partial = func(text string) { t.tell(ctx, text) }
	return t.end
}

func (t *teller) tell(ctx context.Context, text string) {
	if len(text) > schemas.MaxPartial {
		text = text[:runeStart(text, schemas.MaxPartial)]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said = text; t.busy || t.ended || t.said == t.sent {
		return
	}
	t.busy = true
	t.sending.Go(func() { t.run(ctx) })
}

// end stops the sending at once: the result is there.
func (t *teller) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.cancel()
	t.sending.Wait()
}

// run sends until there is nothing new.
func (t *teller) run(ctx context.Context) {
	for failed := 0; ; {
		said, sent, more := t.next(failed < partialTries && ctx.Err() == nil)
		if !more {
			return
		}
		if err := t.send(ctx, said, sent); err != nil {
			failed++
			said = "" // nobody knows what has arrived
		} else {
			failed = 0
		}
		t.mu.Lock()
		t.sent = said
		t.mu.Unlock()
		select {
		case <-time.After(partialInterval):
		case <-ctx.Done():
		}
	}
}

// next returns what is to be said and what is known of it; no more when there is nothing new, or nobody listens.
func (t *teller) next(heard bool) (said, sent string, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = t.ended || !heard
	t.busy = !t.ended && t.said != t.sent
	return t.said, t.sent, t.busy
}

func (t *teller) send(ctx context.Context, said, sent string) error {
	offset := 0
	for offset < min(len(said), len(sent)) && said[offset] == sent[offset] {
		offset++
	}
	offset = runeStart(said, offset)
	body, err := schemas.Marshal(schemas.Partial{Request: t.request, Offset: offset, Text: said[offset:]})
	if err != nil {
		return err
	}
	return t.server.ask(ctx, bus.ServicePartial, body)
}

// runeStart returns the beginning of the character that stands at a place, or the place itself at the end.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
