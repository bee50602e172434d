package carddav

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/dav"
	"podium/agents/members"
	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// A Config names an address book.
type Config struct {
	Server dav.Config
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// Members are what members of its arguments and results are called here.
	Members members.Names

	// Description and the schemas go to the registry; all may be empty.
	Description  string
	InputSchema  jsontext.Value
	OutputSchema jsontext.Value
}

// An Agent keeps one address book. It is safe for use by several goroutines at once.
type Agent struct {
	config Config
	server *dav.Client
	words  sentences.Catalog

	creating chan struct{} // held from looking whether somebody is listed until the contact is: of two for one name one is made
}

var _ agent.Handler = (*Agent)(nil)

//go:embed words.json
var wordsFile []byte

//go:embed input.schema.json
var inputSchema []byte

// InputSchema is the JSON Schema of the arguments (G-09).
func InputSchema() jsontext.Value { return inputSchema }

// New returns the agent. It fails on an address that is none.
func New(config Config) (*Agent, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	server, err := dav.New(dav.AddressBooks(), config.Server)
	if err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Agent{config: config, server: server, words: words, creating: make(chan struct{}, 1)}, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	input := a.config.InputSchema
	if len(input) == 0 {
		input = a.config.Members.Write(InputSchema())
	}
	return schemas.Agent{
		Kind: "carddav", Description: cmp.Or(a.config.Description, "Creates, changes, finds and deletes contacts in an address book."),
		InputSchema: input, OutputSchema: a.config.OutputSchema, SideEffects: schemas.SideEffectsExternal,
	}
}

// Check reports whether the server answers and has the address book.
func (a *Agent) Check(ctx context.Context) error { return a.server.Check(ctx) }

// The actions.
const (
	actionCreate = "create"
	actionUpdate = "update"
	actionSearch = "search"
	actionDelete = "delete"
)

// A Result is the data of an answer.
type Result struct {
	Action   string    `json:"action"`
	Contacts []Contact `json:"contacts"`
}

// A Contact is what the agent knows of one; empty is what the address book does not say.
type Contact struct {
	Name      string `json:"name,omitzero"`
	Phone     string `json:"phone,omitzero"`
	Email     string `json:"email,omitzero"`
	Address   string `json:"address,omitzero"`
	BirthDate string `json:"birth_date,omitzero"` // 1980-01-31
	Number    string `json:"number,omitzero"`     // by which the user of the address book knows them
}

// A job is one request at work.
type job struct {
	*Agent
	dav.Job
	wanted struct {
		Action string  `json:"action"`
		Data   Contact `json:"contact_data"`
	}
}

// Handle implements agent.Handler; see the package's documentation.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	j := &job{Agent: a, Job: a.server.Job(request, a.words)}
	outcome, err := j.act(ctx)
	if err == nil {
		return outcome, nil
	}
	if refused, is := errors.AsType[*refusal](err); is {
		return agent.Outcome{}, &agent.Failure{Message: j.Say(refused.key), Permanent: true, Err: refused}
	}
	if needed, is := errors.AsType[*need](err); is {
		return j.ask(needed), nil
	}
	return agent.Outcome{}, j.Stopped(ctx, err)
}

// A refusal is what is not done, and why: a sentence.
type refusal struct{ key string }

// Error implements error, for the log: without what anybody has said.
func (r *refusal) Error() string { return "not done: " + r.key }

func refuse(key string) error { return &refusal{key} }

func (j *job) act(ctx context.Context) (agent.Outcome, error) {
	if err := j.read(); err != nil {
		return agent.Outcome{}, err
	}
	switch j.wanted.Action {
	case actionCreate:
		return j.create(ctx)
	case actionUpdate:
		return j.update(ctx)
	case actionDelete:
		return j.delete(ctx)
	case actionSearch:
		return j.search(ctx)
	}
	return agent.Outcome{}, refuse("arguments")
}

// The most characters of what is stored.
const (
	maxName  = 200
	maxField = 300
)

// read takes the arguments over, each on one line.
func (j *job) read() error {
	if err := dav.ReadArguments(j.Request, j.config.Members, &j.wanted); err != nil {
		return refuse("arguments")
	}
	data := &j.wanted.Data
	data.Name = dav.Plain(data.Name, maxName)
	for _, field := range [...]*string{&data.Phone, &data.Email, &data.Address, &data.Number} {
		*field = dav.Plain(*field, maxField)
	}
	if _, err := time.Parse(time.DateOnly, data.BirthDate); err != nil && data.BirthDate != "" {
		return refuse("arguments")
	}
	return nil
}
