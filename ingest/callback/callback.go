package callback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/ingest/admission"
	"podium/ingest/problem"
	"podium/ingest/webhook"
	"podium/schemas"
)

// MaxBody is the size limit of an answer in bytes.
const MaxBody = 8 << 20

// A Config is what an Adapter needs to know. Fields at zero take the default named.
type Config struct {
	// Agents are those that answer by callback, by name.
	Agents map[string]Agent
	// Open reads a token that was sealed for the agent of that name. It fails on any other one, by a temporary error
	// (bus.TemporaryError) when it could not be told. Required.
	Open func(ctx context.Context, name, token string) (agent.Ticket, error)
	// BodyTimeout bounds how long a body may take to arrive; 30 s.
	BodyTimeout time.Duration
	// PublishTimeout bounds the wait for the ledger; 10 s.
	PublishTimeout time.Duration
	// Answers bounds how many are worked on at once; 64.
	Answers int
	// Now is the clock that signatures and tokens are checked against; time.Now.
	Now func() time.Time
}

// An Agent is one that answers by callback.
type Agent struct {
	// Secret is the one that signs its calls and its callbacks: "whsec_" and base64.
	Secret string
	// Answer publishes what was said as the answer to a request, as agent.Answerer does.
	Answer func(ctx context.Context, ticket *agent.Ticket, said []byte, mediaType string) error
}

// An Adapter takes answers. It is safe for use by several goroutines at once.
type Adapter struct {
	config   Config
	agents   map[string]knownAgent
	stranger *webhook.Verifier // stands for agents that do not exist
	log      zerolog.Logger
	places   chan struct{} // holds one value for each answer that is worked on
}

type knownAgent struct {
	Agent
	verifier *webhook.Verifier
}

// New returns an adapter. An error names every agent that is configured wrongly.
func New(config Config, log zerolog.Logger) (*Adapter, error) {
	config.BodyTimeout = cmp.Or(config.BodyTimeout, 30*time.Second)
	config.PublishTimeout = cmp.Or(config.PublishTimeout, 10*time.Second)
	config.Answers = cmp.Or(config.Answers, 64)
	if config.Now == nil {
		config.Now = time.Now
	}
	made := &Adapter{config: config, agents: map[string]knownAgent{}, stranger: webhook.Decoy(), log: log, places: make(chan struct{}, config.Answers)}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(config.Agents)) {
		verifier, err := webhook.New([]string{config.Agents[name].Secret}, "")
		if err != nil {
			wrong = append(wrong, fmt.Errorf("answers of agent %q: %w", name, err))
			continue
		}
		made.agents[name] = knownAgent{config.Agents[name], verifier}
	}
	return made, errors.Join(wrong...)
}

// Handler returns the adapter's pages, all below /v1/agents/.
func (a *Adapter) Handler() http.Handler {
	const page = "/v1/agents/{name}/answer/{token}"
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+page, a.receive)
	mux.HandleFunc(page, func(w http.ResponseWriter, _ *http.Request) { problem.WriteMethod(w, http.MethodPost) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { problem.Write(w, problemNoPage()) })
	return mux
}

// An accepted says that the ledger holds an answer.
type accepted struct {
	Request string `json:"request"` // that is answered
	ID      string `json:"id"`      // of the response; the same for a repeat
}

// receive is the one way of an answer: token, raw body, signature, the moment, the ledger.
func (a *Adapter) receive(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	known, ok := a.agents[name]
	verifier := known.verifier
	if !ok {
		verifier = a.stranger
	}
	if !verifier.Claims(r.Header, a.config.Now()) {
		admission.Dismiss(w, r)
		problem.Write(w, problemUnauthentic())
		return
	}
	ticket, err := a.config.Open(r.Context(), name, r.PathValue("token"))
	switch {
	case bus.Temporary(err):
		admission.Dismiss(w, r)
		problem.Write(w, problemUnavailable())
		return
	case err != nil || !ok:
		admission.Dismiss(w, r)
		problem.Write(w, problemUnauthentic())
		return
	}
	body, fault := admission.ReadBody(w, r, MaxBody, a.config.BodyTimeout, problemTooLarge())
	if fault != nil {
		problem.Write(w, fault)
		return
	}
	if !verifier.Verify(body, r.Header, a.config.Now()) {
		admission.Dismiss(w, r)
		problem.Write(w, problemUnauthentic())
		return
	}
	admission.Known(r)
	if refusal := a.admit(r.Header, &ticket); refusal != nil {
		problem.Write(w, refusal)
		return
	}
	select {
	case a.places <- struct{}{}:
		defer func() { <-a.places }()
	default:
		problem.Write(w, problemBusy())
		return
	}
	if err := a.answer(r.Context(), known, &ticket, body, r.Header.Get("Content-Type")); err != nil {
		problem.Write(w, a.problemOf(err, name, &ticket))
		return
	}
	problem.WriteJSON(w, http.StatusAccepted, schemas.MediaTypeJSON, accepted{Request: ticket.Request, ID: schemas.ResponseID(ticket.Request)})
}

// admit checks whether the endpoint may answer this now.
func (a *Adapter) admit(header http.Header, ticket *agent.Ticket) *problem.Document {
	if coding := header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return problemFormat()
	}
	if !a.config.Now().Before(ticket.Expires) {
		return problemGone()
	}
	return nil
}

// answer waits for the ledger even if the endpoint has gone: its repeat wants to know.
func (a *Adapter) answer(ctx context.Context, by knownAgent, ticket *agent.Ticket, said []byte, mediaType string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.config.PublishTimeout)
	defer cancel()
	return by.Answer(ctx, ticket, said, mediaType)
}

// problemOf is what an endpoint is told of an answer that was not taken.
func (a *Adapter) problemOf(err error, name string, ticket *agent.Ticket) *problem.Document {
	if errors.Is(err, agent.ErrUnreadable) {
		return problemUnreadable(err)
	}
	if errors.Is(err, bus.ErrTooLarge) {
		return problemTooLarge()
	}
	a.log.WithLevel(problem.Severity(err)).Err(err).Str("agent", name).Str("request", ticket.Request).Msg("an answer by callback could not be stored")
	return problem.OfLedger(err, problemUnavailable().After(problem.RetryFull), problemTooLarge(), problemUnavailable())
}
