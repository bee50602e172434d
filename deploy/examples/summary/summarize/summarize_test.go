package summarize_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"podium/deploy/examples/summary/summarize"
)

func newSummarizer(tb testing.TB) *summarize.Summarizer {
	tb.Helper()
	summarizer, err := summarize.New()
	if err != nil {
		tb.Fatal(err)
	}
	return summarizer
}

const article = `NATS is a message bus for services. Lunch was good today.
A bus carries messages between services, and JetStream keeps the messages.
Some people like rain! JetStream lets services read old messages again, e.g. after a crash.`

func TestSummarizePicksTheTellingSentencesInOrder(t *testing.T) {
	t.Parallel()
	summarizer := newSummarizer(t)
	for sentences, want := range map[int]string{
		0: "",
		1: "A bus carries messages between services, and JetStream keeps the messages.",
		2: "A bus carries messages between services, and JetStream keeps the messages. " +
			"JetStream lets services read old messages again, e.g. after a crash.",
		3: "NATS is a message bus for services. A bus carries messages between services, and JetStream keeps the messages. " +
			"JetStream lets services read old messages again, e.g. after a crash.",
		9: strings.Join(strings.Fields(article), " "),
	} {
		if got := summarizer.Summarize(article, sentences); got != want {
			t.Errorf("%d sentences: %q, want %q", sentences, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"":                                 nil,
		"One":                              {"One"},
		"One. Two! Three? Four":            {"One.", "Two!", "Three?", "Four"},
		"Am 3. Mai kam z.B. Dr. A. Huber.": {"Am 3. Mai kam z.B. Dr. A. Huber."},
		"It costs 3.50 today. Good":        {"It costs 3.50 today.", "Good"},
		"He said “Go.” She went.":          {"He said “Go.”", "She went."},
		"Wait... and see. Ok.":             {"Wait... and see.", "Ok."},
		"A heading\n\nThen\ntext.\n \nEnd": {"A heading", "Then text.", "End"},
		"Das war 1999. „Na und?“ Nun. Über.": {"Das war 1999.", "„Na und?“", "Nun.", "Über."},
	}
	summarizer := newSummarizer(t)
	for text, want := range tests {
		if got := summarizer.Sentences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSubjectDropsTheInstruction(t *testing.T) {
	t.Parallel()
	summarizer := newSummarizer(t)
	for text, want := range map[string]string{
		"Please summarize: A text: two parts.":           "A text: two parts.",
		"Summarize the text below.\n\nA text.\n\nMore.":  "A text.\n\nMore.",
		"Hi: add 1+1 and sum up this:\nA text.":          "A text.",
		"Bitte fasse das zusammen:\r\nEin Text.":         "Ein Text.",
		"A note: nothing is asked.":                      "A note: nothing is asked.",
		"Summarize this please":                          "Summarize this please",
		"Summarize this:":                                "Summarize this:",
		"It was unsummarized: so it stays.":              "It was unsummarized: so it stays.",
		"Zusammenfassung um 10:30 Uhr bitte.\n \nInhalt": "Inhalt",
		" \n ": "",
	} {
		if got := summarizer.Subject(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// run gives the program a request and returns what it says.
func run(t *testing.T, description, words string, arguments ...string) (code int, output, progress string) {
	t.Helper()
	task := map[string]any{"description": description, "context": map[string]any{"request": words}}
	body, err := json.Marshal(map[string]any{"type": "execution_request", "payload": map[string]any{"tasks": []any{task}}})
	if err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	code = summarize.Main(arguments, bytes.NewReader(body), &out, &said)
	return code, out.String(), said.String()
}

func TestMainReadsARequest(t *testing.T) {
	t.Parallel()
	want := "A bus carries messages between services, and JetStream keeps the messages.\n"
	for name, texts := range map[string][2]string{
		"the description holds the text":            {"Summarize: " + article, "other words"},
		"the description is only the instruction":   {"Summarize the text", "Calculate 1+1 and summarize this: " + article},
		"there is no description":                   {"", article},
		"the words have no more than the task does": {article, "Summarize it"},
	} {
		code, output, progress := run(t, texts[0], texts[1], "-sentences", "1")
		if code != 0 || output != want || progress != "50% 5 sentences read\n" {
			t.Errorf("%s: code %d, output %q, progress %q", name, code, output, progress)
		}
	}
}

func TestMainRefusesBySysexits(t *testing.T) {
	t.Parallel()
	for want, arguments := range map[int][][]string{
		64: {{"-sentences", "0"}, {"-sentences", "x"}, {"-unknown"}, {"more"}},
		0:  {{"-h"}},
	} {
		for _, given := range arguments {
			if code, output, progress := run(t, article, "", given...); code != want || output != "" || progress == "" {
				t.Errorf("%q: code %d, output %q, progress %q", given, code, output, progress)
			}
		}
	}
	if code, _, _ := run(t, " ", ""); code != 65 {
		t.Errorf("no text: code %d, want 65", code)
	}
	var out, said bytes.Buffer
	for _, input := range []string{"", "{}", "[1]", "text"} {
		if code := summarize.Main(nil, strings.NewReader(input), &out, &said); code != 65 {
			t.Errorf("input %q: code %d, want 65", input, code)
		}
	}
	if code := summarize.Main(nil, iotest.ErrReader(bytes.ErrTooLarge), &out, &said); code != 74 {
		t.Errorf("broken input: code %d, want 74", code)
	}
}

// FuzzSummarize proves that a summary is made of sentences of the text, no more
// than asked for, and nothing else.
func FuzzSummarize(f *testing.F) {
	f.Add(article, 2)
	f.Add("Summarize:\n\nA. b? “C.” d", 1)
	summarizer := newSummarizer(f)
	f.Fuzz(func(t *testing.T, text string, sentences int) {
		subject := summarizer.Subject(text)
		if !strings.Contains(text, subject) {
			t.Fatalf("subject %q is not in %q", subject, text)
		}
		all := summarizer.Sentences(subject)
		rests := map[string]bool{summarizer.Summarize(subject, sentences): true}
		for _, one := range all {
			for rest := range maps.Clone(rests) {
				if behind, begins := strings.CutPrefix(rest, one); begins {
					rests[strings.TrimPrefix(behind, " ")] = true
				}
			}
		}
		if !rests[""] {
			t.Fatalf("the summary of %q is not made of its sentences: %q", subject, slices.Collect(maps.Keys(rests)))
		}
	})
}
