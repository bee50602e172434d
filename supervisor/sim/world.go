package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
)

// World is one simulated installation.
type World struct {
	Seed uint64

	rand   *rand.Rand
	now    time.Time
	ledger *memory.Ledger
	shards int
	calm   bool // no more faults

	profiles  *supervisor.Profiles
	processes []*process
	agents    []*agent
	limbo     []func()
	epochs    int

	sent       []sent
	requested  map[string]int
	violations []string
}

// sent is a message that a door has published and the ledger has taken.
type sent struct {
	id, session string
	sequence    uint64
	good        bool
}

// process is one owner of one shard, with its view of the ledger.
type process struct {
	shard  int
	faults *faults
	owner  *supervisor.Owner
}

// New returns the world of a seed.
func New(seed uint64) *World {
	w := &World{
		Seed: seed, rand: rand.New(rand.NewPCG(seed, 0x706f6469756d)), //nolint:gosec // a simulation repeats
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), requested: map[string]int{},
	}
	w.shards = 1 + w.rand.IntN(2)
	w.ledger = memory.New(w.shards, memory.WithClock(func() time.Time { return w.now }))
	var err error
	w.profiles, err = supervisor.NewProfiles(context.Background(), w.ledger.Artifacts(), profiles())
	w.must(err)
	for _, name := range []string{"alpha", "beta", "gamma", "chat", "mail"} {
		w.must(w.ledger.Declare(context.Background(), name, bus.Pool{Size: 4, AckWait: 30 * time.Second}))
		w.agents = append(w.agents, &agent{world: w, name: name, worker: w.ledger.Worker(name), effects: map[string]int{}})
	}
	return w
}

func (w *World) violate(format string, arguments ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, arguments...))
}

func (w *World) must(err error) {
	if err != nil {
		w.violate("the simulation itself: %v", err)
	}
}

func (w *World) span(most time.Duration) time.Duration {
	return time.Duration(w.rand.Int64N(int64(most)))
}

func (w *World) stranger(name string) string {
	if name == "alpha" {
		return "beta"
	}
	return "alpha"
}

func (w *World) shardOf(event *schemas.Event) int {
	return schemas.ShardOf(event.PartitionKey, w.shards)
}

// Run simulates and returns what was violated: nothing, if all is well.
func (w *World) Run() []string {
	for range 60 + w.rand.IntN(200) {
		w.disturb()
		w.advance()
	}
	w.settle()
	w.check()
	return w.violations
}

// disturb does one thing that may happen at any time.
func (w *World) disturb() {
	switch w.rand.IntN(12) {
	case 0, 1, 2:
		w.message()
	case 3:
		w.repeat()
	case 4:
		w.cancel()
	case 5:
		if len(w.limbo) > 0 {
			i := w.rand.IntN(len(w.limbo))
			arrive := w.limbo[i]
			w.limbo = append(w.limbo[:i], w.limbo[i+1:]...)
			arrive()
		}
	case 6: // a second owner, while the first believes in itself
		if w.rand.IntN(4) == 0 {
			w.start(w.rand.IntN(w.shards))
		}
	case 7: // power cut
		if w.rand.IntN(4) == 0 && len(w.processes) > 0 {
			w.processes[w.rand.IntN(len(w.processes))].faults.crashed = true
		}
	default:
		w.now = w.now.Add(w.span(4 * time.Second))
	}
}

// advance lets everybody who can do something do a little of it.
func (w *World) advance() {
	for _, shard := range w.ownerless() {
		w.start(shard)
	}
	for range 1 + w.rand.IntN(8) {
		if n := w.rand.IntN(len(w.processes) + len(w.agents) + 1); n < len(w.processes) {
			w.tick(n)
		} else if n -= len(w.processes); n < len(w.agents) {
			w.agents[n].step()
		}
		if len(w.processes) == 0 {
			return
		}
	}
}

// ownerless lists the shards that no process works on.
func (w *World) ownerless() []int {
	var shards []int
	for shard := range w.shards {
		if !slices.ContainsFunc(w.processes, func(p *process) bool { return p.shard == shard }) {
			shards = append(shards, shard)
		}
	}
	return shards
}

func (w *World) start(shard int) {
	w.epochs++
	view := &faults{Core: w.ledger, rand: w.rand, rate: 0.05, limbo: &w.limbo}
	if w.calm {
		view.rate = 0
	}
	ctx := context.Background()
	p := &process{shard: shard, faults: view}
	p.owner = supervisor.NewOwner(supervisor.Config{
		Shard: shard, Name: fmt.Sprintf("process-%d", w.epochs), Core: view, Profiles: w.profiles,
		Log: zerolog.Nop(), Go: view.Go,
		CheckpointEvery: time.Second, CheckpointNames: 1 + w.epochs%3, MaxPending: 1 + w.rand.IntN(16), Backoff: 10 * time.Millisecond,
	})
	// Taking over waits for the ledger, so it runs on a healthy one and
	// crashes as a whole or not at all.
	rate := view.rate
	view.rate = 0
	err := p.owner.Open(ctx, w.now)
	view.rate = rate
	switch {
	case errors.Is(err, supervisor.ErrNotOwner):
	case err != nil:
		w.violate("open: %v", err)
	default:
		w.processes = append(w.processes, p)
	}
}

// tick lets a process work, and buries it when it has crashed or lost its shard.
func (w *World) tick(n int) bool {
	p := w.processes[n]
	worked := p.faults.settle()
	if !p.faults.crashed {
		ticked, err := p.owner.Tick(context.Background(), w.now)
		worked = worked || ticked
		if err != nil {
			if !errors.Is(err, supervisor.ErrNotOwner) && !errors.Is(err, errLost) {
				w.violate("tick: %v", err)
			}
			p.faults.crashed = true
		}
	}
	if p.faults.crashed {
		w.processes = slices.Delete(w.processes, n, n+1)
		return true
	}
	return worked
}

// settle takes the faults away and runs until nothing is left to do.
func (w *World) settle() {
	for _, arrive := range w.limbo {
		arrive()
	}
	w.limbo, w.calm = nil, true
	for _, p := range w.processes {
		p.faults.rate = 0
	}
	for range 20_000 {
		w.advanceAll()
		if w.quiet() {
			return
		}
		w.now = w.now.Add(250 * time.Millisecond)
	}
	w.violate("it does not come to rest")
}

func (w *World) advanceAll() {
	for _, shard := range w.ownerless() {
		w.start(shard)
	}
	for i := range slices.Backward(w.processes) {
		for range 50 {
			if i >= len(w.processes) || !w.tick(i) {
				break
			}
		}
	}
	for _, a := range w.agents {
		for a.step() {
		}
	}
}

// quiet reports whether every input is dealt with and nobody waits for anything.
func (w *World) quiet() bool {
	for _, a := range w.agents {
		if len(a.held) > 0 {
			return false
		}
	}
	if len(w.ownerless()) > 0 {
		return false
	}
	for _, p := range w.processes {
		if p.owner.Busy() || p.owner.OpenSessions() > 0 {
			return false
		}
	}
	return true
}

// message publishes a new message, or one that nobody can use.
func (w *World) message() {
	key := fmt.Sprintf("thread-%d", w.rand.IntN(4))
	profile := []string{"open", "strict"}[w.rand.IntN(2)]
	event := schemas.Event{
		ID: fmt.Sprintf("message-%d", len(w.sent)), Source: "/podium/sim", Time: w.now, Profile: profile, PartitionKey: key,
		DataContentType: schemas.MediaTypeJSON,
	}
	door := "chat"
	var body any = schemas.ChatReceived{Provider: "sim", Channel: "c", Thread: key, MessageID: event.ID, Text: w.words()}
	event.Type = schemas.TypeChatReceived
	if w.rand.IntN(3) == 0 {
		door, event.Type = "email", schemas.TypeEmailReceived
		body = w.mail(event.ID)
	}
	good := true
	data, err := schemas.Marshal(body)
	w.must(err)
	event.Data = data
	switch w.rand.IntN(25) {
	case 0:
		event.Data, good = []byte(`{"text":`), false
	case 1:
		event.Profile, good = "nobody", false
	}
	w.publish(door, event, good)
}

func (w *World) mail(id string) schemas.EmailReceived {
	class := schemas.MailHuman
	if w.rand.IntN(5) == 0 {
		class = schemas.MailAutoReply
	}
	mail := schemas.EmailReceived{
		Account: "a", Mailbox: "INBOX", MessageID: id + "@sim", Subject: "Question", Text: w.words(), Class: class,
		Parse: schemas.ParseOK, Received: w.now, UIDValidity: 1, UID: 1,
		Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1},
	}
	if w.rand.IntN(6) > 0 {
		mail.From = []schemas.Address{{Address: "person@sim"}}
	}
	return mail
}

func (w *World) words() string {
	words := []string{
		"alpha please", "beta please", "calculate alpha and then summarize beta", "calculate nothing",
		"nobody knows this", "please alpha, the answer and thanks", "bitte alpha und danke",
	}[w.rand.IntN(7)]
	switch w.rand.IntN(30) {
	case 0, 1:
		words += " " + strings.Repeat("more words ", schemas.InlineLimit/8)
	case 2:
		words += " " + strings.Repeat("many more words ", bus.ClaimLimit/15)
	}
	return words
}

func (w *World) publish(door string, event schemas.Event, good bool) {
	id := schemas.SessionID(event.Profile, event.PartitionKey)
	shard := schemas.ShardOf(id, w.shards)
	w.must(bus.Offload(context.Background(), w.ledger.Artifacts(), &event))
	message, err := bus.Encode(bus.InSubject(door, shard), &event)
	w.must(err)
	w.ledger.Publish(message, bus.Expect{}, func(ack bus.Ack, err error) {
		w.must(err)
		w.sent = append(w.sent, sent{id: event.ID, session: id, sequence: ack.Sequence, good: good})
	})
}

// repeat publishes a message again, as a door does after a lost acknowledgment.
func (w *World) repeat() {
	if len(w.sent) == 0 {
		return
	}
	again := w.sent[w.rand.IntN(len(w.sent))]
	stream := bus.ShardStream(schemas.ShardOf(again.session, w.shards))
	message, err := w.ledger.Get(context.Background(), stream, again.sequence)
	w.must(err)
	w.ledger.Publish(bus.Message{Subject: message.Subject, Header: message.Header, Body: message.Body}, bus.Expect{},
		func(_ bus.Ack, err error) { w.must(err) })
}

// cancel asks for the end of a run, which may have ended or never begun.
func (w *World) cancel() {
	if len(w.sent) == 0 {
		return
	}
	target := w.sent[w.rand.IntN(len(w.sent))]
	body, err := schemas.Marshal(schemas.Control{Action: schemas.ControlCancel, Run: schemas.RunID(target.session, 1+w.rand.IntN(3)), By: "sim"})
	w.must(err)
	event := schemas.Event{
		ID: fmt.Sprintf("cancel-%d", w.rand.Uint64()), Source: "/podium/sim", Type: schemas.TypeControl, Time: w.now,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	message, err := bus.Encode(bus.ControlSubject(schemas.ShardOf(target.session, w.shards)), &event)
	w.must(err)
	w.ledger.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) { w.must(err) })
}
