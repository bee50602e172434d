// Package view shows runs to people: as plain lines, and live in a terminal.
package view

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A Detail says how much of a run is shown while it goes on.
type Detail int

// The details. Where the output is no terminal, Live is told as Story.
const (
	Nothing Detail = iota // for programs that want the end alone
	Changes               // for programs: an object a line
	Live                  // a bar and the tasks, redrawn
	Story                 // the picture, and below it every fact as a line
)

// A Watcher shows a run while it goes on: live where the output is a terminal,
// as plain lines elsewhere. It is safe for use by several goroutines at once.
type Watcher struct {
	out      io.Writer
	detail   Detail
	terminal *Terminal // nil: lines

	mu     sync.Mutex
	tree   Tree
	failed error    // what could not be written for a program
	story  []string // told when the picture is finished
	stop   chan struct{}
	ended  chan struct{}
}

// Watch starts to show. Close it.
func Watch(out io.Writer, detail Detail) *Watcher {
	w := &Watcher{out: out, detail: detail}
	if detail == Live || detail == Story {
		w.terminal = TerminalOf(out)
	}
	if w.terminal != nil {
		w.stop, w.ended = make(chan struct{}), make(chan struct{})
		go w.draw()
	}
	return w
}

// Show takes the next record of the session, and the run it watches or nil; with a place,
// the next record about a run that was begun for a task of one that was shown before.
func (w *Watcher) Show(place Place, record *schemas.Record, run *workflow.RunHistory) {
	if run == nil || w.detail == Nothing {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.detail == Changes {
		w.change(place, record, run, w.tree.Put(place, run, tasksIn(record, run.Number)...))
		return
	}
	w.tree.Put(place, run)
	if w.terminal == nil || w.detail == Story {
		about := 0
		if place != (Place{}) {
			about = run.Number
		}
		for _, line := range linesAbout(record, about, nil) {
			w.say(record.First().Cause.Time.Local().Format("15:04:05.000") + "  " + w.tree.path(run.ID) + line)
		}
		if asks := Asks(run); w.terminal == nil && len(asks) > 0 && tellsQuestion(record, run.Number) { // which nothing follows until somebody answers
			w.say(w.tree.path(run.ID) + "waits for a person; " + strings.Join(asks[1:], "; ")) // a line has told the question
		}
	}
}

// tellsQuestion reports whether a record says that somebody was told a question of a run.
func tellsQuestion(record *schemas.Record, run int) bool {
	for i := range record.Transitions {
		for _, fact := range record.Transitions[i].Facts {
			if told, is := fact.(*schemas.TaskCompleted); is && told.Run == run && schemas.HasNotificationID(told.Task) {
				return true
			}
		}
	}
	return false
}

func (w *Watcher) say(line string) {
	if w.terminal != nil {
		w.story = append(w.story, line)
		return
	}
	_, _ = fmt.Fprintln(w.out, line)
}
