package activity

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"podium/schemas"
)

// Show writes a line for each thing that happens until ctx ends, and then what is left.
// Only whoever shows waits for the output. Call it once.
func (f *Feed) Show(ctx context.Context, out io.Writer, colours bool) error {
	f.shown.Store(true)
	defer f.shown.Store(false)
	w := &writer{out: bufio.NewWriter(out), colours: colours}
	for {
		select {
		case told := <-f.lines:
			w.write(&told)
		case <-ctx.Done():
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
	for range kept {
		select {
		case told := <-f.lines:
			w.write(&told)
			continue
		default:
		}
		break
	}
	if left := f.left.Swap(0); left > 0 {
		w.write(&line{at: time.Now(), mood: careful, said: fmt.Sprintf("%d lines are left out here: the output is slower than the service", left)})
	}
}

type writer struct {
	out     *bufio.Writer
	colours bool
}

// The sequences that begin a colour and end all of them (ECMA-48, SGR).
var begins = map[mood]string{good: "\x1b[32m", bad: "\x1b[31m", careful: "\x1b[33m"}

const ends = "\x1b[0m"

func (w *writer) write(told *line) {
	begin := ""
	if w.colours {
		begin = begins[told.mood]
	}
	_, _ = w.out.WriteString(told.at.Local().Format("15:04:05.000") + "  " + begin + told.sentence())
	if begin != "" {
		_, _ = w.out.WriteString(ends)
	}
	_ = w.out.WriteByte('\n') // an error stays until Flush tells it
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
			b.WriteString("run " + schemas.RunID(l.session, l.run))
		case 't':
			b.WriteString(l.when.Local().Format(time.TimeOnly))
		case 's':
			b.WriteString(l.with[word])
			word++
		}
		rest = after[1:]
	}
}

// spoken turns a word of the ledger into words.
func spoken[T ~string](word T) string { return strings.ReplaceAll(string(word), "_", " ") }
