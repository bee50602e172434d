// Package chat delivers an answer to the chat channel that asked.
//
// A channel with a callback gets a POST signed by Standard Webhooks 1.0, whose
// webhook-id is the request's effect id: a receiver that remembers the ids it
// has seen takes every answer once, however often an attempt is repeated. A
// channel without one, or one that is not configured, is not called: whoever
// asked reads the answer from the run.
package chat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/schemas"
)

// DefaultTimeout bounds one delivery, from dialing to the end of the answer.
const DefaultTimeout = 15 * time.Second

// A Config says where answers go.
type Config struct {
	// Channels are the channels by name.
	Channels map[string]Channel
	// Timeout bounds one delivery; 0 means DefaultTimeout.
	Timeout time.Duration
	// Transport carries the calls; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Now is the clock of signatures; nil means time.Now.
	Now func() time.Time
}

// A Channel is one way back to the people of a chat.
type Channel struct {
	Callback string // http or https URL that takes answers; empty when they are read from the run
	Secret   string // base64, with or without "whsec_"; required with a callback
}

// The ways that an answer gets to its asker, as the result's "delivered" says.
const (
	DeliveredPush = "push" // the callback has taken it
	DeliveredPull = "pull" // it is read from the run
)

// A Receipt is the result's data.
type Receipt struct {
	ReplyID   string `json:"reply_id"` // the effect id
	Delivered string `json:"delivered"`
}

// An Agent delivers answers. It is safe for use by several goroutines at once.
type Agent struct {
	callbacks map[string]callback
	client    *http.Client
	now       func() time.Time
	words     schemas.Sentences
}

var _ bus.Handler = (*Agent)(nil)

// New returns the agent, or an error that names the channel whose callback or
// secret is unusable.
func New(config Config) (*Agent, error) {
	loaded, err := schemas.ReadSentences(wordsFile)
	if err != nil {
		return nil, err
	}
	agent := &Agent{
		callbacks: make(map[string]callback, len(config.Channels)),
		client: &http.Client{
			Transport: config.Transport,
			Timeout:   config.Timeout,
			// A redirect would carry the answer to a host that nobody configured.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now:   config.Now,
		words: loaded,
	}
	if agent.client.Timeout <= 0 {
		agent.client.Timeout = DefaultTimeout
	}
	if agent.now == nil {
		agent.now = time.Now
	}
	for name, channel := range config.Channels {
		if channel.Callback == "" {
			continue
		}
		if agent.callbacks[name], err = newCallback(channel); err != nil {
			return nil, fmt.Errorf("chat channel %q: %w", name, err)
		}
	}
	return agent, nil
}

func newCallback(channel Channel) (callback, error) {
	target, err := url.Parse(channel.Callback)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		return callback{}, errors.New("the callback is not an http or https URL")
	}
	key, err := parseSecret(channel.Secret)
	if err != nil {
		return callback{}, err
	}
	return callback{url: target.String(), key: key}, nil
}

// Description is the agent's entry in the registry, but for its name.
func (*Agent) Description() schemas.Agent {
	return schemas.Agent{
		Kind:        "chat",
		Description: "Delivers an answer to the chat channel that asked.",
		InputSchema: jsontext.Value(inputSchema),
		SideEffects: "external",
	}
}

const inputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["channel", "text"],
  "properties": {
    "agent": {"type": "string"},
    "provider": {"type": "string"},
    "tenant": {"type": "string"},
    "channel": {"type": "string", "minLength": 1},
    "thread": {"type": "string"},
    "in_reply_to": {"type": "string"},
    "text": {"type": "string"}
  }
}`

// arguments are a schemas.Reply and the words to deliver.
type arguments struct {
	schemas.Reply
	Text string `json:"text"`
}

// Handle implements bus.Handler. It fails for good when the channel refuses the
// answer (4xx but for 408, 425 and 429); every other failure may be tried again. It
// asks for its permit right before it calls.
func (a *Agent) Handle(ctx context.Context, request bus.Request, _ bus.Report) (schemas.Result, error) {
	task := request.Task()
	language := task.Context.Language()
	var given arguments
	if err := schemas.Unmarshal(task.Context.Arguments, &given); err != nil || given.Channel == "" {
		return schemas.Result{}, &bus.Failure{
			Message:   a.words.Say(language, "arguments"),
			Permanent: true,
			Err:       errors.New("the arguments are not those of a chat reply"),
		}
	}
	receipt := Receipt{ReplyID: replyID(&request), Delivered: DeliveredPull}
	if target, push := a.callbacks[given.Channel]; push {
		answer := Message{
			Channel:   given.Channel,
			Thread:    given.Thread,
			InReplyTo: given.InReplyTo,
			Text:      given.Text,
			Run:       request.Run,
			ReplyID:   receipt.ReplyID,
		}
		if err := request.Permit(ctx); err != nil {
			return schemas.Result{}, err
		}
		if err := a.deliver(ctx, target, answer); err != nil {
			return schemas.Result{}, a.failure(ctx, language, given.Channel, err)
		}
		receipt.Delivered = DeliveredPush
	}
	data, err := schemas.Marshal(receipt)
	if err != nil {
		return schemas.Result{}, err
	}
	return schemas.Result{Data: data}, nil
}

// replyID is the effect id, or what stands in for it when the request names none.
func replyID(request *bus.Request) string {
	if request.EffectID != "" {
		return request.EffectID
	}
	return schemas.EffectID(request.Payload.PlanID, request.Task().TaskID)
}

// failure puts an error into words.
func (a *Agent) failure(ctx context.Context, language, channel string, err error) error {
	_, unknown := errors.AsType[*unknownError](err)
	if ctx.Err() != nil {
		return &bus.Failure{Unknown: unknown, Err: fmt.Errorf("deliver to a chat channel: %w", context.Cause(ctx))}
	}
	key, status, permanent := "unreachable", "", false
	if answered, ok := errors.AsType[*statusError](err); ok {
		permanent = answered.permanent()
		key, status = "unavailable", answered.String()
		if permanent {
			key = "refused"
		}
	}
	return &bus.Failure{
		Message:   a.words.Say(language, key, "{channel}", channel, "{status}", status),
		Permanent: permanent,
		Unknown:   unknown,
		Err:       fmt.Errorf("deliver to a chat channel: %w", err),
	}
}
