package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

// ErrUnsolicited is in every refusal: the agent sends more than it was asked for.
var ErrUnsolicited = errors.New("more than the agent was asked for")

// warnEvery is how often the log says that an agent is refused.
const warnEvery = time.Minute

// A Gate holds what agents send against what they were asked to do. It is safe for
// use by several goroutines at once.
type Gate struct {
	clock  func() time.Time
	full   func(shard int) bool
	store  func() (percent float64, limit int64) // of the store of artifacts; see LimitStore
	floods chan string
	log    zerolog.Logger

	mu     sync.Mutex
	agents map[string]*account
}

// An account is what one agent may still send.
type account struct {
	mu          sync.Mutex
	requests    *requests
	made        int64 // requests so far
	repeats     *repeats
	unsolicited allowance // messages
	stray       allowance // bytes of these
	artifacts   allowance // bytes
	unasked     allowance // of these, without a request under way; see share
	open        []*request
	signs       allowance // announcements and signs of life
	partials    allowance // bytes
	refused     uint64
	warned      time.Time
	flood       flood
	worst       flood // the newest that had floodShown refusals or more
}

// A flood is what an agent goes on to send that nobody has asked for, or nobody can read.
type flood struct {
	since, last time.Time // of the refusals
	count       int
}

const (
	// floodFor is how long a flood lasts after which the agent is taken for hostile, and floodGap how long it may pause
	// meanwhile: the server cuts who sends too much for some seconds at a time.
	floodFor = time.Minute
	floodGap = 30 * time.Second
	// floodLeast is how many refusals a flood has at least, so that what is only wrong is none.
	floodLeast = 300
	// floodShown is how many refusals a flood has at least to be listed, and floodListed how long it is listed after the last.
	floodShown  = 20
	floodListed = time.Hour
)

// A Flooding is an agent that has lately sent what no request asked for, or what cannot be read, although it was refused.
type Flooding struct {
	Agent   string    `json:"agent"`
	Since   time.Time `json:"since"`
	Last    time.Time `json:"last"`
	Refused int       `json:"refused"` // since then
}

// ListFloods lists the agents that have flooded the gate within the last hour, by name.
func (g *Gate) ListFloods() []Flooding {
	g.mu.Lock()
	defer g.mu.Unlock()
	var listed []Flooding
	for name, a := range g.agents {
		a.mu.Lock()
		if a.worst.count > 0 && g.clock().Sub(a.worst.last) < floodListed {
			listed = append(listed, Flooding{name, a.worst.since, a.worst.last, a.worst.count})
		}
		a.mu.Unlock()
	}
	slices.SortFunc(listed, func(a, b Flooding) int { return cmp.Compare(a.Agent, b.Agent) })
	return listed
}

// goesOn notes a refusal, and reports whether the flood has lasted for too long: then it begins anew.
func (f *flood) goesOn(now time.Time) bool {
	if f.count == 0 || now.Sub(f.last) > floodGap {
		*f = flood{since: now}
	}
	f.last, f.count = now, f.count+1
	if now.Sub(f.since) < floodFor || f.count < floodLeast {
		return false
	}
	*f = flood{}
	return true
}

// New returns a gate at which every agent has its whole allowance. Into a shard that
// is nearly full it lets only what ends work: responses to requests, and permits. A
// shard of -1 is that of messages that name none.
func New(clock func() time.Time, full func(shard int) bool, log zerolog.Logger) *Gate {
	return &Gate{clock: clock, full: full, store: func() (float64, int64) { return 0, 0 }, floods: make(chan string, 16), log: log, agents: make(map[string]*account)}
}

func (g *Gate) account(agent string) *account {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.agents[agent]
	if known == nil {
		now := g.clock()
		known = &account{
			requests:    &requests{byID: make(map[string]*request), order: ring{most: maxRequests}},
			repeats:     &repeats{byID: make(map[string]*bus.Ack), order: ring{most: maxRepeats}},
			unsolicited: newAllowance(now, unsolicitedBurst, unsolicitedRate),
			stray:       newAllowance(now, strayBurst, strayRate),
			artifacts:   newAllowance(now, artifactBurst, artifactRate),
			unasked:     newAllowance(now, artifactBurst, 0),
			signs:       newAllowance(now, signBurst, signRate),
			partials:    newAllowance(now, partialBurst, partialRate),
		}
		g.agents[agent] = known
	}
	return known
}

// Floods hands out the agents that have gone on for a minute to send what answers no request, or cannot be read,
// although it was refused. Who is not taken is told of again after another minute.
func (g *Gate) Floods() <-chan string { return g.floods }

// Waiting tells how many requests wait for an agent that the gate may not have seen go
// out: it allows at least what they may bring.
func (g *Gate) Waiting(agent string, count uint64) {
	a := g.account(agent)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unsolicited.atLeast(unsolicitedBurst + float64(count)*(responsesPerRequest+progressBurst))
	a.stray.atLeast(strayBurst + float64(count)*(progressBurst*unit+artifact.MaxSize))
	a.waiting(g.clock(), count)
	a.made += int64(count) //nolint:gosec // what a stream holds
}

// Requests returns how many requests the gate has seen go out to an agent, or was told
// of as waiting for it.
func (g *Gate) Requests(agent string) int64 {
	a := g.account(agent)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.made
}

// Requested tells of a request on its way to an agent. One that cannot be read gives
// no allowance.
func (g *Gate) Requested(message bus.Message) {
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil || subject.Kind != bus.KindRequest {
		return
	}
	event, err := binding.Decode(message)
	if err != nil {
		return
	}
	a := g.account(subject.Agent)
	a.mu.Lock()
	defer a.mu.Unlock()
	if opened := a.requests.opened(event.ID, schemas.PlanID(event.CorrelationID), event.Expires, g.clock()); opened != nil {
		a.noteOpen(g.clock(), opened)
	}
	a.made++
}

// Admit decides about a message that an agent publishes. When the gate has seen it
// acknowledged before, it returns that acknowledgement, and nothing is to be stored.
// Otherwise the message may be stored, and settle is to be called with what came of
// that. An error wraps ErrUnsolicited and is temporary.
func (g *Gate) Admit(message bus.Message) (earlier *bus.Ack, settle func(bus.Ack, error), err error) {
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnsolicited, err)
	}
	event, unreadable := binding.Decode(message)
	full := subject.Kind != bus.KindPermit && g.full(subject.Shard)
	now := g.clock()
	a := g.account(subject.Agent)
	a.mu.Lock()
	defer a.mu.Unlock()
	id := event.ID
	once := unreadable == nil && subject.Kind != bus.KindPermit // that is asked until the answer was heard
	if once {
		ack, underWay := a.repeats.find(id)
		switch {
		case underWay:
			return nil, nil, a.refuse(now, g, subject, "the same message is on its way to the ledger")
		case ack != nil:
			return ack, nil, nil
		}
	}
	if event.Artifact != nil && subject.Kind != bus.KindResponse {
		return nil, nil, a.refuse(now, g, subject, "a body by reference, which only a response may have")
	}
	request := a.requests.byID[answered(&event, unreadable)]
	reason := a.charge(now, subject.Kind, event.ID, request, sizeOf(message, &event))
	if reason == "" && full && (request == nil || subject.Kind != bus.KindResponse) {
		reason = "the ledger is nearly full"
	}
	if reason != "" {
		if request == nil {
			g.noteFlood(a, now, subject.Agent)
		}
		return nil, nil, a.refuse(now, g, subject, reason)
	}
	if !once {
		return nil, func(bus.Ack, error) {}, nil
	}
	a.repeats.byID[id] = nil
	return nil, func(ack bus.Ack, err error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.repeats.end(id, ack, err)
		if err == nil && request != nil && subject.Kind == bus.KindResponse {
			request.stored(id)
		}
	}, nil
}

// charge takes a message from what the agent may send; a reason says what is used up.
func (a *account) charge(now time.Time, kind bus.Kind, id string, asked *request, size float64) (reason string) {
	switch {
	case asked == nil || kind == bus.KindResponse && !asked.response(id, now):
		// Both or none: a refusal costs nothing.
		if !a.unsolicited.has(now, 1) || !a.stray.has(now, size) {
			return "too much that answers no request, or a request that has its answers"
		}
		a.unsolicited.take(now, 1)
		a.stray.take(now, size)
	case kind == bus.KindPermit && !asked.permits.take(asked.clock(now), 1):
		return "too many permits asked for a request"
	case kind != bus.KindResponse && kind != bus.KindPermit && !asked.progress.take(asked.clock(now), size):
		return "too much progress for a request"
	}
	return ""
}

// Heartbeat decides about an announcement or a sign of life.
func (g *Gate) Heartbeat(agent string) error {
	return g.spend(agent, 1, "too many announcements and signs of life", func(a *account) *allowance { return &a.signs })
}

// Partial decides about text of so many bytes that comes before its result.
func (g *Gate) Partial(agent string, size int64) error {
	return g.spend(agent, float64(max(size, unit)), "too much text before its result", func(a *account) *allowance { return &a.partials })
}

func (g *Gate) spend(agent string, amount float64, reason string, from func(*account) *allowance) error {
	a := g.account(agent)
	now := g.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if from(a).take(now, amount) {
		return nil
	}
	return a.refuse(now, g, bus.Subject{Agent: agent}, reason)
}

// refuse counts a refusal, and tells the log of the first in a while.
func (a *account) refuse(now time.Time, g *Gate, subject bus.Subject, reason string) error {
	a.refused++
	if now.Sub(a.warned) >= warnEvery {
		a.warned = now
		g.log.Warn().Str("agent", subject.Agent).Str("kind", string(subject.Kind)).Str("reason", reason).Uint64("refused", a.refused).
			Msg("an agent is refused: it sends more than it was asked for")
	}
	return &bus.TemporaryError{Op: "admit", Err: fmt.Errorf("%w: %s", ErrUnsolicited, reason)}
}

// Refused returns how many messages of each agent were refused since the gate was opened.
func (g *Gate) Refused() map[string]uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	refused := make(map[string]uint64, len(g.agents))
	for name, a := range g.agents {
		a.mu.Lock()
		refused[name] = a.refused
		a.mu.Unlock()
	}
	return refused
}

// answered returns the request that a message names. A plan is named by who has no
// better name for what it was asked.
func answered(event *schemas.Event, unreadable error) string {
	if unreadable != nil {
		return ""
	}
	if event.CausationID != "" {
		return event.CausationID
	}
	var body struct {
		InReplyTo string `json:"in_reply_to"`
		Payload   struct {
			PlanID string `json:"plan_id"`
		} `json:"payload"`
	}
	if schemas.Unmarshal(event.Data, &body) != nil {
		return ""
	}
	return cmp.Or(body.InReplyTo, body.Payload.PlanID)
}

// sizeOf is what a message counts for, in bytes: with headers, with the body that it refers to, and one unit at least.
func sizeOf(message bus.Message, event *schemas.Event) float64 {
	size := len(message.Body)
	if event.Artifact != nil {
		size += int(min(max(event.Artifact.Size, 0), artifact.MaxSize)) // beyond it nothing is read
	}
	for name, values := range message.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return float64(max(size, unit))
}
