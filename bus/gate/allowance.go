package gate

import (
	"slices"
	"time"

	"podium/bus"
	"podium/bus/artifact"
)

// What an agent may send; doc.go says it in words.
const (
	unit = 1 << 10 // bytes that any message counts for at least

	responsesPerRequest = 2
	progressBurst       = 40 // units
	progressRate        = 8  // units a second
	permitBurst         = 5
	permitRate          = 2 // a second

	unsolicitedBurst = 100
	unsolicitedRate  = 0.1 // a second
	strayBurst       = 1 << 20
	strayRate        = 1 << 20 / 3600.0 // bytes a second

	artifactBurst = 2 * artifact.MaxSize // one of several pieces counts twice: they stay, and so does the whole
	artifactRate  = 1 << 30 / 3600.0     // bytes a second
	artifactLeast = 16 << 10             // that any artifact counts for: it is in the store's index, which is memory
	signBurst     = 40
	signRate      = 20 // a second

	partialBurst = 1 << 20 // bytes
	partialRate  = 64 << 10

	// longestWait is how long a request is worked on that does not say itself until when it
	// is waited for: then the work stream has forgotten it.
	longestWait = 7 * 24 * time.Hour

	maxRequests = 1 << 17 // ids that are remembered of an agent: two for each request
	maxRepeats  = 1 << 13
)

// An allowance is a token bucket.
type allowance struct {
	left, most, rate float64 // rate is per second
	at               time.Time
}

func newAllowance(now time.Time, most, rate float64) allowance {
	return allowance{left: most, most: most, rate: rate, at: now}
}

// has reports whether so much is left.
func (a *allowance) has(now time.Time, amount float64) bool {
	if elapsed := now.Sub(a.at).Seconds(); elapsed > 0 {
		a.left, a.at = max(a.left, min(a.left+elapsed*a.rate, a.most)), now // what was given once stays
	}
	return a.left >= amount
}

// take uses up an amount, or nothing when less is left.
func (a *allowance) take(now time.Time, amount float64) bool {
	if !a.has(now, amount) {
		return false
	}
	a.left -= amount
	return true
}

// atLeast gives so much once, beyond what is usual.
func (a *allowance) atLeast(amount float64) { a.left = max(a.left, amount) }

// A request is what may be sent for one that went out.
type request struct {
	responses []passedResponse
	progress  allowance
	permits   allowance
	put       float64   // bytes of artifacts so far
	until     time.Time // nobody waits for it any more, and it allows no more than is left
}

// A passedResponse is a response that was let pass.
type passedResponse struct {
	id     string
	stored bool // it needs no other try
}

// clock is the time by which the request's allowances grow.
func (r *request) clock(now time.Time) time.Time {
	if now.After(r.until) {
		return r.until
	}
	return now
}

// response reports whether a response of that id may pass. The first one ends the work.
func (r *request) response(id string, now time.Time) bool {
	r.until = r.clock(now)
	if at := r.find(id); at >= 0 {
		return !r.responses[at].stored
	}
	if len(r.responses) == responsesPerRequest {
		return false
	}
	r.responses = append(r.responses, passedResponse{id: id})
	return true
}

// stored notes that a response of that id is on the ledger. Its acknowledgement may be
// forgotten before the request is.
func (r *request) stored(id string) {
	if at := r.find(id); at >= 0 {
		r.responses[at].stored = true
	}
}

func (r *request) find(id string) int {
	return slices.IndexFunc(r.responses, func(r passedResponse) bool { return r.id == id })
}

// requests remembers the newest requests of an agent.
type requests struct {
	byID  map[string]*request
	order ring
}

// opened notes a request under its id and under that of the plan that it is part of,
// which some agents name in its place. It returns nil when it is known.
func (r *requests) opened(id, plan string, expires, now time.Time) *request {
	if r.byID[id] != nil {
		return nil // the same request again, after a takeover
	}
	if expires.IsZero() {
		expires = now.Add(longestWait)
	}
	opened := &request{
		until: expires, progress: newAllowance(now, progressBurst*unit, progressRate*unit), permits: newAllowance(now, permitBurst, permitRate),
	}
	for _, name := range []string{id, plan} {
		if known := r.byID[name]; known == nil {
			if oldest, ok := r.order.push(name); ok {
				delete(r.byID, oldest)
			}
		}
		r.byID[name] = opened
	}
	return opened
}

// repeats remembers the newest messages of an agent and their acknowledgements.
type repeats struct {
	byID  map[string]*bus.Ack // nil: under way
	order ring
}

func (r *repeats) find(id string) (ack *bus.Ack, underWay bool) {
	ack, known := r.byID[id]
	return ack, known && ack == nil
}

// end notes what came of a message; one that was not stored may come again.
func (r *repeats) end(id string, ack bus.Ack, err error) {
	if err != nil {
		delete(r.byID, id)
		return
	}
	r.byID[id] = &ack
	if oldest, ok := r.order.push(id); ok {
		delete(r.byID, oldest)
	}
}

// A ring is the newest values, up to a number. It takes a tenth of what a cache of a
// library takes for each: of a request's id a gate keeps more than a hundred thousand.
type ring struct {
	most   int
	values []string
	next   int
}

// push adds a value, and returns the oldest one when it has to go.
func (r *ring) push(value string) (oldest string, full bool) {
	if len(r.values) < r.most {
		r.values = append(r.values, value)
		return "", false
	}
	oldest, r.values[r.next] = r.values[r.next], value
	r.next = (r.next + 1) % r.most
	return oldest, true
}
