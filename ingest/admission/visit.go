package admission

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"podium/ingest/problem"
)

// discardFor is how long a refused body may go on to arrive, so that its sender can
// read the refusal.
const discardFor = time.Second

// A visit is one request. The fields below are guarded by the control's lock.
type visit struct {
	control    *Control
	from       netip.Prefix
	connection *connection // nil when the server does not use Connect

	stranger bool // the sender is not known
	counted  bool // among the requests of strangers
	bytes    int64
}

type visitKey struct{}

// visitOf returns the visit of a request; nil when no Control admitted it.
func visitOf(r *http.Request) *visit {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	return v
}

// Handler admits requests. Whoever sends a body needs a place until an adapter knows
// him; a request without one is never slow before that.
func (c *Control) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{control: c, from: c.client(r), stranger: true}
		v.connection, _ = r.Context().Value(connectionKey{}).(*connection)
		if r.ContentLength != 0 && !v.enter() {
			Dismiss(w, r)
			problem.Write(w, crowded())
			return
		}
		defer v.leave()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
	})
}

// Address returns what counts as the address that a request comes from: a proxy's word is taken as in Control.
func Address(r *http.Request) netip.Prefix {
	if v := visitOf(r); v != nil {
		return v.from
	}
	return block(addressOf(r.RemoteAddr))
}

// Known says that an adapter knows the sender of a request: he takes the place of no
// stranger any more.
func Known(r *http.Request) {
	v := visitOf(r)
	if v == nil {
		return
	}
	c := v.control
	c.mu.Lock()
	defer c.mu.Unlock()
	v.acquaint()
	if v.connection != nil {
		c.acquaint(v.connection)
	}
}

// Taken says that nothing of a request's body is kept any more.
func Taken(r *http.Request) {
	if v := visitOf(r); v != nil {
		v.control.mu.Lock()
		defer v.control.mu.Unlock()
		v.release()
	}
}

// Dismiss prepares an answer to a request whose body nobody wants. The server would
// wait for it otherwise, for as long as the sender likes.
func Dismiss(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	w.Header().Set("Connection", "close")
	// A writer without deadlines has none to set.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(discardFor))
}

func crowded() *problem.Document {
	return problem.New(http.StatusTooManyRequests, "too-many-requests", "Too many requests of this address are under way",
		"Nothing was taken. Send it again when the bodies of the others have arrived.").After(problem.RetryUnavailable)
}

func full() *problem.Document {
	return problem.New(http.StatusServiceUnavailable, "too-many-bodies", "Too much is being received at a time",
		"Nothing was taken. Send it again after the time that Retry-After says.").After(problem.RetryUnavailable)
}

// enter takes one of the places that the address has; false when all are taken.
func (v *visit) enter() bool {
	c := v.control
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.strangers[v.from]; have != nil && have.requests >= c.limits.StrangerRequests {
		c.usage.Refused.StrangerRequests++
		return false
	}
	v.counted = true
	c.count(v.from, stranger{requests: 1})
	return true
}

// take makes room for so many more bytes, or returns what the sender is told instead.
func (v *visit) take(bytes int64) *problem.Document {
	c := v.control
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.stranger {
		if have := c.strangers[v.from]; have != nil && have.bytes+bytes > c.limits.StrangerBodies {
			c.usage.Refused.StrangerBodies++
			return crowded()
		}
	}
	if c.usage.Bodies+bytes > c.limits.Bodies {
		c.usage.Refused.Bodies++
		return full()
	}
	c.usage.Bodies += bytes
	v.bytes += bytes
	if v.stranger {
		c.count(v.from, stranger{bytes: bytes})
	}
	return nil
}

// release gives back the room of the body. The lock is held.
func (v *visit) release() {
	v.control.usage.Bodies -= v.bytes
	if v.stranger {
		v.control.count(v.from, stranger{bytes: -v.bytes})
	}
	v.bytes = 0
}

// acquaint counts the visit among those of strangers no longer. The lock is held.
func (v *visit) acquaint() {
	if v.counted {
		v.counted = false
		v.control.count(v.from, stranger{requests: -1})
	}
	if v.stranger {
		v.stranger = false
		v.control.count(v.from, stranger{bytes: -v.bytes})
	}
}

func (v *visit) leave() {
	v.control.mu.Lock()
	defer v.control.mu.Unlock()
	v.release()
	v.acquaint()
}
