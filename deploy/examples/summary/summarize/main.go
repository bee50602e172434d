package summarize

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
)

// The exit codes, by sysexits(3).
const (
	exitOK    = 0
	exitUsage = 64
	exitData  = 65
	exitInput = 74
)

// inputLimit bounds the request, in bytes.
const inputLimit = 16 << 20

// DefaultSentences is how many sentences a summary has.
const DefaultSentences = 2

// A request is the part of an execution_request that matters here.
type request struct {
	Payload struct {
		Tasks []struct {
			Description string `json:"description"`
			Context     struct {
				Request string `json:"request"`
			} `json:"context"`
		} `json:"tasks"`
	} `json:"payload"`
}

// Main is the whole program: it reads an execution_request, prints the summary
// as plain text and says how far it is on progress. It returns the exit code: 0,
// 64 for wrong flags, 65 for a request without text, 74 when reading or writing
// fails.
func Main(arguments []string, input io.Reader, output, progress io.Writer) int {
	flags := flag.NewFlagSet("summary", flag.ContinueOnError)
	flags.SetOutput(progress)
	sentences := flags.Int("sentences", DefaultSentences, "how many sentences the summary has")
	if err := flags.Parse(arguments); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil || *sentences < 1 || flags.NArg() > 0 {
		_, _ = fmt.Fprintln(progress, "usage: summary [-sentences N], with N at least 1")
		return exitUsage
	}
	body, err := io.ReadAll(io.LimitReader(input, inputLimit))
	if err != nil {
		_, _ = fmt.Fprintln(progress, "the request cannot be read")
		return exitInput
	}
	var asked request
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.Payload.Tasks) == 0 {
		_, _ = fmt.Fprintln(progress, "standard input is not an execution_request with a task")
		return exitData
	}
	summarizer, err := New()
	if err != nil {
		_, _ = fmt.Fprintln(progress, err)
		return exitInput
	}
	task := asked.Payload.Tasks[0]
	text := summarizer.choose(task.Description, task.Context.Request, *sentences)
	if text == "" {
		_, _ = fmt.Fprintln(progress, "there is no text to summarize")
		return exitData
	}
	_, _ = fmt.Fprintf(progress, "50%% %d sentences read\n", len(summarizer.Sentences(text)))
	if _, err := fmt.Fprintln(output, summarizer.Summarize(text, *sentences)); err != nil {
		return exitInput
	}
	return exitOK
}

// choose returns the text to summarize: that of the task's description, unless
// it is too short to choose from and the person's own words have more.
func (s *Summarizer) choose(description, words string, sentences int) string {
	own, all := s.Subject(description), s.Subject(words)
	if count := len(s.Sentences(own)); count <= sentences && len(s.Sentences(all)) > count {
		return all
	}
	return own
}
