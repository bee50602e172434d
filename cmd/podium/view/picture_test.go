package view_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// drawn is a whole run without a bound.
func drawn(run *workflow.RunHistory, now time.Time) string {
	var tree view.Tree
	tree.Put(view.Place{}, run)
	return strings.Join(view.Picture{}.Outcome(&tree, now), "\n")
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// sixty is a run of 60 tasks: 30 completed, 5 failed, 3 at work, 22 that wait.
func sixty() *workflow.RunHistory {
	run := &workflow.RunHistory{ID: "run-1", Percentage: 58, Run: workflow.Run{Phase: workflow.PhaseExecuting}}
	for i := range 60 {
		task := &workflow.Task{ID: fmt.Sprintf("t%d", i+1), Agent: "alpha", State: workflow.TaskPending, Plan: &schemas.PlannedTask{Description: schemas.Content{Result: schemas.Result{Text: fmt.Sprintf("Read chapter %d", i+1)}}}}
		switch {
		case i < 30:
			task.State, task.Attempt, task.Dispatched, task.Ended = workflow.TaskCompleted, 1, noon, noon.Add(time.Duration(i)*time.Second)
		case i < 35:
			task.State = workflow.TaskFailed
			task.LastFailure = &schemas.TaskFailed{Cause: schemas.FailurePermanent, Detail: fmt.Sprintf("page %d is torn", i+1), Attempt: 1}
		case i < 38:
			task.State, task.Attempt, task.Dispatched = workflow.TaskRunning, 1, noon
			task.Percentage, task.Message = 40, "reading on"
		}
		run.Tasks = append(run.Tasks, task)
	}
	return run
}

// TestWindowFollowsTheWork: of more tasks than rows, those at work and some of those that
// failed are shown with what there is to say of them, the rest is counted.
func TestWindowFollowsTheWork(t *testing.T) {
	t.Parallel()
	var tree view.Tree
	tree.Put(view.Place{}, sixty())
	lines, pages := view.Picture{Columns: 80, Rows: 24}.Draw(&tree, noon.Add(time.Minute))
	if pages != 4 || len(lines) != 23 {
		t.Errorf("%d lines, and %d pages", len(lines), pages)
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"60 tasks: 3 running, 5 failed, 22 pending, 30 completed",
		"▸ t36  alpha running        1m0s  Read chapter 36", "▸ t38 ", "40 %: reading on",
		"✗ t31 ", "attempt 1: agent_refused page 31 is torn", "· t39 ",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "  … not shown: ") || !strings.Contains(last, " pending, 30 completed") {
		t.Errorf("the last line is %q", last)
	}
	lines, pages = view.Picture{Columns: 80, Rows: 90}.Draw(&tree, noon)
	if all = strings.Join(lines, "\n"); pages != 0 || !strings.Contains(all, "t60") || strings.Contains(all, "not shown") {
		t.Errorf("with room for all, it has %d pages:\n%s", pages, all)
	}
}

// TestNewestCompletedAreSeen: what is left of the window shows what was completed last.
func TestNewestCompletedAreSeen(t *testing.T) {
	t.Parallel()
	run := sixty()
	run.Tasks = run.Tasks[:30]
	var tree view.Tree
	tree.Put(view.Place{}, run)
	lines, _ := view.Picture{Columns: 80, Rows: 10}.Draw(&tree, noon)
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "t30 ") || strings.Contains(all, "t1 ") || !strings.Contains(all, "not shown: 24 completed") {
		t.Errorf("shown is\n%s", all)
	}
}

// TestPictureFits: whatever is in a picture, it has less lines than the terminal has rows
// and less columns, commands nothing but colors, and counts every task once.
func TestPictureFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "plain", strings.Repeat("日本語", 40), "\x1b[2J\x07\r\nx", strings.Repeat("e\u0301", 90), "👩‍👩‍👧‍👦 family", "\u202eevil"})
		state := rapid.SampledFrom([]workflow.TaskState{
			workflow.TaskPending, workflow.TaskReady, workflow.TaskDispatched, workflow.TaskRunning,
			workflow.TaskCompleted, workflow.TaskFailed, workflow.TaskSkipped, workflow.TaskCancelled,
		})
		made := func(id string, most int) *workflow.RunHistory {
			run := &workflow.RunHistory{ID: id, Run: workflow.Run{Profile: text.Draw(t, "profile"), Phase: workflow.PhaseExecuting, PlanFaults: faults(rapid.SliceOfN(text, 0, 6).Draw(t, "faults"))}}
			for i := range rapid.IntRange(0, most).Draw(t, "tasks") {
				run.Tasks = append(run.Tasks, &workflow.Task{
					ID: fmt.Sprint(i, text.Draw(t, "id")), Agent: text.Draw(t, "agent"), State: state.Draw(t, "state"), Message: text.Draw(t, "message"), LastFailure: &schemas.TaskFailed{Detail: text.Draw(t, "detail")}, Plan: &schemas.PlannedTask{Description: schemas.Content{Result: schemas.Result{Text: text.Draw(t, "description")}}},
				})
			}
			return run
		}
		var tree view.Tree
		whole := made("root", 70)
		tree.Put(view.Place{}, whole)
		for i := range min(len(whole.Tasks), rapid.IntRange(0, 3).Draw(t, "nested")) {
			tree.Put(view.Place{Run: "root", Task: whole.Tasks[i].ID}, made(fmt.Sprint("nested", i), 9))
		}
		picture := view.Picture{Columns: rapid.IntRange(1, 200).Draw(t, "columns"), Rows: rapid.IntRange(1, 60).Draw(t, "rows"), Colors: rapid.Bool().Draw(t, "colors")}
		picture.Keys, picture.Page = rapid.Bool().Draw(t, "keys"), rapid.IntRange(0, 3).Draw(t, "page")
		lines, pages := picture.Draw(&tree, noon)
		if len(lines) > max(picture.Rows-1, 1) {
			t.Fatalf("%d lines on %d rows", len(lines), picture.Rows)
		}
		for _, line := range lines {
			if width := ansi.StringWidthWc(line); width > max(picture.Columns-1, 1) {
				t.Fatalf("%d columns of %d: %q", width, picture.Columns, line)
			}
			plain := line
			for _, color := range []string{view.Red, view.Green, view.Yellow, view.Cyan, view.Reset} {
				if picture.Colors {
					plain = strings.ReplaceAll(plain, color, "")
				}
			}
			if strings.ContainsAny(plain, "\x1b\x07\r\n\u202e") {
				t.Fatalf("it commands the terminal: %q", line)
			}
		}
		if pages == 0 && slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "not shown") || strings.Contains(line, "Space") }) {
			t.Fatalf("everything fits, and is not shown: %q", lines)
		}
	})
}

// TestColumnsStayInLine: what is wide in a terminal, and what takes no room there, moves
// no column, and no half of a character is shown.
func TestColumnsStayInLine(t *testing.T) {
	t.Parallel()
	run := &workflow.RunHistory{ID: "run-1", Run: workflow.Run{Phase: workflow.PhaseExecuting, Tasks: []*workflow.Task{
		{ID: "t1", Agent: "alpha", State: workflow.TaskReady, Plan: &schemas.PlannedTask{Description: schemas.Content{Result: schemas.Result{Text: "plain"}}}},
		{ID: "報告", Agent: "alpha", State: workflow.TaskReady, Plan: &schemas.PlannedTask{Description: schemas.Content{Result: schemas.Result{Text: "第三章を読む"}}}},
		{ID: "cafe\u0301", Agent: "日本", State: workflow.TaskReady, Plan: &schemas.PlannedTask{Description: schemas.Content{Result: schemas.Result{Text: "accented"}}}},
	}}}
	var tree view.Tree
	tree.Put(view.Place{}, run)
	lines, _ := view.Picture{Columns: 45, Rows: 24}.Draw(&tree, noon)
	at := make(map[int]bool)
	for i, description := range []string{"plain", "第三", "accented"} {
		before, _, found := strings.Cut(lines[i+2], description)
		if !found {
			t.Fatalf("%q is not in %q", description, lines[i+2])
		}
		at[ansi.StringWidthWc(before)] = true
	}
	if len(at) != 1 {
		t.Errorf("the descriptions do not stand below each other:\n%s", strings.Join(lines, "\n"))
	}
	if line := lines[3]; !strings.HasSuffix(line, "…") || ansi.StringWidthWc(line) > 44 || ansi.StringWidthWc(line) < 43 {
		t.Errorf("cut to 44 columns it has %d: %q", ansi.StringWidthWc(line), line)
	}
}

// TestColorsAreBesideWords: with colors and without, a picture says the same.
func TestColorsAreBesideWords(t *testing.T) {
	t.Parallel()
	var tree view.Tree
	tree.Put(view.Place{}, sixty())
	colored, _ := view.Picture{Columns: 80, Rows: 24, Colors: true}.Draw(&tree, noon)
	plain, _ := view.Picture{Columns: 80, Rows: 24}.Draw(&tree, noon)
	if all := strings.Join(plain, "\n"); strings.Contains(all, "\x1b") || all != ansi.Strip(strings.Join(colored, "\n")) {
		t.Errorf("in colors\n%s\nwithout\n%s", strings.Join(colored, "\n"), all)
	}
	for _, want := range []string{view.Cyan + "running   " + view.Reset, view.Red + "failed    " + view.Reset, view.Green + "30 completed" + view.Reset} {
		if !strings.Contains(strings.Join(colored, "\n"), want) {
			t.Errorf("%q is not in %q", want, colored)
		}
	}
}

// TestNestedRunsStandBelowTheirTask: also two levels down, and with why they have failed.
func TestNestedRunsStandBelowTheirTask(t *testing.T) {
	t.Parallel()
	var tree view.Tree
	tree.Put(view.Place{}, &workflow.RunHistory{ID: "run-1", Run: workflow.Run{Phase: workflow.PhaseExecuting, Tasks: []*workflow.Task{
		{ID: "t1", Agent: "team", State: workflow.TaskRunning, Plan: &schemas.PlannedTask{Description: schemas.Content{Result: schemas.Result{Text: "the report"}}}}, {ID: "t2", Agent: "echo", State: workflow.TaskPending},
	}}})
	tree.Put(view.Place{Run: "run-1", Task: "t1"}, &workflow.RunHistory{ID: "run-2", Percentage: 50, Run: workflow.Run{Profile: "inner", Phase: workflow.PhaseExecuting, Tasks: []*workflow.Task{
		{ID: "draft", Agent: "crew", State: workflow.TaskFailed, LastFailure: &schemas.TaskFailed{Cause: schemas.FailureTimeout}},
	}}})
	tree.Put(view.Place{Run: "run-2", Task: "draft"}, &workflow.RunHistory{
		ID: "run-3", Run: workflow.Run{Profile: "innermost", Phase: workflow.PhaseComplete, Status: schemas.RunFailed, Reason: schemas.StopInvalidPlan, PlanFaults: []schemas.Reason{schemas.Because(schemas.PlanHasCycle, "tasks", "a")}, Error: &schemas.Error{Reasons: []schemas.Reason{schemas.Because(schemas.PlanMissing)}}},
	})
	tree.Put(view.Place{Run: "nobody", Task: "t1"}, &workflow.RunHistory{ID: "run-4", Run: workflow.Run{Profile: "stray"}})
	lines, pages := view.Picture{Columns: 80, Rows: 24}.Draw(&tree, noon)
	want := []string{
		"  ▸ t1   team running              the report",
		"    ↳ inner 50 %  executing, run run-2",
		"      ✗ draft crew failed",
		"          timeout",
		"        ↳ innermost 0 %  failed (invalid_plan), run run-3",
		"          plan refused: These tasks depend on each other in a circle: a.",
		"          why: There is no plan that can be carried out.",
		"  · t2   echo pending",
	}
	if got := lines[2:]; pages != 0 || !slices.Equal(got, want) {
		t.Errorf("it shows\n%s", strings.Join(got, "\n"))
	}
	lines, _ = view.Picture{Columns: 80, Rows: 6}.Draw(&tree, noon)
	if len(lines) != 5 || lines[2] != want[0] || !strings.Contains(lines[len(lines)-1], "not shown: 1 failed, 1 pending") {
		t.Errorf("with little room it shows\n%s", strings.Join(lines, "\n"))
	}
}

// TestOutcomeTellsEveryFailure: what is left in the end tells all of what has failed, and
// counts what was completed when not everything fits.
func TestOutcomeTellsEveryFailure(t *testing.T) {
	t.Parallel()
	run := sixty()
	run.Phase, run.Status, run.Reason, run.Error = workflow.PhaseComplete, schemas.RunFailed, schemas.StopTaskFailed, &schemas.Error{Reasons: []schemas.Reason{schemas.Because(schemas.RunTaskFailed, "task", "t31", "agent", "alpha", "cause", "agent_refused")}}
	long := strings.Repeat("torn ", 100)
	run.Tasks[34].LastFailure.Detail = long
	var tree view.Tree
	tree.Put(view.Place{}, run)
	told := strings.Join(view.Picture{Columns: 80, Rows: 24}.Outcome(&tree, noon), "\n")
	for i := 31; i <= 34; i++ {
		if want := fmt.Sprintf("page %d is torn", i); !strings.Contains(told, want) {
			t.Errorf("%q is not in\n%s", want, told)
		}
	}
	for _, want := range []string{"failed (task_failed)", "why: The task t31 of the agent alpha", strings.TrimSpace(long), "not shown: 30 completed", "podium runs show run-1 tells of every task"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in\n%s", want, told)
		}
	}
	if told = drawn(run, noon); strings.Contains(told, "not shown") || !strings.Contains(told, "Read chapter 1\n") {
		t.Errorf("without a bound it tells\n%s", told)
	}
}

// TestChangedTasks: a tree says which tasks are in another state than before, and which
// of those that something is said about are there, and keeps nothing that the run it was
// given changes later.
func TestChangedTasks(t *testing.T) {
	t.Parallel()
	run := &workflow.RunHistory{ID: "run-1", Run: workflow.Run{Tasks: []*workflow.Task{{ID: "t1"}, {ID: "t2"}}}}
	var tree view.Tree
	if changed := tree.Put(view.Place{}, run); len(changed) != 2 {
		t.Errorf("at first %v", changed)
	}
	run.Tasks[1] = &workflow.Task{ID: "t2", State: workflow.TaskRunning} // replaced in place, as the fold does
	run.Delivery = &workflow.Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver}
	if changed := tree.Put(view.Place{}, run); len(changed) != 2 || changed[0].ID != "t2" || changed[1].ID != schemas.DeliveryTask {
		t.Errorf("then %v", changed)
	}
	if changed := tree.Put(view.Place{}, run); len(changed) != 0 {
		t.Errorf("without a change %v", changed)
	}
	run.Tasks[0].Message = "reading on"
	if changed := tree.Put(view.Place{}, run, "t1", "t9"); len(changed) != 1 || changed[0].Message != "reading on" {
		t.Errorf("of what is said %v", changed)
	}
	run.Delivery = &workflow.Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver, State: workflow.TaskReady}
	if changed := tree.Put(view.Place{}, run); len(changed) != 1 || changed[0].ID != schemas.DeliveryTask {
		t.Errorf("of the delivery %v", changed)
	}
}

// faults are reasons without a sentence.
func faults(codes []string) []schemas.Reason {
	reasons := make([]schemas.Reason, len(codes))
	for i, code := range codes {
		reasons[i].Code = schemas.ReasonCode(code)
	}
	return reasons
}
