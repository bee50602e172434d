package view_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// TestPagesShowEverything: whoever turns the pages sees every row once, in the order of the
// plan, and the bar on each of them. One page too far is the last.
func TestPagesShowEverything(t *testing.T) {
	t.Parallel()
	var tree view.Tree
	tree.Put(view.Place{}, sixty())
	whole, _ := view.Picture{Columns: 80, Rows: 200}.Draw(&tree, noon)
	var turned []string
	_, pages := view.Picture{Columns: 80, Rows: 24}.Draw(&tree, noon)
	for page := 1; page <= pages; page++ {
		lines, _ := view.Picture{Columns: 80, Rows: 24, Keys: true, Page: page}.Draw(&tree, noon)
		if footer := lines[len(lines)-1]; !strings.HasPrefix(footer, fmt.Sprintf("  page %d of %d (Space: next, b: back", page, pages)) || !slices.Equal(lines[:2], whole[:2]) || len(lines) > 23 {
			t.Errorf("page %d is\n%s", page, strings.Join(lines, "\n"))
		}
		turned = append(turned, lines[2:len(lines)-1]...)
	}
	if !slices.Equal(turned, whole[2:]) || pages != 4 {
		t.Errorf("%d pages show\n%s", pages, strings.Join(turned, "\n"))
	}
	last, _ := view.Picture{Columns: 80, Rows: 24, Page: 4}.Draw(&tree, noon)
	if beyond, _ := (view.Picture{Columns: 80, Rows: 24, Page: 9}).Draw(&tree, noon); !slices.Equal(beyond, last) {
		t.Errorf("beyond the last page is\n%s", strings.Join(beyond, "\n"))
	}
}

// TestKeysAreTold: where pages can be turned, the window says by which key; where not, or
// where all is to be seen, it does not.
func TestKeysAreTold(t *testing.T) {
	t.Parallel()
	var tree view.Tree
	tree.Put(view.Place{}, sixty())
	for _, c := range []struct {
		rows int
		keys bool
		want string // how the last line begins
	}{{24, true, "  … (Space: 4 pages) not shown: "}, {24, false, "  … not shown: "}, {90, true, "  · t60 "}} {
		if lines, _ := (view.Picture{Columns: 80, Rows: c.rows, Keys: c.keys}).Draw(&tree, noon); !strings.HasPrefix(lines[len(lines)-1], c.want) {
			t.Errorf("the last line is %q", lines[len(lines)-1])
		}
	}
	tree = view.Tree{}
	tree.Put(view.Place{}, &workflow.RunHistory{ID: "run-1", Run: workflow.Run{Phase: workflow.PhaseExecuting, Tasks: []*workflow.Task{{ID: "t1", State: workflow.TaskRunning}}}})
	tree.Put(view.Place{Run: "run-1", Task: "t1"}, &workflow.RunHistory{ID: "run-2", Run: workflow.Run{PlanFaults: []schemas.Reason{{Code: "a"}, {Code: "b"}, {Code: "c"}}}})
	if lines, pages := (view.Picture{Columns: 80, Rows: 6, Keys: true}).Draw(&tree, noon); pages != 2 || lines[len(lines)-1] != "  … (Space: 2 pages)" {
		t.Errorf("of a task without room for its notes it shows %q", lines)
	}
}
