package document

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
	"podium/schemas/table"
)

// A Format is what a document is kept as.
type Format string

// The formats.
const (
	FormatHTML Format = "html"
	FormatPDF  Format = "pdf"
)

func (f Format) mediaType() string {
	if f == FormatPDF {
		return "application/pdf"
	}
	return "text/html"
}

// A Config is what documents are made from, and what the registry is told of the agent.
type Config struct {
	Templates *Templates
	Formats   []Format // both when empty
	// Description and InputSchema go to the registry; without a schema it is that of the templates.
	Description string
	InputSchema jsontext.Value
}

// An Agent writes documents. It is safe for use by several goroutines at once.
type Agent struct {
	config Config
	words  sentences.Catalog
	fonts  map[face]*outlines
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent. It fails without templates.
func New(config Config) (*Agent, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	if config.Templates == nil {
		return nil, errors.New("document: there are no templates; a configuration that names their directory has to be read from a file")
	}
	if len(config.Formats) == 0 {
		config.Formats = []Format{FormatHTML, FormatPDF}
	}
	made := &Agent{config: config, words: words}
	if made.fonts, err = readFonts(); err != nil {
		return nil, err
	}
	return made, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	entry := schemas.Agent{
		Kind: "document", Description: cmp.Or(a.config.Description, "Writes documents from templates."), InputSchema: a.config.InputSchema,
	}
	if len(entry.InputSchema) == 0 {
		entry.InputSchema = InputSchema(a.config.Templates.names)
	}
	return entry
}

// Written is the data of a result.
type Written struct {
	Template string   `json:"template"`
	Title    string   `json:"title"`
	Files    []string `json:"files"`
}

// Handle implements agent.Handler. Failures are permanent: the same data give the same document.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	asked, err := argumentsOf(&request.Task().Context)
	if err != nil {
		return agent.Outcome{}, a.failure(language, "arguments", err)
	}
	name := a.chosen(asked)
	if name == "" {
		return a.whichTemplate(language, asked), nil
	}
	f := &filling{say: func(key string) string { return a.words.Say(language, key) }}
	source, err := f.fill(a.config.Templates.byName[strings.ToLower(name)], asked.data)
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, table.ErrTooLarge):
		return agent.Outcome{}, a.failure(language, "too_long", err)
	case err != nil: // it may hold a person's data
		return agent.Outcome{}, a.failure(language, "not_filled", fmt.Errorf("the template %s does not fit the data", name), "{template}", name)
	case len(f.missing) > 0:
		return agent.Outcome{Status: schemas.StatusBlocked, Needs: needsOf(f.missing)}, nil
	}
	report(50, "") // the rest takes moments
	return a.keep(ctx, request, name, read(source, name, language))
}

// chosen is the template that a request names: by template, else by document_type. It is empty when there is none.
func (a *Agent) chosen(asked *arguments) string {
	for _, name := range []string{asked.Template, asked.DocumentType} {
		at := slices.IndexFunc(a.config.Templates.names, func(known string) bool { return strings.EqualFold(known, strings.TrimSpace(name)) })
		if at >= 0 {
			return a.config.Templates.names[at]
		}
	}
	return ""
}

// whichTemplate asks for one of those that there are.
func (a *Agent) whichTemplate(language string, asked *arguments) agent.Outcome {
	schema, err := schemas.Marshal(map[string]any{"enum": a.config.Templates.names})
	if err != nil {
		schema = nil // texts can be written
	}
	name := "document_type"
	if asked.DocumentType != "" {
		name = "template"
	}
	question := map[string]string{language: a.words.Say(language, "which", "{templates}", strings.Join(a.config.Templates.names, ", "))}
	return agent.Outcome{Status: schemas.StatusBlocked, Needs: []schemas.Need{{Name: name, Question: question, Schema: schema}}}
}

// keep makes the files of a document. A file that cannot be made leaves no other behind in the answer.
func (a *Agent) keep(ctx context.Context, request *agent.Request, name string, made *page) (agent.Outcome, error) {
	written := Written{Template: name, Title: made.title}
	var outcome agent.Outcome
	for _, format := range a.config.Formats {
		content, err := a.render(made, format)
		if lacking, is := errors.AsType[*glyphError](err); is {
			return agent.Outcome{}, a.failure(made.language, "no_glyph", err, "{characters}", lacking.listed())
		}
		if err != nil {
			return agent.Outcome{}, a.failure(made.language, "too_long", fmt.Errorf("write %s as %s: %w", name, format, err))
		}
		file := name + "." + string(format)
		kept, err := request.Keep(ctx, bytes.NewReader(content), file, format.mediaType())
		if err != nil {
			return agent.Outcome{}, fmt.Errorf("keep a document: %w", err)
		}
		metadata, err := schemas.Marshal(kept.Artifact)
		if err != nil {
			return agent.Outcome{}, err
		}
		outcome.Deliverables = append(outcome.Deliverables, schemas.Deliverable{
			DeliverableID: string(format), Type: schemas.DeliverableDocumentation, Path: file, Description: made.title, Metadata: metadata,
		})
		written.Files = append(written.Files, file)
	}
	var err error
	outcome.Data, err = schemas.Marshal(written)
	outcome.Text = a.words.Say(made.language, "written", "{title}", made.title, "{files}", strings.Join(written.Files, ", "))
	return outcome, err
}

func (a *Agent) render(made *page, format Format) ([]byte, error) {
	if format == FormatPDF {
		return made.drawn(a.fonts)
	}
	return made.html(a.config.Templates.layout)
}

func (a *Agent) failure(language, key string, err error, places ...string) *agent.Failure {
	return &agent.Failure{Message: a.words.Say(language, key, places...), Permanent: true, Err: err}
}
