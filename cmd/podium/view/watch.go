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

// A Watcher shows a run while it goes on: live where the output is a terminal,
// as plain lines elsewhere, and not at all for programs.
type Watcher struct {
	out    io.Writer
	people bool
	live   *tea.Program
	ended  chan struct{}
}

// Watch starts to show. Close it.
func Watch(ctx context.Context, out io.Writer, people bool) *Watcher {
	w := &Watcher{out: out, people: people}
	if file, ok := out.(*os.File); !people || !ok || !term.IsTerminal(int(file.Fd())) {
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
	switch {
	case w.live != nil:
		if run != nil {
			w.live.Send(*run)
		}
	case w.people && run != nil:
		for _, line := range Lines(record) {
			_, _ = fmt.Fprintf(w.out, "%s  %s\n", record.Cause.Time.Local().Format("15:04:05.000"), line)
		}
	}
}

// Close stops showing and leaves the last picture where it is.
func (w *Watcher) Close() {
	if w.live != nil {
		w.live.Quit()
		<-w.ended
	}
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
	return tea.NewView(Picture(m.run, m.now))
}

// Picture draws a run: a bar, then its tasks with state and time.
func Picture(run *schemas.Run, now time.Time) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%s %3d %%  %s\n", bar(run.Percentage), run.Percentage, outcome(run))
	for i := range run.Tasks {
		pictureTask(&b, &run.Tasks[i], now)
	}
	if run.Delivery != nil {
		pictureTask(&b, run.Delivery, now)
	}
	return b.String()
}

func pictureTask(b *strings.Builder, task *schemas.RunTask, now time.Time) {
	took := ""
	switch {
	case task.Dispatched.IsZero():
	case !task.Ended.IsZero():
		took = task.Ended.Sub(task.Dispatched).Round(time.Millisecond).String()
	case now.After(task.Dispatched):
		took = now.Sub(task.Dispatched).Round(100 * time.Millisecond).String()
	}
	_, _ = fmt.Fprintf(b, "  %s %-8s %-12s %-10s %8s  %s\n", mark(task.State), task.Task, task.Agent, task.State, took, short(task.Message))
}

const barWidth = 30

func bar(percentage int) string {
	full := min(max(percentage, 0), 100) * barWidth / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}
