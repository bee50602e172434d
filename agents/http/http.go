package http

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// HeaderCallback is where the endpoint of an asynchronous agent may post its answer later.
const HeaderCallback = "Podium-Callback"

// The bounds of a call that the configuration does not bound.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBody  = 8 << 20 // bytes of an answer
	DefaultMaxFiles = 4 << 20 // bytes of files in a request, and in an answer
)

// A Config names an endpoint and bounds what it is asked.
type Config struct {
	URL string
	// Secret signs the calls: base64, with or without "whsec_" before it. Empty signs nothing.
	Secret string
	// Client makes the calls. It decides where they may go, and follows no redirect.
	Client *nethttp.Client
	// Barred reports whether the client has refused to connect, so that no attempt can help; nil is never.
	Barred func(error) bool
	// Timeout bounds one call; 0 means DefaultTimeout. MaxBody and MaxFiles are bytes; 0 means
	// their defaults.
	Timeout  time.Duration
	MaxBody  int64
	MaxFiles int64
	// Callback returns the address at which the endpoint may answer a request later, and makes the agent
	// asynchronous; it needs a secret. Nil waits for every answer.
	Callback func(request *agent.Request) (string, error)
	// Now is the clock of signatures; nil is time.Now.
	Now func() time.Time

	// Description, both schemas, SideEffects and Kinds go to the registry; all may be empty.
	Description  string
	InputSchema  jsontext.Value
	OutputSchema jsontext.Value
	SideEffects  string
	Kinds        []schemas.RequestKind
}

// An Agent calls an endpoint for each request. It is safe for use by several goroutines at once.
type Agent struct {
	config Config
	key    []byte
	words  sentences.Catalog
}

var _ agent.Handler = (*Agent)(nil)

//go:embed words.json
var wordsFile []byte

// New returns the agent. It fails on an address that is none, and on a secret that cannot sign.
func New(config Config) (*Agent, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	made := &Agent{config: config, words: words}
	target, err := url.Parse(config.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, errors.New("http: the url has to begin with https:// or http://")
	}
	if config.Client == nil {
		return nil, errors.New("http: there is no client, so that nobody decides where calls may go")
	}
	if config.Timeout < 0 || config.MaxBody < 0 || config.MaxFiles < 0 {
		return nil, errors.New("http: timeout, max_body and max_files must not be negative")
	}
	if config.Secret != "" {
		if made.key, err = parseSecret(config.Secret); err != nil {
			return nil, fmt.Errorf("http: %w", err)
		}
	} else if config.Callback != nil {
		return nil, errors.New("http: an agent that answers by callback needs a secret, because anybody could answer for it")
	}
	made.config.Timeout = cmp.Or(config.Timeout, DefaultTimeout)
	made.config.MaxBody, made.config.MaxFiles = cmp.Or(config.MaxBody, DefaultMaxBody), cmp.Or(config.MaxFiles, DefaultMaxFiles)
	if config.Now == nil {
		made.config.Now = time.Now
	}
	return made, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	return schemas.Agent{
		Kind: "http", Description: cmp.Or(a.config.Description, "Asks an HTTP endpoint."), InputSchema: a.config.InputSchema,
		OutputSchema: a.config.OutputSchema, SideEffects: a.config.SideEffects, Kinds: a.config.Kinds,
	}
}

func (a *Agent) acts() bool { return a.config.SideEffects == schemas.SideEffectsExternal }

// Handle implements agent.Handler; see the package's documentation.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	body, err := a.body(ctx, request)
	if err != nil {
		return agent.Outcome{}, err
	}
	if a.acts() {
		if err := request.Permit(ctx); err != nil {
			return agent.Outcome{}, err
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, a.config.Timeout, errTimeout)
	defer cancel()
	answered, err := a.call(limited, request, body)
	if errors.Is(err, agent.ErrElsewhere) {
		return agent.Outcome{}, err
	}
	if err != nil {
		return agent.Outcome{}, a.failure(ctx, limited, language, err)
	}
	if answered.status == nethttp.StatusNoContent {
		return agent.Outcome{}, nil
	}
	outcome, err := agent.ReadBody(answered.body, answered.mediaType, request)
	if errors.Is(err, agent.ErrNothing) {
		return agent.Outcome{}, &agent.Failure{Message: a.words.Say(language, "nothing"), Unknown: a.acts(), Err: err}
	}
	if errors.Is(err, agent.ErrUnreadable) {
		return agent.Outcome{}, &agent.Failure{Message: a.words.Say(language, "unreadable"), Permanent: true, Unknown: a.acts(), Err: err}
	}
	if failure, failed := errors.AsType[*agent.Failure](err); failed && failure.Message == "" {
		failure.Message = a.words.Say(language, "failed")
	}
	if lost := request.KeepFiles(ctx, &outcome, a.config.MaxFiles); lost != nil && err == nil {
		if !a.acts() {
			return agent.Outcome{}, lost
		}
		outcome.Issues = append(outcome.Issues, schemas.Issue{ // what was done is not done again for a file
			Severity: "high", Description: a.words.Say(language, "not_kept"), Resolution: schemas.ResolutionDeferred,
		})
	}
	return outcome, err
}

// mayGoOn reports whether a call that gave no answer to use may have led to work all the same: to an effect outside,
// or to an answer by callback. An endpoint that says it has no room has taken nothing of the latter.
func (a *Agent) mayGoOn(err error) bool {
	refused, isStatus := errors.AsType[*statusError](err)
	busy := isStatus && refused.busy()
	return !errors.Is(err, errNotConnected) && (a.acts() || a.config.Callback != nil && !busy)
}

var errTimeout = errors.New("the endpoint took too long")

// failure tells what became of a call that gave no answer to use.
func (a *Agent) failure(ctx, limited context.Context, language string, err error) error {
	unknown := a.mayGoOn(err)
	if ctx.Err() != nil {
		if unknown {
			return &agent.Failure{Unknown: true, Err: fmt.Errorf("the call was stopped: %w", context.Cause(ctx))}
		}
		return fmt.Errorf("the call was stopped: %w", context.Cause(ctx))
	}
	failure := &agent.Failure{Err: err, Unknown: unknown}
	refused, isStatus := errors.AsType[*statusError](err)
	switch {
	case isStatus:
		failure.Message = a.words.Say(language, "status", "{status}", strconv.Itoa(refused.status))
		failure.Permanent = !refused.temporary()
		if !failure.Unknown && refused.busy() {
			failure.Category = schemas.CategoryResource
		}
	case a.config.Barred != nil && a.config.Barred(err):
		failure.Message, failure.Permanent = a.words.Say(language, "barred"), true
	case limited.Err() != nil:
		failure.Message = a.words.Say(language, "timeout", "{timeout}", a.config.Timeout.String())
	case errors.Is(err, errTooMuch):
		failure.Message, failure.Permanent = a.words.Say(language, "too_much", "{limit}", strconv.FormatInt(a.config.MaxBody, 10)), true
	default:
		failure.Message = a.words.Say(language, "unreachable")
	}
	return failure
}

// An answer is what the endpoint has said with 200, 201 or 204.
type answer struct {
	status    int
	mediaType string
	body      []byte
}

var (
	errTooMuch      = errors.New("the endpoint answered too much")
	errNotConnected = errors.New("no connection was made")
)

// call makes one call. Its errors name neither the URL nor what was said.
func (a *Agent) call(ctx context.Context, request *agent.Request, body []byte) (answer, error) {
	connected := newTrace()
	posted, err := nethttp.NewRequestWithContext(connected.with(ctx), nethttp.MethodPost, a.config.URL, bytes.NewReader(body))
	if err != nil {
		return answer{}, errors.New("the endpoint's address is not a URL")
	}
	posted.GetBody = nil // no request is sent twice by the client itself
	posted.Header.Set("Content-Type", schemas.MediaTypeJSON)
	posted.Header.Set("Accept", schemas.MediaTypeJSON+", text/plain")
	posted.Header.Set("User-Agent", "podium")
	id := request.MessageID
	if a.acts() || a.config.Callback != nil {
		id = request.EffectID
	}
	if a.config.Callback != nil {
		address, err := a.config.Callback(request)
		if err != nil {
			return answer{}, fmt.Errorf("%w: its callback has no address: %w", errNotConnected, err)
		}
		posted.Header.Set(HeaderCallback, address)
	}
	a.sign(posted.Header, id, body)
	reply, err := a.config.Client.Do(posted) //nolint:gosec // the client decides where it goes
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		if !connected.made() {
			return answer{}, fmt.Errorf("%w: %w", errNotConnected, err)
		}
		return answer{}, fmt.Errorf("call the endpoint: %w", err)
	}
	defer func() { _ = reply.Body.Close() }()
	switch reply.StatusCode {
	case nethttp.StatusOK, nethttp.StatusCreated, nethttp.StatusNoContent:
	case nethttp.StatusAccepted:
		if a.config.Callback != nil {
			return answer{}, agent.ErrElsewhere
		}
		return answer{}, &statusError{status: reply.StatusCode}
	default:
		return answer{}, &statusError{status: reply.StatusCode}
	}
	said, err := io.ReadAll(io.LimitReader(reply.Body, a.config.MaxBody+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("read the endpoint's answer: %w", err)
	case int64(len(said)) > a.config.MaxBody:
		return answer{}, errTooMuch
	}
	return answer{reply.StatusCode, reply.Header.Get("Content-Type"), said}, nil
}
