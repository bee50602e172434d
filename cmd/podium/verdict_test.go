package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

// An inquiry is a mail or a chat message that is sent from outside of the machine
// whose power is cut.
type inquiry struct {
	number int
	mail   bool
	large  bool // so that few of them fill a block of the ledger

	promised bool   // the chat adapter has acknowledged it, or it lies in the mailbox
	event    string // under which the chat adapter has acknowledged it
	life     int    // how often the service had been started by then
}

func (q *inquiry) id() string {
	if q.mail {
		return mailID(q.number)
	}
	return chatID(q.number)
}

func (q *inquiry) subject() string { return "Question " + strconv.Itoa(q.number) }

// parcel reports whether an agent outside of the machine does it.
func (q *inquiry) parcel() bool { return q.number%2 == 1 }

// text is what is asked, and want what the answer to it holds.
func (q *inquiry) text() string {
	switch {
	case q.parcel() && q.large:
		return "deliver parcel " + strconv.Itoa(q.number) + " " + strings.Repeat("with care ", 20_000)
	case q.parcel():
		return "deliver parcel " + strconv.Itoa(q.number)
	}
	return fmt.Sprintf("calculate %d * 3 + 1", 1000+q.number)
}

func (q *inquiry) want() string {
	if q.parcel() {
		return "parcel " + strconv.Itoa(q.number) + " is delivered"
	}
	return strconv.Itoa((1000+q.number)*3 + 1)
}

// deliveries is the memory of an agent outside: how often it has acted.
type deliveries struct {
	mutex    sync.Mutex
	byEffect map[string]int
	byNumber map[string]int
}

func (d *deliveries) add(effect, number string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.byEffect == nil {
		d.byEffect, d.byNumber = map[string]int{}, map[string]int{}
	}
	d.byEffect[effect]++
	d.byNumber[number]++
}

func (d *deliveries) of(number int) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.byNumber[strconv.Itoa(number)]
}

// again returns the effects that have happened more than once.
func (d *deliveries) again() (effects []string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for effect, times := range d.byEffect {
		if times > 1 {
			effects = append(effects, fmt.Sprintf("effect %s has happened %d times", effect, times))
		}
	}
	slices.Sort(effects)
	return effects
}

// An evidence is what is known, inside and outside, when everything has settled.
type evidence struct {
	inquiries []*inquiry
	arrived   map[string]int // input events on the ledger, by id
	runs      []workflow.RunHistory
	mailed    *answers // by Message-ID of the question
	chatted   *answers // by message_id of the question
	delivered *deliveries
}

// A verdict names what a loss of power has cost.
type verdict struct {
	lost    []string // promised, and not there
	twice   []string // done more than once
	waiting []string // neither ended nor told
	failed  []string // ended without what was asked for, and nobody is in doubt
	late    []string // the same, because its time ran out: the machine was off for longer than that
	wrong   []string // told as done, and not done; or answered with something else
	doubts  []string // put before a person, because nobody knows whether an effect has happened
}

// judge holds what reached the outside against what was asked, and against the ledger.
func (e *evidence) judge() (v verdict) {
	byEvent, bySubject := map[string][]*workflow.RunHistory{}, map[string][]*workflow.RunHistory{}
	for i := range e.runs {
		run := &e.runs[i]
		byEvent[run.Message.ID] = append(byEvent[run.Message.ID], run)
		bySubject[run.Message.Subject] = append(bySubject[run.Message.Subject], run)
	}
	for _, q := range e.inquiries {
		runs := byEvent[q.event]
		if q.mail {
			runs = bySubject[q.subject()]
		}
		v.inquiry(e, q, runs)
	}
	for event := range e.arrived {
		if len(byEvent[event]) == 0 {
			v.waiting = append(v.waiting, event+" is on the ledger, and has no run")
		}
	}
	v.twice = append(v.twice, e.delivered.again()...)
	return v
}

// inquiry judges what became of one inquiry.
func (v *verdict) inquiry(e *evidence, q *inquiry, runs []*workflow.RunHistory) {
	switch {
	case len(runs) == 0 && q.promised && e.arrived[q.event] == 0:
		v.lost = append(v.lost, q.id())
	case len(runs) > 1:
		v.twice = append(v.twice, fmt.Sprintf("%s has %d runs", q.id(), len(runs)))
	}
	given := e.chatted.to(q.id())
	if q.mail {
		given = e.mailed.to(q.id())
	}
	if len(given) > 1 {
		var ids []string
		for _, one := range given {
			ids = append(ids, one.id)
		}
		v.twice = append(v.twice, fmt.Sprintf("%s is answered %d times, by %s", q.id(), len(given), strings.Join(ids, ", ")))
	}
	acted := e.delivered.of(q.number)
	if acted > 1 {
		v.twice = append(v.twice, fmt.Sprintf("%s: the parcel is delivered %d times", q.id(), acted))
	}
	for _, run := range runs {
		v.run(q, run, given, acted)
	}
}

// run judges one run for a question.
func (v *verdict) run(q *inquiry, run *workflow.RunHistory, given []answer, acted int) {
	name := q.id() + ", run " + run.ID
	doubt := inDoubt(run)
	switch {
	case run.Phase != workflow.PhaseComplete:
		v.waiting = append(v.waiting, fmt.Sprintf("%s is %s: %+v %+v", name, run.Phase, run.Tasks, run.Delivery))
		return
	case doubt != "":
		v.doubts = append(v.doubts, fmt.Sprintf("%s: task %s; answered %d times, parcel delivered %d times", name, doubt, len(given), acted))
	case run.Reason == schemas.StopTimeout:
		v.late = append(v.late, fmt.Sprintf("%s: %s", name, failures(run)))
	case run.Status != schemas.RunCompleted:
		v.failed = append(v.failed, fmt.Sprintf("%s has ended %s (%s): %s", name, run.Status, run.Reason, failures(run)))
	case len(given) == 0:
		v.wrong = append(v.wrong, fmt.Sprintf("%s has ended, and nobody has the answer: %+v", name, run.Delivery))
	}
	if run.Status != schemas.RunCompleted {
		return
	}
	if q.parcel() && acted == 0 {
		v.wrong = append(v.wrong, name+" has ended, and the parcel is not delivered")
	}
	for _, one := range given {
		if !strings.Contains(one.text, q.want()) {
			v.wrong = append(v.wrong, fmt.Sprintf("%s is answered %.200q, without %s", name, one.text, q.want()))
		}
	}
}

// failures says what became of the tasks of a run.
func failures(run *workflow.RunHistory) string {
	var said []string
	for i := range run.Tasks {
		task := run.Tasks[i]
		said = append(said, fmt.Sprintf("task %s of %s is %s in attempt %d, after %s", task.ID, task.Agent, task.State, task.Attempt, task.Failure().Cause))
	}
	return strings.Join(said, "; ")
}

// inDoubt returns the task whose effect is put before a person, or "".
func inDoubt(run *workflow.RunHistory) string {
	for _, task := range run.Tasks {
		if task.Failure().Cause == schemas.FailureUnknownEffect && task.State == workflow.TaskFailed {
			return task.ID
		}
	}
	if d := run.Delivery; d != nil && d.Failure().Cause == schemas.FailureUnknownEffect && d.State == workflow.TaskFailed {
		return d.ID
	}
	return ""
}

// TestVerdictHasTeeth: whatever a loss of power may cost is found in the evidence.
func TestVerdictHasTeeth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		plant func(*evidence)
		want  verdict // only how many of each
	}{
		{"nothing is wrong", func(*evidence) {}, verdict{}},
		{"a chat message is lost", func(e *evidence) { e.runs = e.runs[1:]; delete(e.arrived, "chat") }, verdict{lost: make([]string, 1)}},
		{"a mail is lost", func(e *evidence) { e.runs = e.runs[:1]; delete(e.arrived, "mail") }, verdict{lost: make([]string, 1)}},
		{"nobody decides a message", func(e *evidence) { e.runs = e.runs[1:] }, verdict{waiting: make([]string, 1)}},
		{"a run has not ended", func(e *evidence) { e.runs[0].Phase = workflow.PhaseExecuting }, verdict{waiting: make([]string, 1)}},
		{"a mail has two runs", func(e *evidence) { e.runs = append(e.runs, e.runs[1]) }, verdict{twice: make([]string, 1)}},
		{"a mail is sent twice", func(e *evidence) { e.mailed.add(mailID(1), answer{"a", "parcel 1 is delivered"}) }, verdict{twice: make([]string, 1)}},
		{"an effect happens twice", func(e *evidence) { e.delivered.add("effect", "other") }, verdict{twice: make([]string, 1)}},
		{"a parcel is delivered by two effects", func(e *evidence) { e.delivered.add("other", "1") }, verdict{twice: make([]string, 1)}},
		{"a run has failed", func(e *evidence) { e.runs[1].Status = schemas.RunFailed }, verdict{failed: make([]string, 1)}},
		{"a run has run out of time", func(e *evidence) {
			e.runs[1].Status, e.runs[1].Reason = schemas.RunFailed, schemas.StopTimeout
		}, verdict{late: make([]string, 1)}},
		{"an answer is of something else", func(e *evidence) { e.chatted.by[chatID(0)][0].text = "4" }, verdict{wrong: make([]string, 1)}},
		{"an answer is told and not given", func(e *evidence) { e.chatted.by = nil }, verdict{wrong: make([]string, 1)}},
		{"work is told and not done", func(e *evidence) { *e.delivered = deliveries{} }, verdict{wrong: make([]string, 1)}},
		{"a doubt is told", func(e *evidence) {
			e.runs[1].Status = schemas.RunFailed
			e.runs[1].Tasks = []*workflow.Task{{ID: "t1", State: workflow.TaskFailed, LastFailure: &schemas.TaskFailed{Cause: schemas.FailureUnknownEffect}}}
			e.mailed.by[mailID(1)][0].text = "nobody knows"
		}, verdict{doubts: make([]string, 1)}},
	} {
		e := soundEvidence()
		c.plant(e)
		got := e.judge()
		for _, kind := range []struct {
			name      string
			got, want []string
		}{
			{"lost", got.lost, c.want.lost},
			{"twice", got.twice, c.want.twice},
			{"waiting", got.waiting, c.want.waiting},
			{"failed", got.failed, c.want.failed},
			{"late", got.late, c.want.late},
			{"wrong", got.wrong, c.want.wrong},
			{"doubts", got.doubts, c.want.doubts},
		} {
			if len(kind.got) != len(kind.want) {
				t.Errorf("%s: %s: %q", c.name, kind.name, kind.got)
			}
		}
	}
}

// soundEvidence is a chat message and a mail that were answered once.
func soundEvidence() *evidence {
	e := &evidence{
		inquiries: []*inquiry{{promised: true, event: "chat"}, {number: 1, mail: true, promised: true}},
		arrived:   map[string]int{"chat": 1, "mail": 2},
		runs: []workflow.RunHistory{
			{ID: "1", Run: workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunCompleted, Message: schemas.Incoming{ID: "chat"}}},
			{ID: "2", Run: workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunCompleted, Message: schemas.Incoming{ID: "mail", Subject: "Question 1"}}},
		},
		mailed: &answers{}, chatted: &answers{}, delivered: &deliveries{},
	}
	e.chatted.add(chatID(0), answer{"b", "It is 3001."})
	e.mailed.add(mailID(1), answer{"a", "parcel 1 is delivered"})
	e.delivered.add("effect", "1")
	return e
}
