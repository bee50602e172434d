// Package chat delivers an answer to the chat that asked, and before it what the run asks in turn.
//
// A channel with a callback gets a POST signed by Standard Webhooks 1.0, whose
// webhook-id is the request's effect id: a receiver that remembers the ids it
// has seen takes every answer once, however often an attempt is repeated. A
// channel of Slack, Mattermost or Telegram gets messages in the thread that asked,
// by the provider's API; where they go is sealed in the reply_ref of the request,
// which only this agent opens. Every other channel is not called: whoever asked
// reads the answer from the run, or was given it by the adapter.
//
// # Twice or not at all
//
// Slack and Telegram have no means to recognize a repeated post: a call that broke
// before its answer came is reported as unknown, and the profile's on_unknown
// decides. Mattermost recognizes one for half a minute; the call is repeated at
// once, and only if that breaks too it is unknown. An answer of several messages
// goes on, at the next attempt, where it stopped; after a restart of the process it
// begins anew.
//
// # Whom it calls
//
// slack.com, hooks.slack.com, api.telegram.org, the configured Mattermost server
// and the configured callbacks. A URL that came with a message must be one of the
// first ones, redirects are not followed, and proxies are those of the Transport.
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/jellydator/ttlcache/v3"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// DefaultTimeout bounds one call, from dialing to the end of the answer.
const DefaultTimeout = 15 * time.Second

// A Config says where answers go.
type Config struct {
	// Channels are the channels by name.
	Channels map[string]Channel
	// Opener opens what the adapters have sealed; nil opens nothing.
	Opener Opener
	// SlackAPI, SlackHooks and TelegramAPI stand in for the providers' addresses.
	SlackAPI, SlackHooks, TelegramAPI string
	// Timeout bounds one call; 0 means DefaultTimeout.
	Timeout time.Duration
	// Transport carries the calls; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Now is the clock of signatures; nil means time.Now.
	Now func() time.Time
}

// A Channel is one way back to the people of a chat.
type Channel struct {
	Provider schemas.ChatProvider // schemas.ProviderWebhook when empty
	Callback string               // webhook: http or https URL that takes answers; empty when they are read from the run
	Secret   string               // webhook: base64, with or without "whsec_"; required with a callback
	BotToken string               // slack and telegram: required; mattermost: without one only commands are answered
	URL      string               // mattermost: base URL of the server; without one the adapter answers
	// Transport, unless nil, takes the place of that of all channels: it decides where answers may go.
	Transport http.RoundTripper
}

// An Opener opens what an adapter has sealed.
type Opener interface {
	// Open returns what it takes to answer. It fails for text that was not sealed
	// for the channel, that has expired, or that was changed.
	Open(channel, ref string, now time.Time) (*schemas.ChatRoute, error)
}

// The ways that an answer gets to its asker, as the result's "delivered" says.
const (
	DeliveredPush = "push" // the callback or the provider has taken it
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
	targets   map[string]*target
	opener    Opener
	answers   *ttlcache.Cache[string, *answer] // those used last, by the reply_ref of the message
	client    *http.Client
	now       func() time.Time
	words     sentences.Catalog
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent, or an error that names the channel whose callback or
// secret is unusable.
func New(config Config) (*Agent, error) {
	loaded, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	agent := &Agent{
		callbacks: make(map[string]callback, len(config.Channels)),
		targets:   make(map[string]*target, len(config.Channels)),
		opener:    config.Opener,
		answers:   ttlcache.New(ttlcache.WithCapacity[string, *answer](memory)),
		client: &http.Client{
			Transport: config.Transport,
			Timeout:   cmp.Or(max(config.Timeout, 0), DefaultTimeout),
			// A redirect would carry the answer to a host that nobody configured.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now:   config.Now,
		words: loaded,
	}
	if agent.now == nil {
		agent.now = time.Now
	}
	for name, channel := range config.Channels {
		if err := agent.add(&config, name, channel); err != nil {
			return nil, fmt.Errorf("chat channel %q: %w", name, err)
		}
	}
	return agent, nil
}

func (a *Agent) add(config *Config, name string, channel Channel) (err error) {
	client := a.client
	if channel.Transport != nil {
		own := *a.client
		own.Transport = channel.Transport
		client = &own
	}
	if channel.Callback != "" {
		a.callbacks[name], err = newCallback(channel, client)
		return err
	}
	made, err := config.newPoster(channel, client)
	if err == nil && made != nil {
		a.targets[name] = &target{poster: made}
	}
	return err
}

func newCallback(channel Channel, client *http.Client) (callback, error) {
	address, err := webAddress(channel.Callback)
	if err != nil {
		return callback{}, fmt.Errorf("the callback: %w", err)
	}
	key, err := parseSecret(channel.Secret)
	return callback{url: address, key: key, client: client}, err
}

// webAddress checks a URL and returns it without a slash at its end.
func webAddress(text string) (string, error) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return "", errors.New("not an http or https URL")
	}
	return parsed.String(), nil
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
    "reply_ref": {"type": "string"},
    "text": {"type": "string"},
    "inquiry": {"type": "integer", "description": "The number of the question that the text asks; without one it is the answer."}
  }
}`

// arguments are a schemas.Reply and the words to deliver: the answer, or a question to whoever asked.
type arguments struct {
	schemas.Reply
	Text    string `json:"text"`
	Inquiry int    `json:"inquiry"` // the number of the question
}

// Handle implements agent.Handler. It fails for good when the other side refuses the
// answer (4xx but for 408, 425 and 429, and what its API calls final); every other
// failure may be tried again. When surely nothing was delivered, because the other
// side is away or takes no more calls for now, it is for want of a resource
// (schemas.CategoryResource): that says nothing against the agent, by which all
// channels answer. It asks for its permit right before it calls.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	task := request.Task()
	language := task.Context.Language()
	var given arguments
	if err := schemas.Unmarshal(task.Context.Arguments, &given); err != nil || given.Channel == "" {
		return agent.Outcome{}, &agent.Failure{
			Message:   a.words.Say(language, "arguments"),
			Permanent: true,
			Err:       errors.New("the arguments are not those of a chat reply"),
		}
	}
	receipt := Receipt{ReplyID: replyID(request), Delivered: DeliveredPull}
	send, err := a.sender(request, &given, receipt.ReplyID)
	if err != nil {
		return agent.Outcome{}, a.failure(ctx, language, given.Channel, err)
	}
	if send != nil {
		action := schemas.Action{Summary: given.Channel, Recipients: []string{given.Channel + "/" + given.Thread}}
		if action.Data, err = schemas.Marshal(map[string]string{"text": given.Text}); err != nil {
			return agent.Outcome{}, err
		}
		if err := request.PermitFor(ctx, action); err != nil {
			return agent.Outcome{}, err
		}
		if err := send(ctx); err != nil {
			return agent.Outcome{}, a.failure(ctx, language, given.Channel, err)
		}
		receipt.Delivered = DeliveredPush
	}
	return agent.Data(receipt)
}

// sender returns what delivers the answer; nil when nobody is called.
func (a *Agent) sender(request *agent.Request, given *arguments, id string) (func(context.Context) error, error) {
	if to, push := a.callbacks[given.Channel]; push {
		message := Message{
			Channel: given.Channel, Thread: given.Thread, InReplyTo: given.InReplyTo, Text: given.Text, Run: request.Run, ReplyID: id,
		}
		if given.Inquiry > 0 {
			message.Inquiry = schemas.InquiryID(request.Run, given.Inquiry)
		}
		return func(ctx context.Context) error { return a.deliver(ctx, to, message) }, nil
	}
	to := a.targets[given.Channel]
	if to == nil || given.ReplyRef == "" {
		return nil, nil //nolint:nilnil // nobody is to be called, and nothing is wrong
	}
	route, err := a.open(given.Channel, given.ReplyRef)
	if err != nil {
		return nil, err
	}
	language := request.Task().Context.Language()
	return func(ctx context.Context) error {
		return a.postAnswer(ctx, to, route, given, language, id)
	}, nil
}

// open unseals a reply_ref. One that cannot be opened now never can be.
func (a *Agent) open(channel, ref string) (*schemas.ChatRoute, error) {
	if a.opener == nil {
		return nil, &refusal{code: "reply_ref_sealed", final: true}
	}
	route, err := a.opener.Open(channel, ref, a.now())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", &refusal{code: "reply_ref_unusable", final: true}, err)
	}
	return route, nil
}

// replyID is the effect id, or what stands in for it when the request names none.
func replyID(request *agent.Request) string {
	return cmp.Or(request.EffectID, schemas.EffectID(request.Payload.PlanID, request.Task().TaskID))
}

// failure puts an error into words.
func (a *Agent) failure(ctx context.Context, language, channel string, err error) error {
	unknown := unclear(err)
	if ctx.Err() != nil {
		return &agent.Failure{Unknown: unknown, Err: fmt.Errorf("deliver to a chat channel: %w", context.Cause(ctx))}
	}
	key, status, permanent := "unreachable", "", final(err)
	if answered, ok := errors.AsType[*statusError](err); ok {
		key, status = "unavailable", "HTTP "+answered.String()
	}
	if told, ok := errors.AsType[*refusal](err); ok {
		key, status = "unavailable", told.code
	}
	if permanent {
		key = "refused"
	}
	var category schemas.FailureCategory
	if !unknown && !permanent {
		category = schemas.CategoryResource
	}
	return &agent.Failure{
		Category:  category,
		Message:   a.words.Say(language, key, "{channel}", channel, "{status}", status),
		Permanent: permanent,
		Unknown:   unknown,
		Err:       fmt.Errorf("deliver to a chat channel: %w", err),
	}
}
