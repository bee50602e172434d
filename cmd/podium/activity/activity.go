// Package activity tells what a service does while it does it: a line for each message,
// run, answer and failure, and counts of the answers. No line holds an address, a
// subject or a word of anybody: only ids, names of the configuration, and words of the
// ledger's own.
package activity

import (
	"cmp"
	"sync/atomic"
	"time"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/session"
)

// kept is how many lines wait for an output that is slower than the service. Those
// beyond are left out, and counted.
const kept = 4096

// A Feed takes what happens from those that do it, and never makes them wait. It is safe
// for use by several goroutines at once.
type Feed struct {
	lines   chan line
	shown   atomic.Bool   // somebody wants to see what happens
	said    atomic.Bool   // somebody wants to see what is said
	left    atomic.Uint64 // lines that found no room since that was last said
	answers [outcomes]atomic.Uint64
	failed  atomic.Int64 // when an answer last failed, in milliseconds since 1970
}

// New returns a feed that counts, and tells nobody until Show is called.
func New() *Feed { return &Feed{lines: make(chan line, kept)} }

// A line is one thing that has happened, as it is kept until it is written.
type line struct {
	at      time.Time
	event   string // its name for programs: that of the fact, where it is one
	mood    mood
	session string // of the run; none when empty
	run     int
	said    string // a sentence of which the arguments are still to be filled in
	with    [3]string
	when    time.Time
}

// A mood is how a line is shown where there are colors: the one that it begins with.
type mood string

const (
	plain   mood = ""
	good    mood = view.Green
	bad     mood = view.Red
	careful mood = view.Yellow
)

// An outcome is what became of an answer.
type outcome uint8

const (
	sent outcome = iota
	failed
	withheld
	returned
	outcomes
)

// Answers counts what became of answers since the process has started.
type Answers struct {
	Sent     uint64     `json:"sent"`
	Failed   uint64     `json:"failed"`   // given up: refused for good, or tried as often as the profile says
	Withheld uint64     `json:"withheld"` // for the origin of the mail
	Returned uint64     `json:"returned"` // a mail system has reported that they came back
	Last     *time.Time `json:"last_failed,omitempty"`
}

// Answers returns the counts.
func (f *Feed) Answers() Answers {
	counted := Answers{
		Sent: f.answers[sent].Load(), Failed: f.answers[failed].Load(),
		Withheld: f.answers[withheld].Load(), Returned: f.answers[returned].Load(),
	}
	if milli := f.failed.Load(); milli > 0 {
		at := time.UnixMilli(milli).UTC()
		counted.Last = &at
	}
	return counted
}

// Shown reports whether somebody wants to see what happens.
func (f *Feed) Shown() bool { return f.shown.Load() }

// Say tells a sentence that is about no run; it holds no percent sign.
func (f *Feed) Say(sentence string) {
	if f.said.Load() {
		f.keep(line{at: time.Now(), event: saidEvent, said: sentence})
	}
}

// Gone tells that nobody serves an agent any more; since is zero when no sign of life of it is on record.
func (f *Feed) Gone(agent string, since time.Time) {
	told := line{at: time.Now(), event: "agent_gone", mood: bad, said: "nobody serves agent %s, and no sign of life of it is on record", with: [3]string{agent}}
	if !since.IsZero() {
		told.said, told.when = "nobody serves agent %s; its last sign of life was at %t", since
	}
	f.tell(told)
}

// Back tells that somebody serves an agent again.
func (f *Feed) Back(agent string) {
	f.tell(line{at: time.Now(), event: "agent_served", mood: good, said: "agent %s is served", with: [3]string{agent}})
}

// tell keeps a line for whoever shows them, if there is room.
func (f *Feed) tell(told line) {
	if f.shown.Load() {
		f.keep(told)
	}
}

func (f *Feed) keep(told line) {
	select {
	case f.lines <- told:
	default:
		f.left.Add(1)
	}
}

func (f *Feed) count(of outcome, at time.Time) {
	f.answers[of].Add(1)
	if of == failed || of == returned {
		f.failed.Store(at.UnixMilli())
	}
}

// Observe takes a record that was stored, and the state of its session before.
func (f *Feed) Observe(before *session.State, record *schemas.Record) {
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		for _, fact := range transition.Facts {
			told := line{at: transition.Cause.Time, session: record.Session, run: schemas.RunOf(fact)}
			if f.describe(&told, fact, before, &transition.Cause); told.said != "" {
				told.event = fact.Name()
				f.tell(told)
			}
		}
	}
}

// describe fills in what a fact is told as; most are not.
func (f *Feed) describe(told *line, fact schemas.Fact, before *session.State, cause *schemas.Cause) {
	switch fact := fact.(type) {
	case *schemas.MessageReceived:
		received(told, fact, cause.Type)
	case *schemas.RunStarted:
		told.said, told.with = "%r begins, by profile %s", [3]string{fact.Profile}
	case *schemas.PlanRefused:
		told.mood, told.said, told.with = careful, "%r: a plan is refused", [3]string{}
	case *schemas.TaskUnserved:
		told.mood, told.said, told.with = bad, "%r waits: nobody serves %s", [3]string{fact.Agent}
	case *schemas.TaskFailed:
		f.failure(told, fact, before)
	case *schemas.TaskCompleted:
		switch {
		case fact.Task == schemas.DeliveryTask:
			f.count(sent, told.at)
			told.mood, told.said, told.with = good, "%r: answer sent by %s", [3]string{deliverer(before)}
		case isNotice(before, fact.Run, fact.Task):
			told.mood, told.said, told.with = good, "%r: question sent by %s", [3]string{agentOf(before, fact.Run, fact.Task, "its agent")}
		}
	case *schemas.ReplyWithheld:
		f.count(withheld, told.at)
		told.mood, told.said, told.with = careful, "%r: answer withheld (%s)", [3]string{view.Spoken(fact.Reason)}
	case *schemas.AnswerDelayed:
		told.mood, told.said, told.with = careful, "%r: answer waits (reply budget) until %t", [3]string{}
		told.when = fact.Until
	case *schemas.DeliveryBounced:
		switch {
		case fact.Failed && fact.Inquiry > 0:
			told.mood, told.said = careful, "%r: a mail system reports that its question came back; podium inbox has it"
		case fact.Failed:
			f.count(returned, told.at)
			told.mood, told.said = bad, "%r: a mail system reports that its answer came back"
		}
	case *schemas.DeliveryReopened:
		told.said, told.with = "%r: its answer is sent again by %s", [3]string{fact.Agent}
	case *schemas.RunEnded:
		ended(told, fact)
	case *schemas.InquiryOpened, *schemas.InquiryAnswered, *schemas.InquiryClosed:
		inquiry(told, fact)
	default: // of no use to who looks on
	}
}

func received(told *line, f *schemas.MessageReceived, cause string) {
	kind := "control word"
	switch cause {
	case schemas.TypeEmailReceived:
		kind = "mail"
	case schemas.TypeChatReceived:
		kind = "chat message"
	case schemas.TypeExecutionRequest:
		kind = "request"
	}
	told.with = [3]string{kind, view.Spoken(f.Reason)}
	switch f.Disposition {
	case schemas.DispositionStarted:
		told.said = "%s received: %r"
	case schemas.DispositionQueued:
		told.said = "%s received: waits as %r"
	case schemas.DispositionMerged:
		told.said = "%s received: part of %r, which waits"
	case schemas.DispositionAnswered:
		told.said = "%s received: answers a question of %r"
	case schemas.DispositionHeld:
		told.said = "%s received: answers a question of %r, and counts once that is asked for again"
	case schemas.DispositionControl:
		told.said = "%s received: about %r"
	case schemas.DispositionRefused:
		told.mood, told.said = careful, "%s received, and refused (%s)"
	case schemas.DispositionIgnored:
		told.said = "%s received: not answered (%s)"
	}
}

// failure tells of an attempt that has failed, and what is done about it.
func (f *Feed) failure(told *line, failure *schemas.TaskFailed, before *session.State) {
	told.mood = careful
	if failure.Task == schemas.DeliveryTask {
		told.with = [3]string{deliverer(before), view.Spoken(failure.Cause)}
		if told.when = failure.RetryAt; told.when.IsZero() {
			f.count(failed, told.at)
			told.mood, told.said = bad, "%r: answer failed by %s (%s); podium runs show says why, podium runs resend sends it again"
			return
		}
		told.said = "%r: answer not sent by %s yet (%s); again at %t"
		return
	}
	if isNotice(before, failure.Run, failure.Task) {
		told.with = [3]string{agentOf(before, failure.Run, failure.Task, "its agent"), view.Spoken(failure.Cause)}
		if told.when = failure.RetryAt; told.when.IsZero() {
			told.mood, told.said = bad, "%r: question failed by %s (%s); podium runs show says why"
			return
		}
		told.said = "%r: question not sent by %s yet (%s); again at %t"
		return
	}
	told.with = [3]string{agentOf(before, failure.Run, failure.Task, "a task"), view.Spoken(failure.Cause), failure.Agent}
	switch {
	case !failure.RetryAt.IsZero():
		told.said, told.when = "%r: %s has failed (%s); again at %t", failure.RetryAt
	case failure.Agent != "":
		told.said = "%r: %s has failed (%s); %s is asked instead"
	default:
		told.mood, told.said = bad, "%r: %s has failed (%s)"
	}
}

func ended(told *line, f *schemas.RunEnded) {
	told.with = [3]string{string(f.Status), view.Spoken(f.Reason)}
	if told.said = "%r ended: %s (%s)"; string(f.Status) == string(f.Reason) {
		told.said = "%r ended: %s"
	}
	switch f.Status {
	case schemas.RunCompleted:
		if told.mood = good; f.Reason == schemas.StopReplyFailed {
			told.mood = bad
		}
	case schemas.RunFailed:
		told.mood = bad
	case schemas.RunPartial, schemas.RunBlocked, schemas.RunCancelled:
		told.mood = careful
	}
}

// inquiry tells that a person is asked, or is not any more; what is asked and said stays out.
func inquiry(told *line, fact schemas.Fact) {
	switch fact := fact.(type) {
	case *schemas.InquiryOpened:
		told.mood, told.said, told.with = careful, "%r waits for a person (%s); podium inbox has the question", [3]string{string(fact.Kind)}
	case *schemas.InquiryAnswered:
		told.mood, told.said, told.with = good, "%r: its question is answered by %s", [3]string{string(fact.Actor.Via)}
		switch {
		case fact.Choice == schemas.ChoiceReject:
			told.mood, told.said = careful, "%r: its question is rejected by %s"
		case fact.Choice == schemas.ChoiceApprove && fact.Lacking == 0:
			told.said = "%r: its question is approved by %s"
		}
	case *schemas.InquiryClosed:
		told.mood, told.said, told.with = careful, "%r: its question is closed without an answer (%s)", [3]string{view.Spoken(fact.Reason)}
	default:
	}
}

// taskOf returns a task as it was before a record; nil when the record has made it.
func taskOf(before *session.State, run int, id string) *workflow.Task {
	if active := before.Active; active != nil && active.Number == run {
		return active.Task(id)
	}
	return nil
}

// isNotice reports whether a task tells a person of an inquiry.
func isNotice(before *session.State, run int, id string) bool {
	if task := taskOf(before, run, id); task != nil {
		return task.HumanTask() > 0
	}
	return schemas.HasNotificationID(id)
}

// agentOf names the agent of a task, or what stands for it.
func agentOf(before *session.State, run int, id, otherwise string) string {
	if task := taskOf(before, run, id); task != nil {
		return cmp.Or(task.Agent, otherwise)
	}
	return otherwise
}

func deliverer(before *session.State) string {
	if before.Active == nil || before.Active.Delivery == nil {
		return "its agent"
	}
	return before.Active.Delivery.Agent
}
