package workflow

import (
	"strings"

	"podium/schemas"
)

// AnswerText assembles the words that a person gets from the texts of the parts
// of an answer, in order, and from what failed, told in their language. A
// failure stands above the parts that are there all the same, notes below them. A summary is told instead of the parts.
func AnswerText(parts []string, failure *schemas.Error, language, notes, summary string) string {
	if summary != "" {
		parts = []string{summary}
	}
	var paragraphs []string
	if failure != nil {
		paragraphs = append(paragraphs, failure.Message[language])
	}
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			paragraphs = append(paragraphs, part)
		}
	}
	if notes != "" {
		paragraphs = append(paragraphs, notes)
	}
	return strings.Join(paragraphs, "\n\n")
}
