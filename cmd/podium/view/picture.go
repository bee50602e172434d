package view

import (
	"fmt"
	"strings"
	"time"

	"podium/schemas/workflow"
	"podium/supervisor/say"
)

// A Picture is what a run looks like in a terminal of a size.
type Picture struct {
	Columns, Rows int
	Colors        bool
	Keys          bool // pages can be turned
	Page          int  // 1 is the first; 0 follows what is at work
}

// Draw draws a run while it goes on: a bar, then its tasks, each on a line of its own
// that is cut to the width, and below a task what there is to say of it and the runs
// that are begun for it. There are at most Rows-1 lines. When nothing had to be left
// out, pages is 0. Else it is how many there are; Page, or the last one, is drawn, or a window
// that follows what is at work and what has failed, and counts what is not in it.
func (p Picture) Draw(tree *Tree, now time.Time) (lines []string, pages int) {
	if tree.root == nil {
		return []string{"waiting for the supervisor …"}, 0
	}
	d := drawing{pen: pen{p.Colors}, now: now}
	room := max(p.Rows-1, 1)
	for _, line := range d.above(&tree.root.run, mostFaults) {
		lines = append(lines, cut(line, p.Columns-1))
	}
	d.run(tree.root, 0)
	var chosen []bool
	if len(lines)+len(d.rows) > room {
		if room -= len(lines) + 1; room < 1 {
			return lines[:min(max(p.Rows-1, 1), len(lines))], 1
		}
		pages = d.pagesOf(room)
		if p.Page = min(p.Page, pages); p.Page > 0 {
			chosen = d.page(p.Page, room)
		} else {
			chosen = d.window(room)
		}
	}
	shown, left := d.told(chosen)
	if footer := p.footer(left, pages); pages > 0 && footer != "" {
		shown = append(shown, footer)
	}
	for _, line := range shown {
		lines = append(lines, cut(line, p.Columns-1))
	}
	return lines, pages
}

// Outcome draws what came of a run. All is told of what has failed, on lines as long
// as they are. When not everything fits, completed tasks are counted instead.
func (p Picture) Outcome(tree *Tree, now time.Time) []string {
	if tree.root == nil {
		return nil
	}
	d := drawing{pen: pen{p.Colors}, now: now}
	lines := d.above(&tree.root.run, 0)
	d.run(tree.root, 0)
	var chosen []bool
	if p.Rows > 0 && len(lines)+len(d.rows) >= p.Rows {
		chosen = d.unlessCompleted()
	}
	for i := range d.rows {
		if p.Columns > 0 && d.rows[i].state != "" {
			d.rows[i].text = cut(d.rows[i].text, p.Columns-1)
		}
	}
	shown, left := d.told(chosen)
	lines = append(lines, shown...)
	if left != "" {
		lines = append(lines, "  … not shown: "+left)
	}
	if chosen != nil {
		lines = append(lines, "  podium runs show "+Line(tree.root.run.ID, 0)+" tells of every task")
	}
	return lines
}

// A drawing collects the rows of a picture.
type drawing struct {
	pen

	now  time.Time
	rows []row
}

// mostFaults is how many faults of a plan stand above the tasks while a run goes on.
const mostFaults = 3

// above is what stands above the tasks of a run; all faults if most is 0.
func (d *drawing) above(run *workflow.RunHistory, most int) []string {
	lines := []string{fmt.Sprintf("%s %3d %%  %s", bar(run.Percentage), run.Percentage, d.in(runColor(run.Status), outcome(run)))}
	if len(run.Tasks) > 1 {
		lines = append(lines, fmt.Sprintf("%d tasks: %s", len(run.Tasks), d.counted(countOf(run.Tasks))))
	}
	return append(lines, d.whyOf(run, most)...)
}

// whyOf says why a plan was refused, and what a run has failed of.
func (d *drawing) whyOf(run *workflow.RunHistory, most int) (lines []string) {
	for i, fault := range run.PlanFaults {
		if most > 0 && i == most {
			lines = append(lines, fmt.Sprintf("  and %d more faults of the plan", len(run.PlanFaults)-most))
			break
		}
		lines = append(lines, "  "+d.in(Red, "plan refused")+": "+Line(say.Reason(say.English(), fault), detailLength))
	}
	if why := why(run); why != "" {
		lines = append(lines, "  "+d.in(runColor(run.Status), "why")+": "+why)
	}
	if run.Withheld != nil {
		lines = append(lines, "  "+d.in(Yellow, "answer withheld")+": "+withheld(run.Withheld))
	}
	for _, asks := range Asks(run) {
		word, said, _ := strings.Cut(asks, ":")
		lines = append(lines, "  "+d.in(Yellow, word)+":"+said)
	}
	return lines
}

// counts are how many tasks are in each state.
type counts map[workflow.TaskState]int

func countOf(tasks []*workflow.Task) counts {
	count := make(counts)
	for i := range tasks {
		count[tasks[i].State]++
	}
	return count
}

// counted tells counts in words, what is at work first.
func (d *drawing) counted(count counts) string {
	var told []string
	for _, state := range [...]workflow.TaskState{
		workflow.TaskWaitingInput, workflow.TaskWaitingApproval, workflow.TaskBlocked, workflow.TaskRunning, workflow.TaskDispatched, workflow.TaskFailed, workflow.TaskReady, workflow.TaskPending,
		workflow.TaskCompleted, workflow.TaskSkipped, workflow.TaskCancelled,
	} {
		if count[state] > 0 {
			_, color := look(state)
			told = append(told, d.in(color, fmt.Sprintf("%d %s", count[state], stateName(state))))
		}
	}
	return strings.Join(told, ", ")
}

const barWidth = 30

func bar(percentage int) string {
	full := min(max(percentage, 0), 100) * barWidth / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}
