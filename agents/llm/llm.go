package llm

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	nethttp "net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// DefaultTimeout bounds a request that the configuration does not bound, the call that corrects an answer included.
const DefaultTimeout = 2 * time.Minute

// Enforcing says whether a server holds answers to a JSON Schema (O-34).
type Enforcing string

// What is known of a server.
const (
	EnforcingNever  Enforcing = "never"  // it is not asked to
	EnforcingAlways Enforcing = "always" // it is asked to
	EnforcingProbe  Enforcing = "probe"  // it is asked to if it does: that is tried out once
)

// API says how a server is addressed.
type API string

// The ways.
const (
	APIOpenAI API = "openai" // the model in the request, the key as a bearer's
	APIAzure  API = "azure"  // the deployment in the path, the version in the query, the key in api-key
)

// A Config names a model and what it is for.
type Config struct {
	Role    Role
	BaseURL string // without /chat/completions; with APIAzure that of the resource
	Model   string // with APIAzure the name of the deployment
	API     API    // empty is APIOpenAI
	// APIVersion is the day by which Azure names how it is spoken to, such as 2024-10-21.
	APIVersion string
	Key        string // goes to the server, and nowhere else
	// Client makes the calls. It decides where they may go, how large an answer may be and how long a server may
	// be silent, and follows no redirect.
	Client *nethttp.Client
	// Reason says why the client has brought no answer; nil knows none.
	Reason func(error) Reason
	// Temperature is that of the role when nil.
	Temperature *float64
	MaxTokens   int           // of an answer; 0 is as the server likes
	Timeout     time.Duration // 0 is DefaultTimeout
	Structured  Enforcing     // empty is always with OpenAI and Azure, else never (O-34)
	Prompt      *Prompt       // nil is that of the role
	Vision      bool          // pictures among the files are shown; others are told by their names
	// Description and both schemas go to the registry; all may be empty. An answer is data if there is an
	// OutputSchema, in the roles that do work.
	Description  string
	InputSchema  jsontext.Value
	OutputSchema jsontext.Value
}

// An Agent asks a model for each request. It is safe for use by several goroutines at once.
type Agent struct {
	config  Config
	model   model
	words   sentences.Catalog
	prompts map[string]*Prompt
	probe   probe
	habit   habit
}

var _ agent.Handler = (*Agent)(nil)

//go:embed words.json
var wordsFile []byte

// New returns the agent. It fails on what cannot be asked: an address that is none, no model, no client.
func New(config Config) (*Agent, error) {
	target, err := url.Parse(config.BaseURL)
	switch {
	case err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https":
		return nil, errors.New("llm: the base_url has to begin with https:// or http://")
	case config.Model == "":
		return nil, errors.New("llm: there is no model")
	case (config.API == APIAzure) != (config.APIVersion != ""):
		return nil, errors.New("llm: Azure is spoken to by an api_version, and nobody else is")
	case config.Client == nil:
		return nil, errors.New("llm: there is no client, so that nobody decides where calls may go")
	}
	made := &Agent{config: config, probe: newProbe(), model: newOpenAI(&config)}
	if made.words, err = sentences.Read(wordsFile); err != nil {
		return nil, err
	}
	if made.prompts, err = ownPrompts(config.Role); err != nil {
		return nil, err
	}
	made.config.Structured = cmp.Or(config.Structured, usual(config.API, target.Hostname()))
	made.config.Timeout = cmp.Or(config.Timeout, DefaultTimeout)
	if config.Temperature == nil {
		temperature := config.Role.temperature()
		made.config.Temperature = &temperature
	}
	return made, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	return schemas.Agent{
		Kind: "llm", Description: cmp.Or(a.config.Description, "Asks a language model."), InputSchema: a.config.InputSchema,
		OutputSchema: a.config.OutputSchema, Kinds: []schemas.RequestKind{a.config.Role.Kind()},
	}
}

// Handle implements agent.Handler; see the package's documentation.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	limited, cancel := context.WithTimeoutCause(ctx, a.config.Timeout, errTimeout)
	defer cancel()
	asking := &asking{agent: a, language: language}
	outcome, err := asking.answer(limited, request)
	if asking.tokens > 0 {
		outcome.Usage = &schemas.ResourceUsage{TokensUsed: &asking.tokens}
	}
	if err != nil {
		err = a.failure(ctx, limited, language, err)
	}
	return outcome, err
}

// asking is one request on its way.
type asking struct {
	agent    *Agent
	language string
	tokens   int
	waited   time.Duration // for a server that had no room
}

func (s *asking) answer(ctx context.Context, request *agent.Request) (agent.Outcome, error) {
	a := s.agent
	var asked question
	if a.config.Role.decides() {
		if err := schemas.Unmarshal(request.Task().Context.Arguments, &asked); err != nil {
			return agent.Outcome{}, errUnusable
		}
	}
	asked.plan = request.Task().Context.Plan
	shaped, err := a.shapeOf(&asked)
	if err != nil {
		return agent.Outcome{}, err
	}
	marks := newMarks()
	chat := chat{temperature: *a.config.Temperature, maxTokens: a.config.MaxTokens}
	var seen []string
	if a.config.Vision {
		if chat.images, seen, err = images(ctx, request); err != nil {
			return agent.Outcome{}, err
		}
	}
	chat.user = a.user(request, &asked, seen, marks)
	if chat.system, err = a.system(&asked, shaped, s.language, marks); err != nil {
		return agent.Outcome{}, err
	}
	if shaped == nil {
		return s.inWords(ctx, chat, marks, request.Partial)
	}
	return s.inData(ctx, chat, shaped, marks)
}

// inWords asks for words, and tells them as they come.
func (s *asking) inWords(ctx context.Context, chat chat, marks marks, tell func(text string)) (agent.Outcome, error) {
	question := chat.user
	for attempt := 1; ; attempt++ {
		looked := 0 // bytes of the answer at the last look
		made, err := s.ask(ctx, chat, func(text string) {
			// Each look reads the whole text. It has to grow by a part of it, so that all looks together stay linear.
			if len(text) < looked+looked/64 {
				return
			}
			looked = len(text)
			if s.agent.habit.canShow(text) {
				tell(wordsSoFar(s.agent.hideSoFar(text)))
			}
		})
		if err != nil {
			return agent.Outcome{}, err
		}
		words, err := wordsIn(made.text)
		switch {
		case err == nil && made.finish == finishLength:
			return s.part(words, "cut"), nil
		case err == nil:
			return agent.Text(words), nil
		case attempt == corrections:
			return agent.Outcome{}, &invalidError{err.Error()}
		}
		chat.user = s.agent.corrected(question, made.text, err.Error(), s.language, marks)
	}
}

// corrections is how often an answer is asked for that has to be what is asked for.
const corrections = 2

// inData asks for data, and once more if they are not what they have to be.
func (s *asking) inData(ctx context.Context, chat chat, shaped *shape, marks marks) (agent.Outcome, error) {
	enforced, err := s.enforced(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	if enforced {
		chat.format = &format{name: string(s.agent.config.Role), schema: shaped.asked, strict: shaped.strict}
	}
	question := chat.user
	for attempt := 1; ; attempt++ {
		made, err := s.ask(ctx, chat, nil)
		if err != nil {
			return agent.Outcome{}, err
		}
		value, err := shaped.read(made.text)
		if made.finish == finishLength { // repaired, half a plan would be a plan
			err = &invalidError{"it is cut off at its greatest length"}
		}
		if err == nil {
			return agent.Outcome{Result: schemas.Result{Data: value}}, nil
		}
		invalid, _ := errors.AsType[*invalidError](err)
		if attempt == corrections {
			if words, none := wordsIn(made.text); s.agent.config.Role == RoleWorker && none == nil {
				return s.part(words, "formless"), nil
			}
			return agent.Outcome{}, err
		}
		chat.user = s.agent.corrected(question, made.text, invalid.fault, s.language, marks)
	}
}

// part is words that are not all that was asked for.
func (s *asking) part(words, why string) agent.Outcome {
	made := agent.Text(words)
	made.Status = schemas.StatusPartial
	made.Issues = []schemas.Issue{{Severity: "medium", Description: s.agent.words.Say(s.language, why), Resolution: schemas.ResolutionDeferred}}
	return made
}

// ask makes one call, and counts what it has cost. What it tells comes as a stream, and is the words so far.
func (s *asking) ask(ctx context.Context, chat chat, tell func(text string)) (completion, error) {
	made, err := s.call(ctx, chat, tell)
	for s.waitForRoom(ctx, err) {
		made, err = s.call(ctx, chat, tell)
	}
	if _, refused := errors.AsType[*statusError](err); !refused {
		s.tokens += cmp.Or(made.tokens, estimate(chat.system, chat.user, made.text)+len(chat.images)*tokensPerImage)
	}
	if err == nil && made.finish == finishFiltered {
		err = errFiltered
	}
	made.text = s.agent.hide(made.text)
	if err == nil {
		s.agent.habit.learn(made.text)
	}
	return made, err
}

func (s *asking) call(ctx context.Context, chat chat, tell func(text string)) (completion, error) {
	if tell != nil {
		return s.agent.model.stream(ctx, chat, tell)
	}
	return s.agent.model.complete(ctx, chat)
}

// tokensPerImage is roughly what a picture costs.
const tokensPerImage = 1000

// estimate is roughly how many tokens texts have.
func estimate(texts ...string) int {
	const bytesPerToken = 4
	bytes := 0
	for _, text := range texts {
		bytes += len(text)
	}
	return (bytes + bytesPerToken - 1) / bytesPerToken
}

// shortestKey is how long a key is that is none by chance: "ollama" is what some servers want, and a word.
const shortestKey = 16

// hide leaves the key out of what a server has said.
func (a *Agent) hide(text string) string {
	if len(a.config.Key) < shortestKey {
		return text
	}
	return strings.ReplaceAll(text, a.config.Key, "***")
}

// hideSoFar is hide for a text that goes on: its end is held back while it may become the key.
func (a *Agent) hideSoFar(text string) string {
	text = a.hide(text)
	if len(a.config.Key) < shortestKey {
		return text
	}
	for held := min(len(a.config.Key)-1, len(text)); held > 0; held-- {
		if strings.HasSuffix(text, a.config.Key[:held]) {
			return text[:len(text)-held]
		}
	}
	return text
}
