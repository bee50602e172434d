package retrieval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/agents/members"
	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// A Mode is what an agent does with its index.
type Mode string

// The modes.
const (
	ModeLearn Mode = "learn"
	ModeRead  Mode = "read"
)

const (
	maxText     = 1 << 20  // bytes of what is learned at once
	maxPassage  = 1500     // bytes, but for a word that is longer
	maxQuestion = 64 << 10 // bytes that are searched for, at the beginning of a question: each word of it is a search
	defaultHits = 5
	defaultWait = 5 * time.Second
	maxHits     = 50
)

// A Config says which index an agent works on.
type Config struct {
	Directory string // of the index; it is made when something is learned
	Mode      Mode
	Compounds *Compounds // nil is none
	// Wait is how long an agent waits for others who have the index open; zero is five seconds.
	Wait time.Duration
	// Members are what members of its arguments and results are called here.
	Members members.Names
	// Description and InputSchema go to the registry; without a schema it is InputSchema of the mode.
	Description string
	InputSchema jsontext.Value
}

// An Agent learns, or finds what was learned. It is safe for use by several goroutines at once.
type Agent struct {
	config Config
	words  sentences.Catalog

	turn chan struct{}      // held while the index is open, which it can be once
	held map[string]version // files that were held to their sums; whoever has the turn may
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent.
func New(config Config) (*Agent, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	if config.Directory == "" || config.Mode != ModeLearn && config.Mode != ModeRead {
		return nil, errors.New("retrieval: it needs an index, and the mode learn or read")
	}
	config.Wait = cmp.Or(config.Wait, defaultWait)
	return &Agent{config: config, words: words, turn: make(chan struct{}, 1), held: map[string]version{}}, nil
}

// InputSchema is the JSON Schema of the arguments (G-13).
func InputSchema(mode Mode) jsontext.Value {
	if mode == ModeLearn {
		return jsontext.Value(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["text_for_embedding", "context", "validated_by_human"],
  "properties": {
    "text_for_embedding": {"type": "string", "minLength": 1},
    "context": {"type": "object"},
    "validated_by_human": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}}
  }
}`)
	}
	return jsontext.Value(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["query"],
  "properties": {
    "query": {"type": "string", "minLength": 1},
    "tags": {"type": "array", "items": {"type": "string"}},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50}
  }
}`)
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	does := map[Mode]string{ModeLearn: "Learns what a person has validated.", ModeRead: "Finds passages of what was learned."}
	entry := schemas.Agent{Kind: "retrieval", Description: cmp.Or(a.config.Description, does[a.config.Mode]), InputSchema: a.config.InputSchema}
	if len(entry.InputSchema) == 0 {
		entry.InputSchema = a.config.Members.Write(InputSchema(a.config.Mode))
	}
	return entry
}

// arguments of both modes.
type arguments struct {
	Text      string         `json:"text_for_embedding"`
	Context   jsontext.Value `json:"context"`
	Validated *bool          `json:"validated_by_human"`
	Tags      []string       `json:"tags"`
	Query     string         `json:"query"`
	Limit     int            `json:"limit"`
}

// Handle implements agent.Handler.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	told := &request.Task().Context
	var asked arguments
	if len(told.Arguments) > 0 {
		if err := schemas.Unmarshal(a.config.Members.Read(told.Arguments), &asked); err != nil {
			return agent.Outcome{}, a.refuse(told.Language(), "arguments", errors.New("the arguments cannot be read"))
		}
	}
	if a.config.Mode == ModeLearn {
		return a.learn(ctx, request, &asked)
	}
	return a.read(ctx, told, &asked)
}

// learn takes in what a person has validated, and nothing else.
func (a *Agent) learn(ctx context.Context, request *agent.Request, asked *arguments) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	switch {
	case asked.Validated == nil || !*asked.Validated:
		return agent.Outcome{}, a.refuse(language, "not_validated", errors.New("no person has validated it"))
	case strings.TrimSpace(asked.Text) == "" || asked.Context.Kind() != '{':
		return agent.Outcome{}, a.refuse(language, "arguments", errors.New("there is no text, or no context"))
	case len(asked.Text) > maxText:
		return agent.Outcome{}, a.refuse(language, "too_long", errors.New("the text has more than 1 MiB"))
	}
	var passages []passage
	for _, text := range divided(asked.Text) {
		passages = append(passages, passage{
			Text: text, Parts: a.config.Compounds.parts(text), Source: sourceOf(asked.Context, request.Run), Tags: asked.Tags, Context: string(asked.Context),
		})
	}
	if err := request.Permit(ctx); err != nil {
		return agent.Outcome{}, err
	}
	count := 0
	err := a.inTurn(ctx, func() (err error) {
		count, err = a.store(ctx, effectOf(request), passages)
		return err
	})
	if err != nil {
		return agent.Outcome{}, a.away(ctx, language, err) // it is all there or nothing, and a repeat changes nothing
	}
	made, err := agent.Data(map[string]any{"id": effectOf(request), "passages": count})
	key := "learned"
	if count == 1 {
		key = "learned_one"
	}
	made.Text = a.words.Say(language, key, "{count}", strconv.Itoa(count))
	return made, err
}

// effectOf is what passages are learned once for.
func effectOf(request *agent.Request) string {
	if id, err := uuid.Parse(request.EffectID); err == nil {
		return id.String()
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(cmp.Or(request.EffectID, request.MessageID))).String()
}

// sourceOf is where a text is from, as its context says, else the run that it was learned in.
func sourceOf(context jsontext.Value, run string) string { return cmp.Or(saidSource(context), run) }

// saidSource is where a text is from by its context; empty when that does not say so.
func saidSource(context jsontext.Value) string {
	var said struct {
		Source string `json:"source"`
		Title  string `json:"title"`
	}
	if schemas.Unmarshal(context, &said) != nil {
		return ""
	}
	return cmp.Or(said.Source, said.Title)
}

// read finds what is about the words of a task.
func (a *Agent) read(ctx context.Context, told *schemas.TaskContext, asked *arguments) (agent.Outcome, error) {
	question := strings.TrimSpace(cmp.Or(asked.Query, told.Request))
	if question == "" || asked.Limit < 0 || asked.Limit > maxHits {
		return agent.Outcome{}, a.refuse(told.Language(), "no_query", errors.New("there is no question, or a limit above 50"))
	}
	var hits []finding
	err := a.inTurn(ctx, func() (err error) {
		hits, err = a.find(ctx, beginningOf(question), asked.Tags, cmp.Or(asked.Limit, defaultHits))
		return err
	})
	if err != nil {
		return agent.Outcome{}, a.away(ctx, told.Language(), err)
	}
	results := make([]map[string]any, len(hits))
	lines := make([]string, len(hits))
	for i := range hits {
		hit := &hits[i]
		results[i] = map[string]any{"id": hit.ID, "score": hit.Score, "source": hit.Source, "passage": hit.Passage, "tags": hit.Tags, "context": jsontext.Value(cmp.Or(hit.Context, "{}"))}
		lines[i] = fmt.Sprintf("%d. %s", i+1, hit.Passage)
		if source := saidSource(jsontext.Value(hit.Context)); source != "" { // a run means nothing to people
			lines[i] += " (" + source + ")"
		}
	}
	made, err := agent.Data(map[string]any{"query": question, "results": results})
	made.Data = a.config.Members.Write(made.Data)
	if made.Text = strings.Join(lines, "\n\n"); len(hits) == 0 {
		made.Text = a.words.Say(told.Language(), "nothing")
	}
	return made, err
}

// inTurn works on the index once nobody else in this process does.
func (a *Agent) inTurn(ctx context.Context, work func() error) error {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-a.turn }()
	return guarded(work)
}

// beginningOf is as much of a question as is searched for.
func beginningOf(question string) string {
	if len(question) <= maxQuestion {
		return question
	}
	end := max(0, strings.LastIndexAny(question[:maxQuestion], " \t\n"))
	return strings.ToValidUTF8(question[:cmp.Or(end, maxQuestion)], "")
}

// divided are the passages of a text: its paragraphs, as many together as have room, and parts of those that have none.
func divided(text string) []string {
	var passages []string
	current := ""
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		if current != "" && paragraph != "" && len(current)+2+len(paragraph) > maxPassage {
			passages, current = append(passages, current), ""
		}
		for len(paragraph) > maxPassage {
			end := max(strings.LastIndex(paragraph[:maxPassage], ". ")+1, strings.LastIndexAny(paragraph[:maxPassage], " \n"))
			if end <= 0 {
				end = len(paragraph)
				if next := strings.IndexAny(paragraph, " \n"); next > 0 {
					end = next
				}
			}
			passages, paragraph = append(passages, strings.TrimSpace(paragraph[:end])), strings.TrimSpace(paragraph[end:])
		}
		current = strings.TrimSpace(current + "\n\n" + paragraph)
	}
	if current != "" {
		passages = append(passages, current)
	}
	return passages
}

func (a *Agent) refuse(language, key string, err error) *agent.Failure {
	return &agent.Failure{Message: a.words.Say(language, key), Permanent: true, Err: err}
}

// away is the failure of an index that cannot be worked on now.
func (a *Agent) away(ctx context.Context, language string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the request was stopped: %w", context.Cause(ctx))
	}
	failure := &agent.Failure{Message: a.words.Say(language, "away"), Category: schemas.CategoryResource, Err: fmt.Errorf("work on the index: %w", err)}
	switch {
	case errors.Is(err, errInUse):
		failure.Message = a.words.Say(language, "in_use")
	case errors.Is(err, errDamaged):
		failure.Permanent = true
		failure.Remedy = "put " + a.config.Directory + " back from a backup, or move it away and have everything learned again"
	}
	return failure
}
