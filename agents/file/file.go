package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// maxTotal bounds what is written for one request, in bytes.
const maxTotal = 256 << 20

// forgotten is the age after which nobody repeats an effect that was begun.
const forgotten = 30 * 24 * time.Hour

// A Config says where files are written, and how they are called.
type Config struct {
	Directory string // is made when the first file is written
	Name      Pattern
	Now       func() time.Time // nil is time.Now
	// Description, SideEffects and InputSchema go to the registry; all may be empty.
	Description string
	SideEffects string
	InputSchema jsontext.Value
}

// An Agent writes files. It is safe for use by several goroutines at once.
type Agent struct {
	config Config
	words  sentences.Catalog

	mu    sync.Mutex // of what is written: two requests of one effect are one after the other
	swept bool
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent.
func New(config Config) (*Agent, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	if config.Directory == "" || config.Name.text == "" {
		return nil, errors.New("file: it needs a directory, and a name for its files")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Agent{config: config, words: words}, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	entry := schemas.Agent{
		Kind: "file", Description: cmp.Or(a.config.Description, "Writes results into files."), SideEffects: a.config.SideEffects, InputSchema: a.config.InputSchema,
	}
	if len(entry.InputSchema) == 0 {
		entry.InputSchema = jsontext.Value(inputSchema)
	}
	return entry
}

// Handle implements agent.Handler.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	a.mu.Lock()
	defer a.mu.Unlock()
	into, err := openFolder(a.config.Directory)
	if err != nil {
		return agent.Outcome{}, a.away(language, err)
	}
	defer func() { _ = into.Close() }()
	if !a.swept {
		if err := into.sweep(a.config.Now().Add(-forgotten)); err != nil {
			return agent.Outcome{}, a.away(language, err)
		}
		a.swept = true
	}
	effect := effectOf(request)
	begun, err := into.recorded(effect)
	if err != nil {
		return agent.Outcome{}, a.away(language, err)
	}
	if begun != nil && begun.Done {
		into.forget(effect, len(begun.Files))
	} else {
		if begun, err = a.write(ctx, request, into, effect, begun); err != nil {
			return agent.Outcome{}, err
		}
	}
	return a.answer(language, begun)
}

// effectOf is what a file is written once for.
func effectOf(request *agent.Request) string {
	if id, err := uuid.Parse(request.EffectID); err == nil {
		return id.String()
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(cmp.Or(request.EffectID, request.MessageID))).String()
}

// write prepares all files, asks for the permit, and gives them their names. What an attempt before it has begun it goes on with.
func (a *Agent) write(ctx context.Context, request *agent.Request, into *folder, effect string, begun *record) (*record, error) {
	about, resumed := begun, begun != nil && into.prepared(effect, begun)
	var err error
	if !resumed {
		about, err = a.prepare(ctx, request, into, effect)
	}
	if err == nil {
		err = request.PermitFor(ctx, about.action())
	}
	if err != nil {
		if !resumed {
			into.forget(effect, max(1, len(request.Task().Context.Attachments)))
		}
		return nil, err
	}
	if err := into.publish(effect, about); err != nil {
		return nil, a.away(request.Task().Context.Language(), err)
	}
	return about, nil
}

// prepare writes the contents where nobody looks for them.
func (a *Agent) prepare(ctx context.Context, request *agent.Request, into *folder, effect string) (*record, error) {
	told, now := &request.Task().Context, a.config.Now()
	if !a.config.Name.takesFiles() {
		name := a.config.Name.name(request, now, "")
		content, err := contentFor(request, name)
		if err != nil {
			return nil, a.nothing(told.Language(), err)
		}
		return a.prepared(told.Language(), into, effect, []string{name}, func(_ int, to io.Writer) error {
			_, err := to.Write(content)
			return err
		})
	}
	if len(told.Attachments) == 0 {
		return nil, a.nothing(told.Language(), errNothing)
	}
	names, total := make([]string, len(told.Attachments)), int64(0)
	for i := range told.Attachments {
		names[i] = a.config.Name.name(request, now, told.Attachments[i].Name)
		total += told.Attachments[i].Size
	}
	if total > maxTotal {
		return nil, &agent.Failure{Message: a.words.Say(told.Language(), "too_large"), Permanent: true, Err: bus.ErrTooLarge}
	}
	return a.prepared(told.Language(), into, effect, names, func(n int, to io.Writer) error {
		content, err := request.Open(ctx, told.Attachments[n].ID)
		if err != nil {
			return fmt.Errorf("open a file of the request: %w", err)
		}
		_, err = io.Copy(to, io.LimitReader(content, maxTotal))
		return errors.Join(err, content.Close())
	})
}

// prepared writes files under names that they do not have yet.
func (a *Agent) prepared(language string, into *folder, effect string, names []string, write func(n int, to io.Writer) error) (*record, error) {
	about := &record{Files: make([]Kept, len(names))}
	for i, name := range names {
		kept, err := into.prepare(effect, i, func(to io.Writer) error { return write(i, to) })
		if err != nil {
			return nil, a.away(language, err)
		}
		kept.Name = name
		about.Files[i] = kept
	}
	return about, nil
}

func (a *Agent) answer(language string, about *record) (agent.Outcome, error) {
	var made agent.Outcome
	names := make([]string, len(about.Files))
	for i := range about.Files {
		names[i] = about.Files[i].Name
		made.Deliverables = append(made.Deliverables, schemas.Deliverable{
			DeliverableID: strconv.Itoa(i + 1), Type: schemas.DeliverableReport, Path: names[i],
		})
	}
	var err error
	made.Text = a.words.Say(language, "written", "{files}", strings.Join(names, ", "))
	made.Data, err = schemas.Marshal(map[string]any{"files": about.Files})
	return made, err
}

// nothing is the failure for what cannot be written, however often it is tried.
func (a *Agent) nothing(language string, err error) *agent.Failure {
	key := "nothing"
	if errors.Is(err, errNoTable) {
		key = "no_table"
	}
	return &agent.Failure{Message: a.words.Say(language, key), Permanent: true, Err: err}
}

// away is the failure of a folder that cannot be written to. What was begun is gone on with by the next attempt, so nothing is in doubt.
func (a *Agent) away(language string, err error) *agent.Failure {
	return &agent.Failure{Message: a.words.Say(language, "away"), Category: schemas.CategoryResource, Err: fmt.Errorf("write a file: %w", err)}
}
