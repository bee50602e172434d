package scripted

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

const (
	progressSteps    = 20                     // of a delay
	progressInterval = 250 * time.Millisecond // between two steps at least
	maxQuoted        = 200                    // characters of the words in a failure
)

// A Config is a script and what the registry is told of its agent.
type Config struct {
	Script *Script
	// Description, both schemas, SideEffects and Kinds go to the registry; all may be empty.
	Description  string
	InputSchema  jsontext.Value
	OutputSchema jsontext.Value
	SideEffects  string
	Kinds        []schemas.RequestKind
}

// An Agent answers by its script. It is safe for use by several goroutines at once.
type Agent struct {
	config Config
	words  sentences.Catalog
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent. It fails without a script.
func New(config Config) (*Agent, error) {
	loaded, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	if config.Script == nil {
		return nil, errors.New("scripted: there is no script; a configuration that names one has to be read from a file")
	}
	return &Agent{config: config, words: loaded}, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	entry := schemas.Agent{
		Kind: "scripted", Description: cmp.Or(a.config.Description, "Answers by a script."),
		InputSchema: a.config.InputSchema, OutputSchema: a.config.OutputSchema,
		SideEffects: a.config.SideEffects, Kinds: a.config.Kinds,
	}
	if len(entry.InputSchema) == 0 {
		entry.InputSchema = jsontext.Value(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`)
	}
	return entry
}

// Handle implements agent.Handler.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	answer := a.config.Script.answer(request)
	if answer == nil {
		return agent.Outcome{}, &agent.Failure{
			Message: a.words.Say(language, "nothing", "{words}", quoted(askedFor(request))), Permanent: true,
			Err: errors.New("no case of the script fits, and it has no otherwise"),
		}
	}
	if err := wait(ctx, answer.Delay, report); err != nil {
		return agent.Outcome{}, err
	}
	text, err := answer.Text.fill(request)
	if err != nil { // its words may hold those of a person
		return agent.Outcome{}, &agent.Failure{
			Message: a.words.Say(language, "not_filled"), Permanent: true, Err: fmt.Errorf("the text of %s does not fit the request", answer.Place),
		}
	}
	made := answer.Made
	if made.Deliverables, err = answer.keep(ctx, request); err != nil {
		return agent.Outcome{}, err
	}
	if answer.Acts {
		told, err := schemas.Marshal(map[string]string{"text": text})
		if err != nil {
			return agent.Outcome{}, err
		}
		if err := request.PermitFor(ctx, schemas.Action{Summary: answer.Place, Data: told}); err != nil {
			return agent.Outcome{}, err
		}
	}
	if answer.Fails != "" {
		return made, answer.failure(cmp.Or(text, a.words.Say(language, "fails")))
	}
	made.Text = text
	return made, nil
}

// keep stores the files of an answer, and returns a deliverable for each.
func (a *Answer) keep(ctx context.Context, request *agent.Request) ([]schemas.Deliverable, error) {
	made := slices.Clone(a.Made.Deliverables)
	for i := range a.Files {
		file := &a.Files[i]
		kept, err := request.Keep(ctx, bytes.NewReader(file.Content), file.About.Path, file.MediaType)
		if err != nil {
			return nil, fmt.Errorf("keep a file of %s: %w", a.Place, err)
		}
		about := file.About
		if about.Metadata, err = schemas.Marshal(kept.Artifact); err != nil {
			return nil, err
		}
		made = append(made, about)
	}
	return made, nil
}

func (a *Answer) failure(words string) *agent.Failure {
	failure := &agent.Failure{
		Message: words, Err: fmt.Errorf("%s fails: %s", a.Place, a.Fails),
		Permanent: a.Fails == FailsPermanent, Unknown: a.Fails == FailsUnknown,
	}
	if a.Fails == FailsResource {
		failure.Category = schemas.CategoryResource
	}
	return failure
}

// wait lets time pass and says how much of it has. It fails when nobody waits any more.
func wait(ctx context.Context, delay time.Duration, report agent.Report) error {
	if delay <= 0 {
		return nil
	}
	started := time.Now()
	over, step := time.NewTimer(delay), time.NewTicker(max(delay/progressSteps, progressInterval))
	defer over.Stop()
	defer step.Stop()
	for {
		select {
		case <-over.C:
			return nil
		case <-step.C:
			report(min(99, int(100*time.Since(started)/delay)), "")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// quoted is the beginning of words.
func quoted(words string) string {
	if characters := []rune(words); len(characters) > maxQuoted {
		return string(characters[:maxQuoted]) + "…"
	}
	return words
}
