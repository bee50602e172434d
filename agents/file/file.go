package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
	"podium/schemas/table"
)

// maxTotal bounds what is written for one request, in bytes.
const maxTotal = 256 << 20

// forgotten is the age after which nobody repeats an effect that was begun.
const forgotten = 30 * 24 * time.Hour

// abandonWithin is how long a request that is not permitted waits for the folder.
const abandonWithin = time.Second

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

	swept atomic.Bool
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
	into, err := openFolder(a.config.Directory)
	if err != nil {
		return agent.Outcome{}, a.away(request.Task().Context.Language(), err)
	}
	defer func() { _ = into.Close() }()
	effect := effectOf(request)
	about, err := a.begin(ctx, request, into, effect)
	if err == nil && !about.Done {
		about, err = a.finish(ctx, request, into, effect, about)
	}
	if err != nil {
		return agent.Outcome{}, err
	}
	return a.answer(request.Task().Context.Language(), about)
}

// effectOf is what a file is written once for.
func effectOf(request *agent.Request) string {
	if id, err := uuid.Parse(request.EffectID); err == nil {
		return id.String()
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(cmp.Or(request.EffectID, request.MessageID))).String()
}

// begin returns what is written for an effect, with its contents prepared.
func (a *Agent) begin(ctx context.Context, request *agent.Request, into *folder, effect string) (*record, error) {
	unlock, err := a.lock(ctx, request, into)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !a.swept.Load() {
		if err := into.sweep(a.config.Now().Add(-forgotten)); err != nil {
			return nil, a.away(request.Task().Context.Language(), err)
		}
		a.swept.Store(true)
	}
	return a.begun(ctx, request, into, effect, nil)
}

// begun is what is on record for an effect, else what this attempt has prepared, else what it prepares now. The folder is locked.
func (a *Agent) begun(ctx context.Context, request *agent.Request, into *folder, effect string, own *record) (*record, error) {
	found, err := into.recorded(effect)
	switch {
	case err != nil:
		return nil, a.away(request.Task().Context.Language(), err)
	case found != nil && found.Done:
		into.forget(effect, len(found.Files))
		return found, nil
	case found != nil && into.prepared(effect, found):
		return found, nil
	case own != nil && into.prepared(effect, own):
		return own, nil
	}
	about, err := a.prepare(ctx, request, into, effect)
	if err != nil && found == nil {
		into.forget(effect, filesOf(request))
	}
	return about, err
}

// finish asks for the permit, and gives prepared files their names. Nobody waits for a permit with the folder locked, so that another process may
// have done it meanwhile, or have given up.
func (a *Agent) finish(ctx context.Context, request *agent.Request, into *folder, effect string, about *record) (*record, error) {
	if err := request.PermitFor(ctx, about.action()); err != nil {
		a.abandon(ctx, request, into, effect)
		return nil, err
	}
	unlock, err := a.lock(ctx, request, into)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if about, err = a.begun(ctx, request, into, effect, about); err != nil || about.Done {
		return about, err
	}
	if err := into.publish(effect, about); err != nil {
		return nil, a.away(request.Task().Context.Language(), err)
	}
	return about, nil
}

// abandon removes what was prepared and is not permitted, unless an attempt before has begun to give it names. What it cannot remove is swept later.
func (a *Agent) abandon(ctx context.Context, request *agent.Request, into *folder, effect string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	unlock, err := a.lock(ctx, request, into)
	if err != nil {
		return
	}
	defer unlock()
	if begun, err := into.recorded(effect); err == nil && begun == nil {
		into.forget(effect, filesOf(request))
	}
}

// filesOf is how many files a request may have prepared.
func filesOf(request *agent.Request) int { return max(1, len(request.Task().Context.Attachments)) }

// lock keeps the folder from other requests and processes.
func (a *Agent) lock(ctx context.Context, request *agent.Request, into *folder) (unlock func(), err error) {
	unlock, err = into.lock(ctx)
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the request was stopped while the folder was in use: %w", context.Cause(ctx))
	}
	return nil, a.away(request.Task().Context.Language(), err)
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
	switch {
	case errors.Is(err, errNoTable):
		key = "no_table"
	case errors.Is(err, table.ErrTooLarge):
		key = "table_too_large"
	}
	return &agent.Failure{Message: a.words.Say(language, key), Permanent: true, Err: err}
}

// away is the failure of a folder that cannot be written to. What was begun is gone on with by the next attempt, so nothing is in doubt.
func (a *Agent) away(language string, err error) *agent.Failure {
	return &agent.Failure{Message: a.words.Say(language, "away"), Category: schemas.CategoryResource, Err: fmt.Errorf("write a file into %s: %w", a.config.Directory, nameless(err))}
}

// nameless is an error of the operating system without the name of a file, which a stranger may have given it.
func nameless(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	if link, is := errors.AsType[*os.LinkError](err); is {
		return fmt.Errorf("%s: %w", link.Op, link.Err)
	}
	return err
}
