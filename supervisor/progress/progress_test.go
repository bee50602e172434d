package progress_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/eventloop"
	"podium/supervisor/progress"
	"podium/supervisor/publisher"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

func midnight() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// A desk has sessions of one shard, whose runs somebody asked for, and tells how far they
// are.
type desk struct {
	*progress.Reporter
	tb     testing.TB
	ledger *memory.Ledger
	loop   *eventloop.Loop
	now    time.Time
}

// A live session is followed.
type live struct {
	desk     *desk
	state    session.State
	sequence uint64
	report   *progress.Report
}

func newDesk(tb testing.TB) *desk {
	tb.Helper()
	d := &desk{tb: tb, ledger: memory.New(1), loop: eventloop.New(func(operation func()) { operation() }), now: midnight()}
	profile := bustest.DeskProfile(1)
	for i := range profile.Agents {
		profile.Agents[i].Supervisor = true
	}
	profile.Deadlines = schemas.Deadlines{Queue: schemas.Duration(time.Hour), Work: schemas.Duration(time.Hour)}
	profiles, err := restore.NewProfiles(tb.Context(), d.ledger.Artifacts(), []schemas.Profile{profile})
	if err != nil {
		tb.Fatal(err)
	}
	d.Reporter = &progress.Reporter{Profiles: profiles, Publisher: &publisher.Publisher{Core: d.ledger, Loop: d.loop, Log: zerolog.Nop()}}
	return d
}

func (d *desk) session(key string) *live {
	return &live{desk: d, state: session.New(schemas.SessionID("desk", key))}
}

// follow takes the session's word for how far it is, as its owner does whenever it goes on.
func (l *live) follow() {
	l.report = l.desk.Follow(context.Background(), l.report, &l.state, l.desk.now)
}

// take has a session take an input, and follows it.
func (l *live) take(id, eventType, agent string, body any, about schemas.Event) {
	l.desk.tb.Helper()
	data, err := schemas.Marshal(body)
	if err != nil {
		l.desk.tb.Fatal(err)
	}
	about.ID, about.Source, about.Type, about.Time, about.Profile, about.PartitionKey = id, "/test", eventType, l.desk.now, "desk", "key"
	about.DataContentType, about.Data = schemas.MediaTypeJSON, data
	l.sequence++
	input, err := session.ParseInput(about, session.Publisher{Agent: agent}, l.sequence)
	if err != nil {
		l.desk.tb.Fatal(err)
	}
	input.Now = l.desk.now
	profile := l.desk.Profiles.Current("desk")
	outcome := session.Step(session.Env{
		Current: profile, Pinned: profile, Read: func(schemas.Content) schemas.Result { return schemas.Result{Text: "do it"} },
	}, l.state, input)
	if len(outcome.Facts) == 0 {
		l.desk.tb.Fatalf("a %s changes nothing: %+v", eventType, outcome.Outputs)
	}
	l.state = outcome.State
	l.follow()
}

// request has somebody upstream ask for a run, and returns the id of the request.
func (l *live) request() string {
	l.desk.tb.Helper()
	id := uuid.NewString()
	l.take(id, schemas.TypeExecutionRequest, "", schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: id, From: "planner", To: "top", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: l.desk.now},
		Payload: schemas.RequestPayload{
			PlanID: uuid.NewString(), RequestID: id, Tasks: []schemas.Task{{TaskID: "whole", Description: "do it", AssignedTo: "top"}},
		},
	}, schemas.Event{ReplyTo: bus.ResponseSubject("top", 0), Attempt: 1})
	return id
}

// works has the worker say how far it is.
func (l *live) works(percentage int) {
	l.desk.tb.Helper()
	l.says(percentage, time.Time{})
}

// says has the worker say how far it is, and until when it waits.
func (l *live) says(percentage int, until time.Time) {
	l.desk.tb.Helper()
	run := schemas.RunID(l.state.Session, l.state.Active.Number)
	task := l.state.Active.Tasks[0]
	id := schemas.EffectID(task.Request, strconv.Itoa(percentage))
	l.take(id, schemas.TypeProgressUpdate, "worker", schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: id, From: "worker", To: session.Supervisor, Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: l.desk.now, InReplyTo: task.Request,
		},
		Payload: schemas.ProgressPayload{PlanID: schemas.PlanID(run), ProgressPercentage: percentage, Message: strconv.Itoa(percentage), WaitingUntil: until},
	}, schemas.Event{Subject: run + "/" + task.ID, CausationID: task.Request, Attempt: 1})
}

// cancel ends the run under way.
func (l *live) cancel() {
	l.desk.tb.Helper()
	run := schemas.RunID(l.state.Session, l.state.Active.Number)
	l.take(uuid.NewString(), schemas.TypeControl, "", schemas.Control{Action: schemas.ControlCancel, Run: run, By: "operator"}, schemas.Event{})
}

// until lets time pass, from one moment of the loop to the next.
func (d *desk) until(after time.Duration) {
	end := midnight().Add(after)
	for {
		for d.loop.Turn(d.now) {
		}
		next, set := d.loop.Next()
		if !set || next.After(end) {
			d.now = end
			return
		}
		d.now = next
	}
}

// told returns when somebody was told of a request.
func (d *desk) told(request string) []time.Duration {
	d.tb.Helper()
	moments := []time.Duration{}
	for message, err := range d.ledger.Scan(context.Background(), bus.ShardStream(0), 1, bus.ProgressSubject("top", 0)) {
		if err != nil {
			d.tb.Fatal(err)
		}
		event, err := binding.Decode(message)
		if err != nil {
			d.tb.Fatal(err)
		}
		if event.CausationID == request || request == "" {
			moments = append(moments, event.Time.Sub(midnight()))
		}
	}
	return moments
}

func (d *desk) expect(request string, want ...time.Duration) {
	d.tb.Helper()
	if told := d.told(request); !slices.Equal(told, want) {
		d.tb.Fatalf("told after %s, want %s", told, want)
	}
}

const (
	second = time.Second
	first  = 500 * time.Millisecond
)

// TestTheFirstUpdateComesSoonAndThenEveryTenSeconds: half a second after the run began, and then every ten
// seconds, as long as nothing changes.
func TestTheFirstUpdateComesSoonAndThenEveryTenSeconds_M54(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	l := d.session("a")
	request := l.request()
	for range 3 { // whatever else happens
		l.follow()
	}
	d.until(35 * second)
	d.expect(request, first, first+10*second, first+20*second, first+30*second)
}

// TestAChangeIsTold: a second after the last update, if it was told before; any number of
// changes are told as one.
func TestAChangeIsTold_M36(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	l := d.session("a")
	request := l.request()
	l.works(1) // before the first, which tells it
	d.until(first)
	for percentage := range 20 {
		d.until(first + time.Duration(percentage)*100*time.Millisecond)
		l.works(percentage + 2)
	}
	d.until(5 * second)
	d.expect(request, first, first+second, first+2*second)
	l.works(50) // after a while it is told at once
	d.until(15 * second)
	d.expect(request, first, first+second, first+2*second, 5*second, 15*second)
}

// TestWhatSaysNothingNewIsNotTold: a record that changes nothing about the run is none of
// its changes.
func TestWhatSaysNothingNewIsNotTold_M36(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	l := d.session("a")
	request := l.request()
	d.until(2 * second)
	next := l.request() // it is queued
	d.until(12 * second)
	d.expect(request, first, first+10*second)
	d.expect(next)
}

// TestNobodyIsToldAfterTheEnd: of a run that has ended, whether the owner has looked at it
// since or not; the next one is told of from its own beginning.
func TestNobodyIsToldAfterTheEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	short, long, unseen := d.session("short"), d.session("long"), d.session("unseen")
	requests := []string{short.request(), long.request(), unseen.request()}
	next := long.request()
	short.cancel()
	d.until(3 * second)
	long.cancel()
	unseen.state.Active = nil
	d.until(20 * second)
	d.expect(requests[0])
	d.expect(requests[1], first)
	d.expect(requests[2], first+5*time.Millisecond) // its turn
	d.expect(next, 3*second+first, 13*second+first)
}

// TestNobodyIsToldOfAPersonsMessage: a person hears the answer.
func TestNobodyIsToldOfAPersonsMessage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	l := d.session("a")
	l.take("m1", schemas.TypeChatReceived, "", schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "key", MessageID: "m1", Text: "do it"}, schemas.Event{})
	if d.until(time.Minute); l.report != nil || len(d.told("")) > 0 {
		t.Errorf("there is a report: %t, and %d were told", l.report != nil, len(d.told("")))
	}
}

// TestAShardTellsTwoHundredASecond: never more, however many runs are under way; then the
// ten seconds become longer, and every run has its turn.
func TestAShardTellsTwoHundredASecond(t *testing.T) {
	t.Parallel()
	const runs = 3000
	d := newDesk(t)
	template := d.session("a")
	template.request()
	requests := make([]*live, runs)
	for i := range requests {
		requests[i] = d.session(strconv.Itoa(i))
		requests[i].state = template.state
		requests[i].follow()
	}
	d.until(33 * second)
	told := d.told("")
	for i := range told {
		if i >= 200 && told[i]-told[i-200] < second {
			t.Fatalf("more than 200 within a second after %s", told[i-200])
		}
	}
	if took := runs * 5 * time.Millisecond; len(told) < 2*runs || told[2*runs]-told[0] > 2*took+second {
		t.Errorf("%d are told; the third round begins after %s", len(told), told[min(2*runs, len(told)-1)]-told[0])
	}
}

// TestAnUpdateIsLost: an update that is lost is lost, and the next one comes.
func TestAnUpdateIsLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Publisher.Core = &deaf{Core: d.ledger, lost: 1}
	l := d.session("a")
	request := l.request()
	d.until(15 * second)
	d.expect(request, first+10*second)
}

// A deaf ledger loses the first messages.
type deaf struct {
	bus.Core
	lost int
}

func (c *deaf) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if c.lost--; c.lost >= 0 {
		done(bus.Ack{}, bus.ErrFull)
		return
	}
	c.Core.Publish(message, expect, done)
}
