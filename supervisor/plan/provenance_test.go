package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"podium/bus/bustest/cputime"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// hashOf is the hash of the n-th artifact of a kind.
func hashOf(kind, n int) string { return fmt.Sprintf("%032x%032x", kind, n) }

// Kinds of artifacts.
const (
	sent = iota + 1 // by a person
	granted
	own
	strange
)

// attaching is a result that names artifacts of a kind as its attachments.
func attaching(tb testing.TB, kind, from, count int) schemas.Result {
	tb.Helper()
	files := make([]schemas.Attachment, count)
	for i := range files {
		files[i] = schemas.Attachment{Name: fmt.Sprint("file ", kind, from+i), Artifact: schemas.Artifact{SHA256: hashOf(kind, from+i)}}
	}
	data, err := schemas.Marshal(map[string]any{"attachments": files})
	if err != nil {
		tb.Fatal(err)
	}
	return schemas.Result{Data: data}
}

// made are deliverables that are artifacts of a kind.
func made(kind, count int) []schemas.Deliverable {
	all := make([]schemas.Deliverable, count)
	for i := range all {
		all[i] = schemas.Deliverable{DeliverableID: fmt.Sprint("made ", kind, i), Metadata: fmt.Appendf(nil, `{"sha256":%q}`, hashOf(kind, i))}
	}
	return all
}

// asked is a run whose task is under way: it builds on the artifacts of so many
// others, with which a person has sent three files in two messages. Reads counts how
// often a message is read.
func asked(tb testing.TB, dependencies int) (decision *plan.Decision, reads *int) {
	tb.Helper()
	decision, _ = begun(tb, compile(tb, steps()), "one", "")
	message := &decision.Run.Message
	message.Sequence, message.Files, message.MergedTexts = 7, 3, []schemas.Content{{Sequence: 8}}
	task := decision.Run.Tasks[0]
	for i := range dependencies {
		other := &workflow.Task{ID: fmt.Sprint("d", i), State: workflow.TaskCompleted}
		for n := range schemas.MaxProven {
			other.Proven = append(other.Proven, hashOf(granted, i*schemas.MaxProven+n))
		}
		decision.Run.Tasks = append(decision.Run.Tasks, other)
		task.Plan.Dependencies = append(task.Plan.Dependencies, other.ID)
	}
	files := map[uint64]schemas.Result{7: attaching(tb, sent, 0, 1), 8: attaching(tb, sent, 1, 2)}
	reads = new(int)
	decision.Read = func(body schemas.Content) schemas.Result {
		*reads++
		return files[body.Sequence]
	}
	return decision, reads
}

// answer has the task answered, and returns what is on record of its artifacts.
func answer(tb testing.TB, decision *plan.Decision, said plan.Response) schemas.TaskCompleted {
	tb.Helper()
	said.Status = schemas.StatusCompleted
	var completed *schemas.TaskCompleted
	decision.Emit = func(f schemas.Fact, _ string) {
		if schemas.As[*schemas.TaskCompleted](f) != nil {
			completed = schemas.As[*schemas.TaskCompleted](f)
		}
		decision.Run.Apply(f, decision.Now)
	}
	respond(decision, decision.Run.Tasks[0], said)
	if completed == nil {
		tb.Fatal("the task is not completed")
	}
	return *completed
}

// TestWhatMayBePassedOn: what the agent has put, what it was granted and what the
// person has sent; the rest is left out by its name.
func TestWhatMayBePassedOn(t *testing.T) {
	t.Parallel()
	decision, _ := asked(t, 1)
	completed := answer(t, decision, plan.Response{
		WholeResult: schemas.Result{Data: slices.Concat(
			[]byte(`{"attachments":[`),
			fmt.Appendf(nil, `{"name":"a","artifact":{"sha256":%q}},`, hashOf(own, 0)),
			fmt.Appendf(nil, `{"name":"b","artifact":{"sha256":%q}},`, hashOf(granted, 3)),
			fmt.Appendf(nil, `{"name":"c","artifact":{"sha256":%q}},`, hashOf(sent, 2)),
			fmt.Appendf(nil, `{"name":"d","artifact":{"sha256":%q}}]}`, hashOf(strange, 0)),
		)},
		Deliverables: slices.Concat(made(sent, 1), made(strange, 2)),
		PutArtifacts: []string{hashOf(own, 0), hashOf(own, 1)},
	})
	if want := []string{hashOf(own, 0), hashOf(granted, 3), hashOf(sent, 2)}; !slices.Equal(completed.Proven, want) {
		t.Errorf("passed on: %q, want %q", completed.Proven, want)
	}
	if want := []string{"d", "made 4 0", "made 4 1"}; !slices.Equal(completed.Unproven, want) {
		t.Errorf("left out: %q, want %q", completed.Unproven, want)
	}
	for i, made := range completed.Deliverables {
		if _, names := plan.DeliverableFile(&made); names != (i == 0) {
			t.Errorf("deliverable %d: %s", i, made.Metadata)
		}
	}
}

// TestMessagesAreReadOnce: however many files an answer names that nobody has granted,
// the messages of the run are read once.
func TestMessagesAreReadOnce(t *testing.T) {
	t.Parallel()
	decision, reads := asked(t, 0)
	completed := answer(t, decision, plan.Response{WholeResult: attaching(t, strange, 0, 500), Deliverables: made(strange, 500)})
	if *reads != 2 || len(completed.Proven) > 0 || len(completed.Unproven) != 32 {
		t.Errorf("%d reads of two messages; passed on %q, left out %d", *reads, completed.Proven, len(completed.Unproven))
	}
}

// TestFilesTakeTimeInProportion: what an answer names and what its task was granted
// add up, and do not multiply.
//
//nolint:paralleltest // it measures
func TestFilesTakeTimeInProportion(t *testing.T) {
	said := plan.Response{WholeResult: attaching(t, strange, 0, 3000), Deliverables: made(strange, 3000)}
	answering := func(dependencies int) func() {
		return func() {
			decision, _ := asked(t, dependencies)
			answer(t, decision, said)
		}
	}
	cputime.Proportion(t, "an answer with the grants of 200 tasks", 10, answering(1), answering(200))
}
