package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// past is a session of so many runs that have ended.
func past(t *testing.T, core bus.Core, session string, runs int) *bustest.Script {
	t.Helper()
	script := bustest.NewScript(t, core, session)
	for i := range runs {
		run, id := i+1, "m"+strconv.Itoa(i+1)
		script.Record(
			&schemas.MessageReceived{ID: id, Sequence: uint64(10 * run), Run: run, Disposition: schemas.DispositionStarted}, //nolint:gosec // small
			&schemas.RunStarted{Run: run, Message: schemas.Incoming{ID: id}})
		script.Record(ended(run)...)
	}
	return script
}

func ended(run int) []schemas.Fact {
	return []schemas.Fact{
		&schemas.RunSettled{Run: run, Status: schemas.RunCompleted, Reason: schemas.StopCompleted, Answer: []schemas.AnswerPart{
			{Body: schemas.Content{Result: schemas.Result{Text: "answer " + strconv.Itoa(run)}}},
		}},
		&schemas.RunEnded{Run: run, Status: schemas.RunCompleted, Reason: schemas.StopCompleted},
	}
}

// TestShowingARunReadsFewRecords: show, watch and send --wait read the records of their
// run, however many others its session has.
func TestShowingARunReadsFewRecords(t *testing.T) {
	t.Parallel()
	const runs, most = 3000, 150
	core := &bustest.Meter{Core: memory.New(1)}
	session := schemas.SessionID("p", "long")
	script := past(t, core, session, runs)
	in := func() (*environment, *bytes.Buffer) {
		var out bytes.Buffer
		return &environment{ctx: t.Context(), stdout: &out, log: zerolog.Nop()}, &out
	}
	read := func(what string) {
		t.Helper()
		if messages, _ := core.Count(); messages > most {
			t.Errorf("%s: %d messages are read", what, messages)
		}
		core.Reset()
	}
	core.Reset()
	for _, number := range []int{1, runs / 2, runs} {
		name := schemas.RunID(session, number)
		run, err := (&environment{ctx: t.Context()}).runLog(core).Run(t.Context(), name)
		if err != nil || run.ID != name || run.Phase != workflow.PhaseComplete {
			t.Errorf("run %d is %+v (%v)", number, run, err)
		}
		read("show " + name)
		env, out := in()
		if err = env.follow(core, &workflow.Excerpt{Session: session, Number: number}, runlog.Sent{}, view.Nothing); err != nil || !strings.HasSuffix(out.String(), "answer "+strconv.Itoa(number)+"\n") {
			t.Errorf("watching run %d shows %q (%v)", number, out, err)
		}
		read("watch " + name)
	}
	if _, err := (&environment{ctx: t.Context()}).runLog(core).Run(t.Context(), schemas.RunID(session, runs+1)); err == nil {
		t.Error("a run is found that never was")
	}
	read("show what is not there")
	for what, say := range map[string]struct{ id, answer string }{
		"a message of before": {"m7", "answer 7"}, "one that came again": {"m" + strconv.Itoa(runs), "answer " + strconv.Itoa(runs)},
	} {
		env, out := in()
		if err := env.follow(core, &workflow.Excerpt{Session: session, Input: say.id}, runlog.Sent{Sequence: 10*runs + 1, Again: true}, view.Nothing); err != nil || !strings.HasSuffix(out.String(), say.answer+"\n") {
			t.Errorf("%s shows %q (%v)", what, out, err)
		}
		read(what)
	}
	env, out := in()
	followed := make(chan error, 1)
	go func() {
		followed <- env.follow(core, &workflow.Excerpt{Session: session, Input: "next"}, runlog.Sent{Sequence: 10*runs + 10}, view.Nothing)
	}()
	next := runs + 1
	script.Record(
		&schemas.MessageReceived{ID: "next", Sequence: 10*runs + 10, Run: next, Disposition: schemas.DispositionStarted},
		&schemas.RunStarted{Run: next, Message: schemas.Incoming{ID: "next"}})
	script.Record(ended(next)...)
	if err := <-followed; err != nil || !strings.HasSuffix(out.String(), "answer "+strconv.Itoa(next)+"\n") {
		t.Errorf("the next message shows %q (%v)", out, err)
	}
	read("a message that has just been sent")
}

// TestAMessageThatBecomesPartOfARun: who sends it is shown the run that it is part of,
// from its beginning on.
func TestAMessageThatBecomesPartOfARun(t *testing.T) {
	t.Parallel()
	core := memory.New(1)
	session := schemas.SessionID("p", "merged")
	script := past(t, core, session, 20)
	script.Record(
		&schemas.MessageReceived{ID: "a", Sequence: 300, Run: 21, Disposition: schemas.DispositionStarted},
		&schemas.RunStarted{Run: 21, Message: schemas.Incoming{ID: "a"}})
	script.Record(&schemas.MessageReceived{ID: "b", Sequence: 310, Run: 22, Disposition: schemas.DispositionQueued, Message: &schemas.Incoming{ID: "b"}})
	var out bytes.Buffer
	env := &environment{ctx: t.Context(), stdout: &out, log: zerolog.Nop()}
	followed := make(chan error, 1)
	go func() {
		followed <- env.follow(core, &workflow.Excerpt{Session: session, Input: "c"}, runlog.Sent{Sequence: 320}, view.Nothing)
	}()
	script.Record(&schemas.MessageReceived{ID: "c", Sequence: 320, Run: 22, Disposition: schemas.DispositionMerged, Message: &schemas.Incoming{ID: "c"}})
	script.Record(append(ended(21), &schemas.RunStarted{Run: 22, Message: schemas.Incoming{ID: "b"}})...)
	script.Record(ended(22)...)
	if err := <-followed; err != nil || !strings.HasSuffix(out.String(), "answer 22\n") {
		t.Errorf("shown %q (%v)", out.String(), err)
	}
}
