package partial

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jellydator/ttlcache/v3"

	"podium/schemas"
)

const (
	// maxTexts bounds how many requests are streamed at a time; the oldest are forgotten.
	maxTexts = 4096
	// longest is how long a request is streamed that does not say itself until when it is waited for.
	longest = time.Hour
)

// What a text is refused for.
var (
	// ErrUnexpected reports a text of a request that nobody has sent to the agent, or that is not streamed, or not any more.
	ErrUnexpected = errors.New("the agent was not asked for a text that comes by and by")
	// ErrGap reports a text that does not begin where the one before has ended, or before that: the agent is to begin anew.
	ErrGap = errors.New("what stands before this text was missed; begin anew at offset 0")
	// ErrTooLong reports a text beyond schemas.MaxPartial.
	ErrTooLong = errors.New("the text is too long to be shown before its result")
)

// A Hub knows the newest text of each request that is streamed. It is safe for use by several goroutines at once.
type Hub struct {
	mu    sync.Mutex
	texts *ttlcache.Cache[string, *text]
}

type text struct {
	agent   string
	said    string
	changed chan struct{} // closed when said changes
}

// New returns a hub that expects nothing.
func New() *Hub {
	return &Hub{texts: ttlcache.New(ttlcache.WithCapacity[string, *text](maxTexts), ttlcache.WithDisableTouchOnHit[string, *text]())}
}

// Expect has the hub listen to an agent about a request, until that expires; the zero moment is an hour.
func (h *Hub) Expect(agent, request string, expires time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := longest
	if !expires.IsZero() {
		left = time.Until(expires)
	}
	if left <= 0 {
		return
	}
	h.texts.DeleteExpired()
	if h.texts.Get(request) == nil {
		h.texts.Set(request, &text{agent: agent, changed: make(chan struct{})}, left)
	}
}

// Take takes a schemas.Partial that an agent has sent. Which agent that is, the subject says. Errors: ErrUnexpected,
// ErrGap, ErrTooLong, or that the body is no Partial.
func (h *Hub) Take(agent string, body []byte) error {
	if err := schemas.Validate("partial", body); err != nil {
		return fmt.Errorf("a partial of %s: %w", agent, err)
	}
	var told schemas.Partial
	if err := schemas.Unmarshal(body, &told); err != nil {
		return fmt.Errorf("a partial of %s does not decode", agent)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	item := h.texts.Get(told.Request)
	switch {
	case item == nil || item.Value().agent != agent:
		return ErrUnexpected
	case told.Offset > len(item.Value().said):
		return ErrGap
	case told.Offset+len(told.Text) > schemas.MaxPartial:
		return ErrTooLong
	}
	known := item.Value()
	known.said = known.said[:told.Offset] + told.Text
	close(known.changed)
	known.changed = make(chan struct{})
	return nil
}

// Said returns what was said of a request so far, and what is closed when there is more; nil when it is not expected.
func (h *Hub) Said(request string) (said string, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	item := h.texts.Get(request)
	if item == nil {
		return "", nil
	}
	return strings.ToValidUTF8(item.Value().said, ""), item.Value().changed
}
