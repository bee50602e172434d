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
	"podium/bus/keyring"
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
	// Open reads a token that was sealed for the agent of that name. It fails by keyring.ErrNotSealed on any other
	// one, and by another error when it could not be told. Required.
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
	refusals *refusals
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
	made := &Adapter{
		config: config, agents: map[string]knownAgent{}, stranger: webhook.Decoy(), log: log, places: make(chan struct{}, config.Answers),
		refusals: &refusals{clock: config.Now, log: log, counts: map[refusalKind]*refusalCount{}},
	}
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

func (a *Adapter) receive(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	known, ok := a.agents[name]
	if !ok {
		known.verifier = a.stranger
	}
	request, refused := a.take(w, r, name, known)
	if refused == nil {
		problem.WriteJSON(w, http.StatusAccepted, schemas.MediaTypeJSON, accepted{Request: request, ID: schemas.ResponseID(request)})
		return
	}
	if !ok {
		name = ""
	}
	a.refusals.note(name, refused)
	problem.Write(w, refused.told)
}

// take is the one way of an answer: a fresh signature, the token, the raw body, the signature over it, the moment, the ledger. It returns
// the request that is answered. An agent that does not exist goes as far as one whose secret is wrong.
func (a *Adapter) take(w http.ResponseWriter, r *http.Request, name string, by knownAgent) (request string, refused *refusal) {
	if !by.verifier.Claims(r.Header, a.config.Now()) {
		admission.Dismiss(w, r)
		return "", unauthentic("the header shows no fresh signature")
	}
	ticket, err := a.config.Open(r.Context(), name, r.PathValue("token"))
	switch {
	case errors.Is(err, keyring.ErrNotSealed), err == nil && by.Answer == nil:
		admission.Dismiss(w, r)
		return "", unauthentic("the token was not sealed for this agent")
	case err != nil:
		admission.Dismiss(w, r)
		return "", &refusal{told: problemUnavailable(), reason: "whether the token was sealed here cannot be told now", detail: err}
	}
	defer func() {
		if refused != nil {
			refused.request = ticket.Request
		}
	}()
	body, fault := admission.ReadBody(w, r, MaxBody, a.config.BodyTimeout, problemTooLarge())
	if fault != nil {
		return "", refuse(fault)
	}
	if !by.verifier.Verify(body, r.Header, a.config.Now()) {
		admission.Dismiss(w, r)
		return "", unauthentic("the signature does not hold")
	}
	admission.Known(r)
	if told := a.admit(r.Header, &ticket); told != nil {
		return "", refuse(told)
	}
	select {
	case a.places <- struct{}{}:
		defer func() { <-a.places }()
	default:
		return "", refuse(problemBusy())
	}
	return ticket.Request, a.answer(r.Context(), name, by, &ticket, body, r.Header.Get("Content-Type"))
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
func (a *Adapter) answer(ctx context.Context, name string, by knownAgent, ticket *agent.Ticket, said []byte, mediaType string) *refusal {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.config.PublishTimeout)
	defer cancel()
	err := by.Answer(ctx, ticket, said, mediaType)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, agent.ErrUnreadable):
		told := problemUnreadable(err)
		return &refusal{told: told, reason: told.Title, detail: err}
	case errors.Is(err, bus.ErrTooLarge):
		return refuse(problemTooLarge())
	}
	a.log.WithLevel(problem.Severity(err)).Err(err).Str("agent", name).Str("request", ticket.Request).Msg("an answer by callback could not be stored")
	return &refusal{told: problem.OfLedger(err, problemUnavailable().After(problem.RetryFull), problemTooLarge(), problemUnavailable())}
}
