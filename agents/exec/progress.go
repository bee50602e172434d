package exec

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"podium/bus/agent"
)

// lineLimit bounds one line of progress, in bytes; the rest of it is dropped.
const lineLimit = 1 << 10

var percentLine = regexp.MustCompile(`^(\d{1,3})\s?%(?:\s+(.*))?$`)

// progress turns the lines of a program's standard error into reports. It is
// for one goroutine at a time.
type progress struct {
	report     agent.Report
	line       []byte
	percentage int
	last       string // the newest line that is not empty
}

func newProgress(report agent.Report) *progress { return &progress{report: report} }

// Write implements io.Writer. It never fails: what a program says on the way
// must not end it.
func (p *progress) Write(chunk []byte) (int, error) {
	written := len(chunk)
	for {
		line, rest, ended := bytes.Cut(chunk, []byte{'\n'})
		p.line = append(p.line, line[:min(len(line), lineLimit-len(p.line))]...)
		if !ended {
			return written, nil
		}
		p.take()
		chunk = rest
	}
}

// finish reports a last line without an end and returns the newest one. Nothing
// may be written afterwards.
func (p *progress) finish() string {
	p.take()
	return p.last
}

// take reports the collected line.
func (p *progress) take() {
	percentage, message := parseLine(p.line)
	p.line = p.line[:0]
	if percentage < 0 && message == "" {
		return
	}
	if percentage >= 0 {
		p.percentage = percentage
	}
	if message != "" {
		p.last = message
	}
	p.report(p.percentage, message)
}

// parseLine reads one line of standard error; the percentage is -1 when the
// line names none.
func parseLine(line []byte) (percentage int, message string) {
	text := strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, string(line))
	text = strings.TrimSpace(text)
	match := percentLine.FindStringSubmatch(text)
	if match == nil {
		return -1, text
	}
	value, err := strconv.Atoi(match[1])
	if err != nil || value > 100 {
		return -1, text
	}
	return value, strings.TrimSpace(match[2])
}
