package mail

import (
	"strings"
	"testing"

	"podium/schemas/sentences"
)

// TestQuestionsAreNoAnswers: what is said of an answer is said of a question too, in every language, and in other words.
func TestQuestionsAreNoAnswers(t *testing.T) {
	t.Parallel()
	words, err := sentences.Read(wordsFile)
	if err != nil {
		t.Fatal(err)
	}
	for language, sentences := range words {
		about := 0
		for key, sentence := range sentences {
			what, is := strings.CutPrefix(key, "answer.")
			if !is {
				continue
			}
			about++
			if question := sentences["question."+what]; question == "" || question == sentence {
				t.Errorf("%s: of a question %q is said as %q", language, what, question)
			}
		}
		if about < 10 {
			t.Errorf("%s: %d sentences are about answers", language, about)
		}
	}
}
