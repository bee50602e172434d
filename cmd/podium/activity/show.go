package activity

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"podium/cmd/podium/view"
	"podium/schemas"
)

// An Output is where lines are written.
type Output struct {
	io.Writer
	Colors bool // it is a terminal
	JSON   bool // an object a line
}

// Begin has lines kept for Show: all that happens, or only what Say is told.
func (f *Feed) Begin(everything bool) {
	f.said.Store(true)
	f.shown.Store(everything)
}

// Show writes the lines that are kept since Begin until ctx ends, and then what is left.
// Only whoever shows waits for the output. After an error nothing is kept any more.
func (f *Feed) Show(ctx context.Context, out Output) error {
	defer f.said.Store(false)
	defer f.shown.Store(false)
	w := &writer{out: bufio.NewWriter(out), to: out}
	for {
		select {
		case told := <-f.lines:
			w.write(&told)
		case <-ctx.Done():
			for len(f.lines) > 0 {
				f.rest(w)
			}
			f.rest(w)
			return w.out.Flush()
		}
		f.rest(w)
		if err := w.out.Flush(); err != nil {
			return err
		}
	}
}

// rest writes what has come meanwhile, and says how much was left out.
func (f *Feed) rest(w *writer) {
	for more := true; more; {
		select {
		case told := <-f.lines:
			w.write(&told)
			more = w.out.Buffered() < w.out.Size()/2 // what is there is shown soon, however much comes
		default:
			more = false
		}
	}
	if left := f.left.Swap(0); left > 0 {
		w.write(&line{at: time.Now(), event: "left_out", mood: careful, said: fmt.Sprintf("%d lines are left out here: the output is slower than the service", left)})
	}
}

type writer struct {
	out *bufio.Writer
	to  Output
}

// write writes a line; an error stays until Flush tells it.
func (w *writer) write(told *line) {
	sentence := view.Line(told.sentence(), 0)
	if w.to.JSON {
		_ = encode(w.out, told.at, told.event, told.name(), sentence)
		return
	}
	begin, end := "", ""
	if w.to.Colors && told.mood != plain {
		begin, end = string(told.mood), view.Reset
	}
	_, _ = w.out.WriteString(told.at.Local().Format("15:04:05.000") + "  " + begin + sentence + end + "\n")
}

// WriteJSON writes a sentence as Show writes one of Say.
func WriteJSON(out io.Writer, at time.Time, sentence string) error {
	return encode(out, at, saidEvent, "", sentence)
}

// saidEvent is what Say tells.
const saidEvent = "service"

func encode(out io.Writer, at time.Time, event, run, sentence string) error {
	return json.NewEncoder(out).Encode(struct {
		Time  time.Time `json:"time"`
		Event string    `json:"event"`
		Run   string    `json:"run,omitempty"`
		Text  string    `json:"text"`
	}{at.UTC(), event, run, sentence})
}

// name is the id of the run that a line is about; empty when it is about none.
func (l *line) name() string {
	if l.run == 0 {
		return ""
	}
	return schemas.RunID(l.session, l.run)
}

// sentence fills in the arguments: %r the run, %s the next word, %t the moment.
func (l *line) sentence() string {
	var b strings.Builder
	word := 0
	for rest := l.said; ; {
		text, after, found := strings.Cut(rest, "%")
		b.WriteString(text)
		if !found || after == "" {
			return b.String()
		}
		switch after[0] {
		case 'r':
			b.WriteString("run " + l.name())
		case 't':
			b.WriteString(l.when.Local().Format(time.TimeOnly))
		case 's':
			b.WriteString(l.with[word])
			word++
		}
		rest = after[1:]
	}
}
