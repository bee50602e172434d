package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one thing that is wrong with a configuration.
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

// Problems is everything that is wrong with a configuration, in the order of the file.
type Problems []*Problem

// Error implements error: one problem a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (p Problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
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

// nearest returns the candidate that a mistyped word most likely means, or "".
func nearest(word string, candidates []string) string {
	best, distance := "", max(2, len([]rune(word))/3)+1
	for _, candidate := range slices.Sorted(slices.Values(candidates)) {
		if d := levenshtein(strings.ToLower(word), strings.ToLower(candidate)); d < distance && d < len([]rune(candidate)) {
			best, distance = candidate, d
		}
	}
	return best
}

// Suggest completes a message about a word that is not one of the candidates.
func Suggest(message, word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", message, near)
	}
	if len(candidates) == 0 {
		return message
	}
	return message + "; it can be: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}

// levenshtein counts the characters to insert, delete or replace between two words.
func levenshtein(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			replace := diagonal
			if r != s {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
