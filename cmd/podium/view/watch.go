package view

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"podium/schemas"
)

// A Detail says how much of a run is shown while it goes on.
type Detail int

// The details. Where the output is no terminal, a picture is told as a story.
const (
	Nothing Detail = iota // for programs
	Picture               // a bar and the tasks, redrawn
	Story                 // the picture, and below it every fact as a line
)

// A Watcher shows a run while it goes on: live where the output is a terminal,
// as plain lines elsewhere.
type Watcher struct {
	out    io.Writer
	detail Detail
	live   *tea.Program
	ended  chan struct{}
	story  []string // told when the picture is finished
}

// Watch starts to show. Close it.
func Watch(ctx context.Context, out io.Writer, detail Detail) *Watcher {
	w := &Watcher{out: out, detail: detail}
	if guard, ok := out.(*Guard); ok {
		out = guard.Unwrap() // what is drawn below is plain
	}
	if file, ok := out.(*os.File); detail == Nothing || !ok || !term.IsTerminal(int(file.Fd())) {
		return w
	}
	w.live = tea.NewProgram(liveRun{}, tea.WithContext(ctx), tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler())
	w.ended = make(chan struct{})
	go func() {
		defer close(w.ended)
		_, _ = w.live.Run() // it ends by Close or with the context; what it drew stays
	}()
	return w
}

// Show takes the next record of the session, and the run it watches or nil.
func (w *Watcher) Show(record *schemas.Record, run *schemas.Run) {
	if run == nil || w.detail == Nothing {
		return
	}
	if w.live == nil || w.detail == Story {
		for _, line := range Lines(record) {
			w.say(record.Cause.Time.Local().Format("15:04:05.000") + "  " + line)
		}
	}
	if w.live != nil {
		w.live.Send(*run)
	}
}

func (w *Watcher) say(line string) {
	if w.live != nil {
		w.story = append(w.story, line)
		return
	}
	_, _ = fmt.Fprintln(w.out, line)
}

// Close stops showing, leaves the last picture where it is, and tells the story.
func (w *Watcher) Close() {
	if w.live == nil {
		return
	}
	w.live.Quit()
	<-w.ended
	for _, line := range w.story {
		_, _ = fmt.Fprintln(w.out, line)
	}
	w.story = nil
}

// liveRun is the picture of a run in a terminal.
type liveRun struct {
	run *schemas.Run
	now time.Time
}

type clockTick time.Time

const redrawEvery = 200 * time.Millisecond

func nextTick() tea.Cmd {
	return tea.Tick(redrawEvery, func(t time.Time) tea.Msg { return clockTick(t) })
}

// Init implements tea.Model.
func (liveRun) Init() tea.Cmd { return nextTick() }

// Update implements tea.Model.
func (m liveRun) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case schemas.Run:
		m.run = &message
	case clockTick:
		m.now = time.Time(message)
		return m, nextTick()
	}
	return m, nil
}

// View implements tea.Model.
func (m liveRun) View() tea.View {
	if m.run == nil {
		return tea.NewView("waiting for the supervisor …\n")
	}
	return tea.NewView(Draw(m.run, m.now))
}

// Draw draws a run: a bar, then its tasks with state and time.
func Draw(run *schemas.Run, now time.Time) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%s %3d %%  %s\n", bar(run.Percentage), run.Percentage, outcome(run))
	for _, fault := range run.PlanFaults {
		_, _ = fmt.Fprintf(&b, "  plan refused: %s\n", short(fault))
	}
	if why := why(run); why != "" {
		_, _ = fmt.Fprintf(&b, "  why: %s\n", short(why))
	}
	for i := range run.Tasks {
		pictureTask(&b, &run.Tasks[i], now)
	}
	if run.Delivery != nil {
		pictureTask(&b, run.Delivery, now)
	}
	return b.String()
}

func pictureTask(b *strings.Builder, task *schemas.RunTask, now time.Time) {
	took, says := "", task.Message
	if task.Failure != "" && task.State != schemas.TaskStateCompleted {
		says = failure(task)
	}
	if task.Unserved != nil {
		says = unserved(task.Agent, task.Unserved.Since)
	}
	switch {
	case task.Dispatched.IsZero():
	case !task.Ended.IsZero():
		took = task.Ended.Sub(task.Dispatched).Round(time.Millisecond).String()
	case now.After(task.Dispatched):
		took = now.Sub(task.Dispatched).Round(100 * time.Millisecond).String()
	}
	_, _ = fmt.Fprintf(b, "  %s %-8s %-12s %-10s %8s  %s\n", mark(task.State), Line(task.Task, 0), Line(task.Agent, 0), task.State, took, short(says))
}

const barWidth = 30

func bar(percentage int) string {
	full := min(max(percentage, 0), 100) * barWidth / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}
