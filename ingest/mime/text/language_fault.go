package text

import (
	"fmt"
	"strings"
)

// A LanguageFault is one thing that is wrong with the file of a language.
type LanguageFault struct {
	File         string
	Line, Column int    // 1 is first; 0 when it is not known. Column counts characters
	Path         string // such as header.from[2]
	Message      string
	// Unknown is a key that there is none of, and Known are those that there are. Both
	// are empty where the key is.
	Unknown string
	Known   []string
}

// Error implements error: "languages/eo.json:3:5: attributions[0]: …".
func (f *LanguageFault) Error() string {
	text := f.File + ":"
	if f.Line > 0 {
		text += fmt.Sprintf("%d:%d:", f.Line, f.Column)
	}
	if f.Path != "" {
		text += " " + f.Path + ":"
	}
	return text + " " + f.Message
}

// LanguageFaults are all that are wrong with the files of a folder.
type LanguageFaults []*LanguageFault

// Error implements error: one fault a line.
func (f LanguageFaults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults.
func (f LanguageFaults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, one := range f {
		errs[i] = one
	}
	return errs
}
