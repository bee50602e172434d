package caldav

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

// DefaultDuration is how long an appointment lasts of which nobody says so.
const DefaultDuration = 30 * time.Minute

// Hours are those of a day in which appointments are made, as time since its midnight.
type Hours struct{ From, Until time.Duration }

// A Config names a calendar and says how it is kept.
type Config struct {
	Server dav.Config
	// Location is where days begin, and times are meant and told. Nil is UTC.
	Location *time.Location
	// Duration is that of appointments that do not say theirs; 0 means DefaultDuration.
	Duration time.Duration
	// Hours bound appointments that are made, on each day; zero is the whole day.
	Hours Hours
	// Opening bounds them by the day of the week, instead of Hours.
	Opening Opening
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// Members are what members of its arguments are called here.
	Members members.Names

	// Description and the schemas go to the registry; all may be empty.
	Description  string
	InputSchema  jsontext.Value
	OutputSchema jsontext.Value
}

// An Agent keeps one calendar. It is for one request at a time.
type Agent struct {
	config Config
	server *dav.Client
	words  sentences.Catalog
}

var _ agent.Handler = (*Agent)(nil)

//go:embed words.json
var wordsFile []byte

//go:embed input.schema.json
var inputSchema []byte

// InputSchema is the JSON Schema of the arguments (G-08).
func InputSchema() jsontext.Value { return inputSchema }

// New returns the agent. It fails on an address that is none.
func New(config Config) (*Agent, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	server, err := dav.New(dav.Calendars(), config.Server)
	if err != nil {
		return nil, err
	}
	if config.Duration < 0 {
		return nil, errors.New("caldav: duration must not be negative")
	}
	config.Location, config.Duration = cmp.Or(config.Location, time.UTC), cmp.Or(config.Duration, DefaultDuration)
	if config.Hours == (Hours{}) {
		config.Hours.Until = 24 * time.Hour
	}
	if config.Opening.IsZero() {
		config.Opening = daily(config.Hours)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Agent{config: config, server: server, words: words}, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	input := a.config.InputSchema
	if len(input) == 0 {
		input = a.config.Members.Write(InputSchema())
	}
	return schemas.Agent{
		Kind: "caldav", Description: cmp.Or(a.config.Description, "Makes, moves, cancels and lists appointments in a calendar."),
		InputSchema: input, OutputSchema: a.config.OutputSchema, SideEffects: schemas.SideEffectsExternal,
	}
}

// Check reports whether the server answers and has the calendar.
func (a *Agent) Check(ctx context.Context) error { return a.server.Check(ctx) }

// The actions.
const (
	actionSchedule   = "schedule"
	actionReschedule = "reschedule"
	actionCancel     = "cancel"
	actionQuery      = "query"
)

// A Result is the data of an answer.
type Result struct {
	Action       string   `json:"action"`
	Appointments []Listed `json:"appointments"`
	Free         []Slot   `json:"free,omitzero"` // of a day, within the hours, when a day was asked for
}

// A Listed appointment is told in the calendar's own zone.
type Listed struct {
	Date            string `json:"date"`
	Time            string `json:"time,omitzero"` // none of an all-day entry
	DurationMinutes int    `json:"duration_minutes"`
	Summary         string `json:"summary"`
	AllDay          bool   `json:"all_day,omitzero"`
	Recurring       bool   `json:"recurring,omitzero"`
	WasDate         string `json:"was_date,omitzero"` // before it was moved
	WasTime         string `json:"was_time,omitzero"`
}

// A Slot is free time.
type Slot struct {
	From  string `json:"from"`
	Until string `json:"until"`
}

// A job is one request at work.
type job struct {
	*Agent
	dav.Job
	wanted wanted
}

// Handle implements agent.Handler; see the package's documentation.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	j := &job{Agent: a, Job: a.server.Job(request, a.words)}
	if err := j.read(); err != nil {
		return agent.Outcome{}, err
	}
	outcome, err := j.act(ctx)
	if err == nil {
		return outcome, nil
	}
	if refused, is := errors.AsType[*refusal](err); is {
		return agent.Outcome{}, j.failure(refused)
	}
	if needed, is := errors.AsType[*need](err); is {
		return j.ask(needed), nil
	}
	return agent.Outcome{}, j.Stopped(ctx, err)
}

func (j *job) act(ctx context.Context) (agent.Outcome, error) {
	switch j.wanted.Action {
	case actionSchedule:
		return j.schedule(ctx)
	case actionReschedule:
		return j.reschedule(ctx)
	case actionCancel:
		return j.cancel(ctx)
	case actionQuery:
		return j.query(ctx)
	}
	return agent.Outcome{}, refuse("arguments")
}
