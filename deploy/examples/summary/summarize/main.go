package summarize

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
)

// inputLimit bounds the request, in bytes.
const inputLimit = 16 << 20

// DefaultSentences is how many sentences a summary has.
const DefaultSentences = 2

// ErrInput reports a request that is none, or that holds no text.
var ErrInput = errors.New("nothing to summarize")

// The exit codes, by sysexits(3).
const (
	exitOK    = 0
	exitUsage = 64
	exitData  = 65
	exitInput = 74
)

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

// Main is the program: Run with flags. It says on progress what goes wrong and
// returns the exit code: 0, 64 for wrong flags, 65 for ErrInput, else 74.
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
	err := run(*sentences, input, output, progress)
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(progress, err)
	if errors.Is(err, ErrInput) {
		return exitData
	}
	return exitInput
}

// Run reads an execution_request, prints the summary of the text in it as plain
// text, in DefaultSentences sentences, and says how far it is on progress. It
// returns ErrInput for a request without text.
func Run(input io.Reader, output, progress io.Writer) error {
	return run(DefaultSentences, input, output, progress)
}

func run(sentences int, input io.Reader, output, progress io.Writer) error {
	body, err := io.ReadAll(io.LimitReader(input, inputLimit))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	var asked request
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.Payload.Tasks) == 0 {
		return fmt.Errorf("%w: standard input is not an execution_request with a task", ErrInput)
	}
	summarizer, err := New()
	if err != nil {
		return err
	}
	task := asked.Payload.Tasks[0]
	text := summarizer.choose(task.Description, task.Context.Request, sentences)
	if text == "" {
		return fmt.Errorf("%w: the task holds no text", ErrInput)
	}
	if _, err := fmt.Fprintf(progress, "50%% %d sentences read\n", len(summarizer.Sentences(text))); err != nil {
		return fmt.Errorf("say how far it is: %w", err)
	}
	if _, err := fmt.Fprintln(output, summarizer.Summarize(text, sentences)); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	return nil
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
