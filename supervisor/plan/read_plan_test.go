package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/say"
)

// written is a plan on one line: "a", "b after a", … with what else is said.
func written(tasks []schemas.PlannedTask) string {
	lines := make([]string, len(tasks))
	for i := range tasks {
		lines[i] = tasks[i].Task + " " + tasks[i].Description.Text
		if len(tasks[i].Dependencies) > 0 {
			lines[i] += " after " + strings.Join(tasks[i].Dependencies, ",")
		}
		if tasks[i].Agent != "" {
			lines[i] += " by " + tasks[i].Agent
		}
	}
	return strings.Join(lines, "; ")
}

// TestReadPlan_O34_C03: a plan is read from data, else from JSON in text.
func TestReadPlan_O34_C03(t *testing.T) {
	t.Parallel()
	const tasks = `{"tasks":[{"task_id":"a","description":"one","assigned_to":"first"},{"task_id":"b","description":"two","dependencies":["a"]}]}`
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for name, test := range map[string]struct {
		data, text, want string
	}{
		"tasks in data":               {tasks, "", "a one by first; b two after a"},
		"steps in data":               {`{"steps":["one","two","three"]}`, "", "t1 one; t2 two after t1; t3 three after t2"},
		"a list in data":              {`["one"]`, "", "t1 one"},
		"tasks before steps":          {`{"steps":["one"],"tasks":[{"task_id":"a","description":"two"}]}`, "", "a two"},
		"steps beside empty tasks":    {`{"steps":["one"],"tasks":[]}`, "", "t1 one"},
		"unknown names beside":        {`{"steps":["one"],"why":{"steps":["two"]}}`, "", "t1 one"},
		"data before text":            {`["one"]`, `["two"]`, "t1 one"},
		"text when data is no plan":   {`{"note":1}`, `["two"]`, "t1 two"},
		"all of the text":             {"", `{"steps":["one"]}`, "t1 one"},
		"a fence":                     {"", "Here:\n```json\n" + tasks + "\n```\nThat is all.", "a one by first; b two after a"},
		"a fence without a language":  {"", "```\n[\"one\",\"two\"]\n```", "t1 one; t2 two after t1"},
		"between sentences":           {"", `I think [1] that {this} is it: {"steps":["one"]}, or not {`, "t1 one"},
		"the longest of several":      {"", `["no"] {"steps":["one","two"]} ["no"]`, "t1 one; t2 two after t1"},
		"a shorter one that is one":   {"", `{"reasoning":"a very long one, about nothing at all"} ["one"]`, "t1 one"},
		"behind much that is none":    {"", strings.Repeat("[", 200) + ` ["one"]`, "t1 one"},
		"at the end of a long text":   {"", strings.Repeat("x", 1<<20) + `["one"]`, "t1 one"},
		"braces in strings":           {"", `{"steps":["put } and ] in {it}"]}`, "t1 put } and ] in {it}"},
		"nothing":                     {"", "", "!plan_not_found"},
		"only words":                  {"", "I cannot say.", "!plan_not_found"},
		"neither tasks nor steps":     {`{}`, "", "!plan_without_tasks"},
		"empty lists":                 {`{"steps":[],"tasks":[]}`, "", "!plan_without_tasks"},
		"an empty list":               {`[]`, "", "!plan_without_tasks"},
		"a number":                    {`7`, "", "!answer_"},
		"steps of numbers":            {`{"steps":[1]}`, "", "!answer_"},
		"a name that is there twice":  {`{"steps":["one"],"steps":["two"]}`, "", "!answer_"},
		"an estimate in words":        {`{"tasks":[{"task_id":"a","estimated_tokens":"many"}]}`, "", "!answer_"},
		"half a plan":                 {"", `{"steps":["one"`, "!plan_not_found"},
		"nested deeper than any plan": {"", deep, "!answer_"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks, err := plan.ReadPlan(schemas.Result{Data: jsontext.Value(test.data), Text: test.text})
			said, refused := strings.CutPrefix(test.want, "!")
			switch {
			case refused && (!errors.As(err, new(*plan.AnswerError)) || !strings.HasPrefix(err.Error(), said)):
				t.Errorf("got %v", err)
			case !refused && (err != nil || written(tasks) != test.want):
				t.Errorf("got %q, %v", written(tasks), err)
			}
		})
	}
}

// TestReadPlanKeepsEverything_M03: what a plan says of a task is not lost.
func TestReadPlanKeepsEverything_M03(t *testing.T) {
	t.Parallel()
	tasks, err := plan.ReadPlan(schemas.Result{Data: jsontext.Value(`{"tasks":[{"task_id":"a","description":"one","assigned_to":"first","dependencies":["b"],
		"estimated_tokens":5,"estimated_time_seconds":7,"priority":"high","deliverables":["d"],"validation_criteria":["v"],"optional":true,"resources":["disk"],
		"context":{"files_to_modify":["f"],"references":["r"],"constraints":{"c":1},"arguments":{"x":2}}}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := schemas.Marshal(tasks[0])
	want := `{"task":"a","description":{"text":"one"},"dependencies":["b"],"agent":"first","priority":"high","seconds":7,"tokens":5,"optional":true,` +
		`"resources":["disk"],"arguments":{"x":2},"constraints":{"c":1},"deliverables":["d"],"validation_criteria":["v"],"files_to_modify":["f"],"references":["r"]}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s\n%v", got, want, err)
	}
}

// TestRefusalsAreBounded: the faults of a plan are told up to a number, each up
// to a length, and the planner hears as many as fit.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	source := steps()
	source.Complexity, source.Planner = nil, &schemas.Planner{Kind: schemas.PlannerAgent, Agent: "planner"}
	tasks := make([]schemas.Task, 60)
	for i := range tasks {
		tasks[i] = schemas.Task{TaskID: strings.Repeat("x", 100), AssignedTo: strings.Repeat("y", 2000)}
	}
	body, err := schemas.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		t.Fatal(err)
	}
	decision, facts := begun(t, compile(t, source), "do it", "")
	respond(decision, decision.Run.Task("plan"), plan.Response{Status: schemas.StatusCompleted, WholeResult: schemas.Result{Data: body}})
	for i := range *facts {
		record(t, (*facts)[i])
		if refused := schemas.As[*schemas.PlanRefused]((*facts)[i]); refused != nil {
			told := len(refused.Faults) - 1
			if more := refused.Faults[told]; told < 50 || told > 100 || more.Code != schemas.MoreReasons || more.Values["count"] != strconv.Itoa(119-told) {
				t.Errorf("%d faults, the last %v", told, more)
			}
			for _, fault := range refused.Faults {
				if of := fault.Values["agent"]; len(of) > 260 {
					t.Errorf("a fault about an agent with a name of %d bytes", len(of))
				}
			}
		}
	}
	failed := decision.Run.Task("plan").Failure()
	feedback := say.Failure(say.English(), &failed)
	if len(feedback) > 5000 || !strings.Contains(feedback, "\n- Not listed here: ") {
		t.Errorf("the planner hears %d bytes, at last %q", len(feedback), feedback[max(len(feedback)-20, 0):])
	}
}

// FuzzReadPlan: whatever a planner says, reading it does not panic, and what is
// read is either refused with its faults named or a plan that is carried out to
// its end, each record as its schema has it.
func FuzzReadPlan(f *testing.F) {
	for _, seed := range []string{
		`{"steps":["one","two"]}`, `["one"]`, `{"tasks":[{"task_id":"a","description":"one","assigned_to":"first"},{"task_id":"b","dependencies":["a"]}]}`,
		`{"tasks":[{"task_id":"a","dependencies":["a"]}]}`, `{"tasks":[{"task_id":"a","estimated_time_seconds":9223372036854775807,"priority":"urgent"}]}`,
		"```json\n{\"steps\":[\"one\"]}\n```", `{"tasks":[{"task_id":"a","context":{"arguments":[1],"constraints":7},"resources":[""]}]}`,
	} {
		f.Add([]byte(seed), seed)
	}
	source := steps()
	source.Execution = schemas.Execution{Mode: schemas.ExecutionDAG}
	source.Planner = &schemas.Planner{Kind: schemas.PlannerAgent, Agent: "planner", MaxTasks: 40}
	source.Complexity = nil
	source.Routers = append([]schemas.Router{{Kind: schemas.RouterAssigned}}, schemas.Router{Kind: schemas.RouterDefault, Agent: "first"})
	profile, err := plan.Compile(source)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		result := schemas.Result{Data: data, Text: text}
		decision, facts := begun(t, profile, "do it", "")
		respond(decision, decision.Run.Task("plan"), plan.Response{Status: schemas.StatusCompleted, WholeResult: result})
		if len(decision.Run.Tasks) > 0 {
			if tasks, err := plan.ReadPlan(result); err != nil || len(tasks) != len(decision.Run.Tasks) {
				t.Fatalf("%d tasks were read, %d are done: %v", len(tasks), len(decision.Run.Tasks), err)
			}
		}
		finish(t, decision)
		for i := range *facts {
			record(t, (*facts)[i])
		}
	})
}

// finish answers, grants and rings until the run has ended.
func finish(tb testing.TB, decision *plan.Decision) {
	tb.Helper()
	for range 4000 {
		var next *workflow.Task
		for task := range decision.Run.All {
			if !task.State.Ended() && task.State != workflow.TaskPending && next == nil {
				next = task
			}
		}
		switch {
		case next == nil:
			if decision.Run.Phase != workflow.PhaseComplete {
				tb.Fatalf("nobody waits, and the run is %s", decision.Run.Phase)
			}
			return
		case next.State == workflow.TaskReady:
			decision.Grant(schemas.Grant{Run: decision.Run.Number, Task: next.ID})
			decision.Resume()
		case next.State.UnderWay():
			respond(decision, next, plan.Response{Status: schemas.StatusCompleted})
		default:
			decision.Now = slices.MinFunc(decision.Run.Deadlines(), func(a, b schemas.Deadline) int { return a.At.Compare(b.At) }).At
			decision.Expire(decision.Run.Deadlines()[0])
			decision.Resume()
		}
	}
	tb.Fatal("it never ends")
}

// record checks that a fact can stand in a record.
func record(tb testing.TB, fact schemas.Fact) {
	tb.Helper()
	body, err := schemas.Marshal(schemas.Record{Session: schemas.SessionID("p", "k"), Number: 1, Transitions: []schemas.Transition{{Cause: schemas.Cause{Time: start(), Profile: "p"}, Facts: []schemas.Fact{fact}}}})
	if err != nil {
		tb.Fatal(err)
	}
	if err = schemas.Validate("record", body); err != nil {
		tb.Fatalf("%v\n%s", err, body)
	}
}

// TestUnreadablePlansAreRefusedByCode: what is wrong with an answer is told by its place and the types, and not in the
// words of the JSON library, which differ from process to process.
func TestUnreadablePlansAreRefusedByCode(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`[1]`:                              "{answer_wrong_type map[found:number path:/0 wanted:string]}",
		`{"tasks": 1}`:                     "{answer_wrong_type map[found:number path:/tasks wanted:array]}",
		`{"steps": {"a": 1}}`:              "{answer_wrong_type map[found:object path:/steps wanted:array]}",
		`{"tasks": [{"optional": "yes"}]}`: "{answer_wrong_type map[found:string path:/tasks/0/optional wanted:boolean]}",
		`{"steps":["a"],"steps":["b"]}`:    "{answer_duplicate_name map[path:/steps]}",
		`{}`:                               "{plan_without_tasks map[]}",
	} {
		_, err := plan.ReadPlan(schemas.Result{Data: []byte(answer)})
		refused, is := errors.AsType[*plan.AnswerError](err)
		if !is || fmt.Sprint(refused.Reason) != want {
			t.Errorf("%s: %v, %+v", answer, err, refused)
		}
	}
}
