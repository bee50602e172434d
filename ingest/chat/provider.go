package chat

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"podium/ingest/webhook"
	"podium/schemas"
)

// A Provider speaks the protocol of one channel's sender. Its methods look at
// one request and touch nothing, but for Acknowledge, which writes the answer.
// They may be called by several goroutines at once.
type Provider interface {
	// Claims reports whether the header alone shows what may prove the sender: the token,
	// or a fresh signature over a body yet to be read. Where it does not, nobody reads one.
	Claims(header http.Header, now time.Time) bool
	// Verify reports whether a request comes from somebody who knows a secret of
	// the channel. It takes the raw body and compares in constant time.
	Verify(body []byte, header http.Header, now time.Time) bool
	// Handshake returns the answer to an authentic request that carries no message
	// but tests the connection; nil for every other one.
	Handshake(body []byte, header http.Header) *Response
	// Normalize returns the messages of an authentic request, those that need no
	// answer or cannot be read included. A problem.Problem as the error is told to the
	// sender, because another request can do better. Every other error means that
	// the request is what the provider always sends: it goes into quarantine.
	Normalize(body []byte, header http.Header) ([]Message, error)
	// Acknowledge answers a request whose messages are on the ledger.
	Acknowledge(e *exchange, results []result)
	// Reads reports whether a reader bears what opens every run of the channel.
	Reads(header http.Header) bool
}

// A Message is what a request says of one chat message.
type Message struct {
	schemas.ChatReceived
	// Delivery is the id that every repeat of the message carries; empty when the
	// sender gives none. Thread and MessageID default to it.
	Delivery string
	// Route is what it takes to answer; nil when answers cannot be sent.
	Route *schemas.ChatRoute
	// Locale is the language of the sender's program (BCP 47), for the adapter's own words.
	Locale string
	// Command says that the sender sees nothing until something is answered.
	Command bool
	// Ignored says in one word why nothing is to be done about it.
	Ignored string
	// Fault says what is wrong with it, when it is one of several.
	Fault *ProblemPlace

	files   []PostedFile // that came along, before they are kept
	inBatch bool
}

// The reasons to ignore a message.
const (
	ignoredBot     = "bot"        // a bot's words, our own included: an answer could go on for ever
	ignoredSubtype = "subtype"    // says that something happened to a message or a channel
	ignoredType    = "event_type" // no message
	ignoredEmpty   = "no_text"
)

// A Response is an answer without a story.
type Response struct {
	Status    int
	MediaType string
	Body      []byte
}

func (r *Response) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	if r.MediaType != "" {
		header.Set("Content-Type", r.MediaType)
	}
	header.Set("Content-Length", strconv.Itoa(len(r.Body)))
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body) // the sender has gone: nobody is left to tell
}

// provider makes what a channel is configured as. Errors never repeat a secret.
func (c Channel) provider() (Provider, error) {
	if len(c.Secrets) > webhook.MaxSecrets {
		return nil, fmt.Errorf("%d secrets: at most %d are allowed, the one in use and its successor", len(c.Secrets), webhook.MaxSecrets)
	}
	if c.Provider = cmp.Or(c.Provider, schemas.ProviderWebhook); c.Provider != schemas.ProviderWebhook {
		if c.Token != "" {
			return nil, fmt.Errorf("a bearer token is for the provider %s", schemas.ProviderWebhook)
		}
		if len(c.Secrets) == 0 {
			return nil, fmt.Errorf("a channel of %s needs a secret", c.Provider)
		}
	}
	switch c.Provider {
	case schemas.ProviderWebhook:
		verifier, err := webhook.New(c.Secrets, c.Token)
		return &standard{verifier}, err
	case schemas.ProviderSlack:
		return newSlack(c.Secrets)
	case schemas.ProviderMattermost:
		return newMattermost(c)
	case schemas.ProviderTelegram:
		return newTelegram(c.Secrets)
	case schemas.ProviderTeams:
		return newTeams(c.Secrets)
	}
	return nil, fmt.Errorf("there is no provider %q", c.Provider)
}

// single returns the one message of a request, when its names can be kept.
func single(message Message) ([]Message, error) {
	for what, name := range map[string]string{
		"id": message.Delivery, "message id": message.MessageID, "thread": message.Thread, "tenant": message.Tenant, "user": message.User.ID,
	} {
		if wrong := wrongName(name); wrong != "" {
			return nil, fmt.Errorf("the message's %s: %s", what, wrong)
		}
	}
	message.User.Name = nameOf(message.User.Name)
	return []Message{message}, nil
}

// nothing is a request that needs no run.
func nothing(reason string, command bool) ([]Message, error) {
	return []Message{{Ignored: reason, Command: command}}, nil
}

// nameOf joins the parts of a person's name; one that cannot be kept is left out.
func nameOf(parts ...string) string {
	name := strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
	if wrongName(name) != "" {
		return ""
	}
	return name
}

// readJSON reads a provider's document. Half a character in a person's words is
// no reason to leave the others unread: it becomes U+FFFD.
func readJSON(body []byte, into any) error {
	if err := json.Unmarshal(body, into, jsontext.AllowInvalidUTF8(true)); err != nil {
		return errors.New(placeOf(err).String())
	}
	return nil
}

// readForm reads an HTML form. What is not UTF-8 in it could not be kept.
func readForm(body []byte) (url.Values, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errors.New("the form cannot be read")
	}
	for name := range form {
		for i, value := range form[name] {
			form[name][i] = strings.ToValidUTF8(value, string(utf8.RuneError))
		}
	}
	return form, nil
}

// ordinary is what a provider is unless it says otherwise: its secrets open no runs, no
// request of it tests the connection, and it gets answers another way.
type ordinary struct{}

// Reads implements Provider.
func (ordinary) Reads(http.Header) bool { return false }

// Handshake implements Provider: there is none.
func (ordinary) Handshake([]byte, http.Header) *Response { return nil }

// Acknowledge implements Provider. A command shows nothing by itself, so that whoever gave
// it reads a word only he sees.
func (ordinary) Acknowledge(e *exchange, results []result) {
	if len(results) != 1 || !results[0].message.Command {
		(&Response{Status: http.StatusOK, MediaType: schemas.MediaTypeJSON, Body: []byte("{}")}).write(e.writer)
		return
	}
	key := "working"
	if results[0].message.Ignored != "" {
		key = "empty"
	}
	e.say("ephemeral", e.adapter.words.Say(e.language(results[0].message), key))
}
