// Package diagnostic says what is wrong with a file that a person has written: where,
// at which key, and which word was likely meant.
package diagnostic

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one thing that is wrong with a file.
type Problem struct {
	File    string `json:"file,omitzero"`
	Line    int    `json:"line,omitzero"`   // 1 is first; 0 when it is not known
	Column  int    `json:"column,omitzero"` // in characters; 1 is first
	Path    string `json:"path,omitzero"`   // such as mail.accounts[0].imap.port
	Message string `json:"message"`
}

// Error implements error: "podium.yaml:3:7: ledger.shards: …".
func (p *Problem) Error() string {
	var text strings.Builder
	if p.File != "" {
		text.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&text, "%d:%d:", p.Line, p.Column)
	}
	if text.Len() > 0 {
		text.WriteString(" ")
	}
	if p.Path != "" {
		text.WriteString(p.Path + ": ")
	}
	text.WriteString(p.Message)
	return text.String()
}

// Problems is everything that is wrong with a file, in its order.
type Problems []*Problem

// Error implements error: one problem a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Sorted returns them in the order of the file, or nil when there are none.
func (p Problems) Sorted() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path))
	})
	return p
}

// ProblemsOf returns the problems that an error holds, in the order of the file; nil
// when it is another kind of error.
func ProblemsOf(err error) Problems {
	problems, _ := errors.AsType[Problems](err)
	return problems
}
