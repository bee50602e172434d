package view

import (
	"fmt"
	"time"

	"podium/cmd/podium/keyboard"
)

// redrawEvery is how often the picture is redrawn: the run, the time that its tasks take
// and the size of the window may have changed.
const redrawEvery = 100 * time.Millisecond

// draw draws until Close, and leaves what came of the run. Keys are read from when the
// first picture does not fit: until then what is typed is meant for the shell.
func (w *Watcher) draw() {
	defer close(w.ended)
	drawn := screen{out: w.terminal}
	clock := time.NewTicker(redrawEvery)
	defer clock.Stop()
	var keys *keyboard.Keyboard
	page := 0
	for {
		pages := w.frame(&drawn, page, keys != nil)
		page = min(page, pages)
		if pages > 0 && keys == nil {
			keys = keyboard.Open(w.terminal.File)
		}
		select {
		case <-clock.C:
		case to := <-keys.Turns():
			page = turned(page, pages, to)
		case <-w.stop:
			keys.Close()
			drawn.close()
			w.outcome()
			return
		}
	}
}

func (w *Watcher) frame(drawn *screen, page int, keys bool) (pages int) {
	columns, rows := w.terminal.size()
	w.mu.Lock()
	lines, pages := Picture{columns, rows, w.terminal.Colors, keys, page}.Draw(&w.tree, time.Now())
	w.mu.Unlock()
	drawn.draw(lines, pages == 0, columns, rows)
	return pages
}

func (w *Watcher) outcome() {
	columns, rows := w.terminal.size()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range (Picture{Columns: columns, Rows: rows, Colors: w.terminal.Colors}).Outcome(&w.tree, time.Now()) {
		_, _ = fmt.Fprintln(w.terminal, line)
	}
}

// Close stops showing, leaves what came of the run where the picture was, and tells
// the story. It returns why a program did not get every change.
func (w *Watcher) Close() error {
	if w.terminal == nil {
		return w.failed
	}
	close(w.stop)
	<-w.ended
	for _, line := range w.story {
		_, _ = fmt.Fprintln(w.out, line)
	}
	w.story = nil
	return nil
}
