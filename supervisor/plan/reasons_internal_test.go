package plan

import (
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/say"
)

// TestFeedbackNamesAFault: a planner is told at least one fault, however long it is, and how many are left out, also
// where reasons are bounded once more.
func TestFeedbackNamesAFault(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	faults := planning(schemas.Planner{}).check([]schemas.PlannedTask{{Task: "a"}, {Task: long, Agent: strings.Repeat("y", 3000)}})
	failed := schemas.TaskFailed{Reasons: boundReasons(feedback(faults), maxReasonValue, maxFailureBytes)}
	if told := say.Failure(say.English(), &failed); !strings.Contains(told, "xxxx") {
		t.Errorf("the planner is told %q", told)
	}
	var all []schemas.Reason
	for range 200 {
		all = append(all, schemas.Because(schemas.ArgumentInvalid, "path", strings.Repeat("p", 60), "problem", "is missing"))
	}
	other := schemas.Because(schemas.PlanMissing)
	twice := boundReasons(append([]schemas.Reason{other}, boundReasons(all, maxReasonValue, maxFailureBytes)...), maxReasonValue, 1<<10)
	kept := len(twice) - 2
	if last := twice[len(twice)-1]; last.Code != schemas.MoreReasons || last.Values["count"] != strconv.Itoa(len(all)-kept) {
		t.Errorf("%d of %d are told, and then %v", kept, len(all), last)
	}
}

// TestHashesHoldNoSentences: what people have approved, and what was done, does not change when a sentence does.
func TestHashesHoldNoSentences(t *testing.T) {
	t.Parallel()
	hashed := func(failed schemas.TaskFailed) string {
		mended := &workflow.Task{ID: "a", Agent: "first", State: workflow.TaskFailed, LastFailure: &failed, Plan: &schemas.PlannedTask{Task: "a"}}
		mends := &workflow.Task{ID: "b", Agent: "second", Plan: &schemas.PlannedTask{Task: "b", TaskOptions: &schemas.TaskOptions{Recovers: "a", Fixes: "a"}}}
		v := &View{Run: &workflow.Run{Tasks: []*workflow.Task{mended, mends}}, Profile: planning(schemas.Planner{}), Read: func(schemas.Content) schemas.Result { return schemas.Result{} }}
		return approvalHash(v, mends, nil)
	}
	coded := schemas.TaskFailed{Cause: schemas.FailureInvalidResult, Reasons: []schemas.Reason{schemaFault(schemas.ResultInvalid, &AnswerError{})}}
	if hashed(coded) == hashed(schemas.TaskFailed{Cause: coded.Cause, Detail: say.Failure(say.English(), &coded)}) {
		t.Error("an approval is bound to a sentence")
	}
}

// TestNumbersOfAPlan: what is wrong with a number is told by what it is and what it has to be.
func TestNumbersOfAPlan(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"tasks":[{"task_id":"a","estimated_tokens":1.5}]}`, `{"tasks":[{"task_id":"a","estimated_tokens":99999999999999999999}]}`} {
		_, err := ReadPlan(schemas.Result{Data: jsontext.Value(body)})
		if why := reasonOf(err); why.Code != schemas.AnswerWrongType || why.Values["found"] != "number" || why.Values["wanted"] != "integer" {
			t.Errorf("%s: %v", body, why)
		}
	}
}

// TestFaultsOfAChangeNameTheEvaluatorsIDs: whole ids are given back, and nothing else that is called alike.
func TestFaultsOfAChangeNameTheEvaluatorsIDs(t *testing.T) {
	t.Parallel()
	first, second := schemas.ChangeTask(1, "buy, then sell"), schemas.ChangeTask(1, "b")
	c := changing{planChange: planChange{added: []schemas.PlannedTask{{Task: first}, {Task: second}}}, said: map[string]string{first: "buy, then sell", second: "b"}}
	for _, of := range []struct{ fault, want schemas.Reason }{
		{schemas.Because(schemas.TaskAgentUnknown, "task", first, "agent", second), schemas.Because(schemas.TaskAgentUnknown, "task", "buy, then sell", "agent", second)},
		{
			schemas.Because(schemas.PlanHasCycle, "tasks", strconv.Quote(first)+", "+strconv.Quote(second)),
			schemas.Because(schemas.PlanHasCycle, "tasks", `"buy, then sell", "b"`),
		},
	} {
		if got := c.inPlan(of.fault); !got.Same(of.want) {
			t.Errorf("%v, want %v", got, of.want)
		}
	}
}
