package plan_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

func start() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// steps is a profile whose texts become one task for each of the words one,
// two and three.
func steps() schemas.Profile {
	word := func(word string) schemas.Keyword { return schemas.Keyword{Word: word, Mode: schemas.ModeWord} }
	texts := schemas.Texts{
		TaskFailed: "{agent} could not do {task}: {detail}", Timeout: "too slow", NoRoute: "nobody",
		Cancelled: "stopped", Partial: "so far:", Empty: "done",
	}
	return schemas.Profile{
		Name: "steps", Language: schemas.LanguageOfWriter,
		Agents: []schemas.AgentUse{{Name: "first"}, {Name: "second", Work: schemas.Duration(time.Hour)}},
		Routers: []schemas.Router{{Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured, Groups: []schemas.KeywordGroup{
			{Name: "first", Agent: "first", Keywords: []schemas.Keyword{word("one"), word("three")}},
			{Name: "second", Agent: "second", Keywords: []schemas.Keyword{word("two")}},
		}}},
		Complexity: &schemas.ComplexityRules{
			Verbs:      []schemas.Keyword{word("one"), word("two"), word("three"), word("four")},
			Separators: []string{"then"},
		},
		Execution: schemas.Execution{Mode: schemas.ExecutionSequence},
		Retry:     schemas.Retry{Attempts: 1, Wait: schemas.Duration(time.Second)},
		Delivery:  schemas.Retry{Attempts: 1, Wait: schemas.Duration(time.Second)},
		Deadlines: schemas.Deadlines{Queue: schemas.Duration(10 * time.Second), Work: schemas.Duration(20 * time.Second)},
		Languages: []schemas.Language{
			{Tag: "en", Markers: []string{"the", "and"}, Texts: texts},
			{Tag: "de", Markers: []string{"und", "der", "für"}, Texts: schemas.Texts{Timeout: "zu langsam"}},
		},
	}
}

func compile(tb testing.TB, source schemas.Profile) *plan.Profile {
	tb.Helper()
	profile, err := plan.Compile(source)
	if err != nil {
		tb.Fatal(err)
	}
	return profile
}

// begun is a run that has just been planned, and the turn that goes on with it.
func begun(tb testing.TB, profile *plan.Profile, text, reply string) (*plan.Decision, *[]schemas.Fact) {
	tb.Helper()
	return begunWith(tb, profile, text, reply, plan.Unlimited{})
}

func begunWith(tb testing.TB, profile *plan.Profile, text, reply string, bus plan.Admission) (*plan.Decision, *[]schemas.Fact) {
	tb.Helper()
	run := workflow.Begin(&schemas.RunStarted{Run: 1, Profile: profile.Name, ProfileHash: profile.Hash, Message: schemas.Incoming{
		Text: schemas.Content{Result: schemas.Result{Text: text}}, Language: "en", Reply: &schemas.Reply{Agent: reply},
	}})
	var facts []schemas.Fact
	view := plan.View{Session: schemas.SessionID("p", "k"), Shard: 1, Run: run, Profile: profile, Now: start(), Admission: bus}
	decision := plan.NewDecision(view, func(f schemas.Fact, _ string) {
		run.Apply(f, start())
		facts = append(facts, f)
	})
	decision.Begin(schemas.Result{Text: text})
	decision.Resume()
	return decision, &facts
}

// respond gives an answer of an agent to a task, and applies the rules.
func respond(decision *plan.Decision, task *workflow.Task, response plan.Response) {
	decision.HandleResponse(task, response)
	decision.Resume()
}

// expire lets a deadline pass, and reports whether that has changed anything.
func expire(decision *plan.Decision, facts *[]schemas.Fact, deadline schemas.Deadline) bool {
	before := len(*facts)
	decision.Expire(deadline)
	decision.Resume()
	return len(*facts) > before
}

// TestWaitDoubles_M25: 2^(attempt-1) times the configured wait, capped.
func TestWaitDoubles_M25(t *testing.T) {
	t.Parallel()
	second, minute := time.Second, time.Minute
	for name, test := range map[string]struct {
		wait  time.Duration
		waits []time.Duration
	}{
		"from a second":         {second, []time.Duration{second, 2 * second, 4 * second, 8 * second}},
		"up to the cap":         {2 * minute, []time.Duration{2 * minute, 4 * minute, 5 * minute, 5 * minute}},
		"from above the cap":    {time.Hour, []time.Duration{5 * minute, 5 * minute}},
		"without a wait":        {0, []time.Duration{0, 0, 0}},
		"never past the cap":    {second, slices.Concat([]time.Duration{1 * second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, 64 * second, 128 * second, 256 * second}, slices.Repeat([]time.Duration{5 * minute}, 60))},
		"from the smallest one": {1, []time.Duration{1, 2, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := steps()
			source.Retry = schemas.Retry{Attempts: len(test.waits) + 1, Wait: schemas.Duration(test.wait)}
			decision, facts := begun(t, compile(t, source), "one", "")
			for i, want := range test.waits {
				task := decision.Run.Tasks[0]
				if task.Attempt != i+1 || task.State != workflow.TaskDispatched {
					t.Fatalf("attempt %d is %s", task.Attempt, task.State)
				}
				respond(decision, task, plan.Response{Status: schemas.StatusFailed})
				if got := schemas.As[*schemas.TaskFailed]((*facts)[len(*facts)-1]).RetryAt.Sub(decision.Now); got != want {
					t.Errorf("the wait after attempt %d is %s, want %s", i+1, got, want)
				}
				decision.Now = decision.Run.Tasks[0].Due
				if !expire(decision, facts, decision.Run.Deadlines()[0]) {
					t.Fatal("the wait is not over")
				}
			}
			respond(decision, decision.Run.Tasks[0], plan.Response{Status: schemas.StatusFailed})
			if decision.Run.Phase != workflow.PhaseComplete || decision.Run.Status != schemas.RunFailed {
				t.Errorf("after the last attempt the run is %s, %s", decision.Run.Phase, decision.Run.Status)
			}
		})
	}
}

// TestSettle_M56: what the answers of the tasks make of the run.
func TestSettle_M56(t *testing.T) {
	t.Parallel()
	done := plan.Response{Status: schemas.StatusCompleted, Result: schemas.Content{Result: schemas.Result{Text: "done"}}}
	some := plan.Response{Status: schemas.StatusPartial}
	failed := plan.Response{Status: schemas.StatusFailed, Detail: "why"}
	blocked := plan.Response{Status: schemas.StatusBlocked}
	for name, test := range map[string]struct {
		text    string
		answers []plan.Response
		status  schemas.RunStatus
		reason  schemas.StopReason
		states  []workflow.TaskState
		parts   int
		said    string
	}{
		"all completed":         {"one", []plan.Response{done}, schemas.RunCompleted, schemas.StopCompleted, []workflow.TaskState{workflow.TaskCompleted}, 1, ""},
		"a partial answer":      {"one", []plan.Response{some}, schemas.RunPartial, schemas.StopPartial, []workflow.TaskState{workflow.TaskCompleted}, 1, "so far:"},
		"none completed":        {"one", []plan.Response{failed}, schemas.RunFailed, schemas.StopTaskFailed, []workflow.TaskState{workflow.TaskFailed}, 0, "first could not do t1: why"},
		"blocked":               {"one", []plan.Response{blocked}, schemas.RunBlocked, schemas.StopBlocked, []workflow.TaskState{workflow.TaskFailed}, 0, "first could not do t1:"},
		"the second fails":      {"one then two then three", []plan.Response{done, failed}, schemas.RunPartial, schemas.StopTaskFailed, []workflow.TaskState{workflow.TaskCompleted, workflow.TaskFailed, workflow.TaskSkipped}, 1, "second could not do t2: why\n\nso far:"},
		"the first fails":       {"one then two then three", []plan.Response{failed}, schemas.RunFailed, schemas.StopTaskFailed, []workflow.TaskState{workflow.TaskFailed, workflow.TaskSkipped, workflow.TaskSkipped}, 0, "first could not do t1: why"},
		"nobody for the second": {"one then four", []plan.Response{done}, schemas.RunPartial, schemas.StopNoRoute, []workflow.TaskState{workflow.TaskCompleted, workflow.TaskFailed}, 1, "nobody\n\nso far:"},
		"nobody at all":         {"nothing", nil, schemas.RunFailed, schemas.StopNoRoute, []workflow.TaskState{workflow.TaskFailed}, 0, "nobody"},
		"three of three":        {"one then two then three", []plan.Response{done, done, done}, schemas.RunCompleted, schemas.StopCompleted, []workflow.TaskState{workflow.TaskCompleted, workflow.TaskCompleted, workflow.TaskCompleted}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decision, facts := begun(t, compile(t, steps()), test.text, "")
			for _, answer := range test.answers {
				deadlines := decision.Run.Deadlines()
				if len(deadlines) != 1 {
					t.Fatalf("it waits for %v", deadlines)
				}
				respond(decision, decision.Run.Task(deadlines[0].Task), answer)
			}
			var states []workflow.TaskState
			for i := range decision.Run.Tasks {
				states = append(states, decision.Run.Tasks[i].State)
			}
			if !slices.Equal(states, test.states) {
				t.Errorf("tasks are %v, want %v", states, test.states)
			}
			settled, ended := 0, 0
			for i := range *facts {
				if f := schemas.As[*schemas.RunSettled]((*facts)[i]); f != nil {
					settled++
					said := ""
					if f.Error != nil {
						said = f.Error.Message["en"]
					}
					if f.Status != test.status || f.Reason != test.reason || len(f.Answer) != test.parts || said != test.said {
						t.Errorf("settled %s (%s) with %d parts, %q", f.Status, f.Reason, len(f.Answer), said)
					}
				}
				if schemas.As[*schemas.RunEnded]((*facts)[i]) != nil {
					ended++
				}
			}
			if settled != 1 || ended != 1 || decision.Run.Phase != workflow.PhaseComplete {
				t.Errorf("settled %d times, ended %d times, %s", settled, ended, decision.Run.Phase)
			}
		})
	}
}

// TestDeadlines: each state waits for its own moment, with the agent's own
// work deadline where it has one.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	source := steps()
	source.Retry.Attempts = 2
	decision, facts := begun(t, compile(t, source), "two", "mail")
	task := decision.Run.Tasks[0]
	wait := func(kind schemas.DeadlineKind, attempt int, after time.Duration) {
		t.Helper()
		want := []schemas.Deadline{{Run: 1, Task: "t1", Attempt: attempt, Kind: kind, At: start().Add(after)}}
		if got := decision.Run.Deadlines(); !reflect.DeepEqual(got, want) {
			t.Fatalf("it waits for %v, want %v", got, want)
		}
	}
	wait(schemas.DeadlineQueue, 1, 10*time.Second)
	if expires := schemas.As[*schemas.TaskDispatched]((*facts)[len(*facts)-1]).Expires; !expires.Equal(start().Add(time.Hour + 10*time.Second)) {
		t.Errorf("the request expires at %s", expires)
	}
	decision.Now = start().Add(time.Second)
	decision.Progress(task, plan.Sign{})
	wait(schemas.DeadlineWork, 1, time.Hour+time.Second)
	for _, void := range []schemas.Deadline{
		{Run: 1, Task: "t1", Attempt: 1, Kind: schemas.DeadlineQueue},
		{Run: 1, Task: "t1", Attempt: 1, Kind: schemas.DeadlineWork}, // not due
		{Run: 2, Task: "t1", Attempt: 1, Kind: schemas.DeadlineWork},
	} {
		if expire(decision, facts, void) {
			t.Errorf("%+v did something", void)
		}
	}
	decision.Now = start().Add(2 * time.Hour)
	if !expire(decision, facts, schemas.Deadline{Run: 1, Task: "t1", Attempt: 1, Kind: schemas.DeadlineWork}) {
		t.Error("a deadline that is due did nothing")
	}
	wait(schemas.DeadlineRetry, 1, 2*time.Hour+time.Second)
}

// TestCancel: it works once, until the outcome is fixed, and ends every task.
func TestCancel(t *testing.T) {
	t.Parallel()
	decision, facts := begun(t, compile(t, steps()), "one then two then three", "mail")
	respond(decision, decision.Run.Tasks[0], plan.Response{Status: schemas.StatusCompleted})
	cancel := func() (stopped bool) {
		before := len(*facts)
		decision.Cancel()
		decision.Resume()
		return len(*facts) > before
	}
	if !cancel() {
		t.Fatal("it could not be stopped")
	}
	for i, want := range []workflow.TaskState{workflow.TaskCompleted, workflow.TaskCancelled, workflow.TaskCancelled} {
		if got := decision.Run.Tasks[i].State; got != want {
			t.Errorf("task %d is %s, want %s", i+1, got, want)
		}
	}
	if decision.Run.Phase != workflow.PhaseAssembling || decision.Run.Status != schemas.RunCancelled || len(decision.Run.Answer) != 1 {
		t.Errorf("the run is %s, %s with %d parts", decision.Run.Phase, decision.Run.Status, len(decision.Run.Answer))
	}
	if cancel() {
		t.Error("it was stopped twice")
	}
	respond(decision, decision.Run.Delivery, plan.Response{Status: schemas.StatusCompleted, Delivered: "id"})
	if decision.Run.Phase != workflow.PhaseComplete || cancel() {
		t.Errorf("the run is %s", decision.Run.Phase)
	}
}

// TestCloneSharesNothing: what Apply does to a clone leaves the run as it was.
func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	decision, _ := begun(t, compile(t, steps()), "one then two", "mail")
	before, err := schemas.Marshal(decision.Run)
	if err != nil {
		t.Fatal(err)
	}
	clone := *decision
	clone.Run = decision.Run.Clone()
	clone.Emit = func(f schemas.Fact, _ string) { clone.Run.Apply(f, clone.Now) }
	for len(clone.Run.Deadlines()) > 0 {
		respond(&clone, clone.Run.Task(clone.Run.Deadlines()[0].Task), plan.Response{Status: schemas.StatusCompleted})
	}
	after, err := schemas.Marshal(decision.Run)
	if err != nil || clone.Run.Phase != workflow.PhaseComplete || string(before) != string(after) {
		t.Errorf("%v, the clone is %s\n%s\n%s", err, clone.Run.Phase, before, after)
	}
}

// barred is a Admission whose agents are not asked.
type barred struct{ plan.Unlimited }

func (barred) Room(string, int) plan.AdmissionResult { return plan.Unavailable }

// TestUnavailableIsNoTimeout_M28: who is refused at once is not told that it took too
// long, unless the profile has no words of its own for it, as those of before.
func TestUnavailableIsNoTimeout_M28(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{"not now": "not now", "": "too slow"} {
		source := steps()
		source.Languages[0].Texts.Unavailable = own
		decision, facts := begunWith(t, compile(t, source), "one", "", barred{})
		if decision.Run.Reason != schemas.StopUnavailable {
			t.Fatalf("the run is %s, %s", decision.Run.Status, decision.Run.Reason)
		}
		for _, f := range *facts {
			if schemas.As[*schemas.RunSettled](f) != nil && schemas.As[*schemas.RunSettled](f).Error.Message["en"] != want {
				t.Errorf("with %q it is told %q", own, schemas.As[*schemas.RunSettled](f).Error.Message)
			}
		}
	}
}
