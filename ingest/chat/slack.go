package chat

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"podium/ingest/webhook"
	"podium/schemas"
)

// The headers of a request by Slack ("Verifying requests from Slack").
const (
	headerSlackTimestamp = "X-Slack-Request-Timestamp"
	headerSlackSignature = "X-Slack-Signature"
)

// slackVersion begins what is signed and the signature.
const slackVersion = "v0"

// minSlackSecret is less than the 32 characters that Slack gives.
const minSlackSecret = 16

// A slack takes the Events API and slash commands of one app.
type slack struct {
	ordinary
	keys webhook.SigningKeys
}

func newSlack(secrets []string) (*slack, error) {
	made := &slack{keys: webhook.DecoyKeys()}
	for i, secret := range secrets {
		if len(secret) < minSlackSecret {
			return nil, fmt.Errorf("secret %d is not the signing secret of a Slack app", i+1)
		}
		made.keys[i] = []byte(secret)
	}
	return made, nil
}

// Claims implements Provider.
func (*slack) Claims(header http.Header, now time.Time) bool {
	_, shown := slackProof(header, now)
	return shown
}

// slackProof returns the signature that a fresh request shows.
func slackProof(header http.Header, now time.Time) (signature []byte, shown bool) {
	encoded, isV0 := strings.CutPrefix(header.Get(headerSlackSignature), slackVersion+"=")
	signature, err := hex.DecodeString(encoded)
	return signature, err == nil && isV0 && webhook.Fresh(header.Get(headerSlackTimestamp), now)
}

// Verify implements Provider: HMAC-SHA256 over "v0:timestamp:body".
func (s *slack) Verify(body []byte, header http.Header, now time.Time) bool {
	signature, shown := slackProof(header, now)
	before := slackVersion + ":" + header.Get(headerSlackTimestamp) + ":"
	return shown && s.keys.Signed(signature, []byte(before), body)
}

// A slackEnvelope is the outer object of an event (Events API, "Event type structure").
type slackEnvelope struct {
	Type      string `json:"type"`
	Challenge string `json:"challenge"` // of url_verification
	Team      string `json:"team_id"`
	App       string `json:"api_app_id"`
	// Authorizations name the users that the app acts as.
	Authorizations []struct {
		User string `json:"user_id"`
	} `json:"authorizations"`
	Event slackEvent `json:"event"`
}

// A slackEvent is an event of the types message and app_mention.
type slackEvent struct {
	Type     string `json:"type"`
	Subtype  string `json:"subtype"`
	Channel  string `json:"channel"`
	User     string `json:"user"`
	Bot      string `json:"bot_id"`
	App      string `json:"app_id"`
	Text     string `json:"text"`
	Time     string `json:"ts"` // the message's id in its channel
	ThreadOf string `json:"thread_ts"`
}

// Handshake implements Provider: url_verification echoes the challenge, and the
// check of a certificate wants no more than 200.
func (*slack) Handshake(body []byte, header http.Header) *Response {
	if isForm(header) {
		form, err := readForm(body)
		if err == nil && form.Get("ssl_check") == "1" {
			return &Response{Status: http.StatusOK}
		}
		return nil
	}
	var outer slackEnvelope
	if err := readJSON(body, &outer); err != nil || outer.Type != "url_verification" {
		return nil
	}
	return &Response{Status: http.StatusOK, MediaType: "text/plain; charset=utf-8", Body: []byte(outer.Challenge)}
}

// Normalize implements Provider.
func (s *slack) Normalize(body []byte, header http.Header) ([]Message, error) {
	switch {
	case isForm(header):
		return readSlackCommand(body)
	case !isJSON(header):
		return nil, problemMediaType()
	}
	var outer slackEnvelope
	if err := readJSON(body, &outer); err != nil {
		return nil, err
	}
	if outer.Type != "event_callback" {
		return nothing(ignoredType, false)
	}
	event := &outer.Event
	if reason := outer.ignored(); reason != "" {
		return nothing(reason, false)
	}
	if event.Channel == "" || event.Time == "" {
		return nil, errors.New("a message event has neither channel nor ts")
	}
	thread := cmp.Or(event.ThreadOf, event.Time)
	text := outer.words()
	if text == "" {
		return nothing(ignoredEmpty, false)
	}
	// One message reaches an app as message and as app_mention, under two event
	// ids, and a repeat under the same one: channel and ts are the same for all.
	id := event.Channel + "/" + event.Time
	return single(Message{
		Delivery: outer.Team + "/" + id,
		ChatReceived: schemas.ChatReceived{
			Tenant: outer.Team, Thread: event.Channel + "/" + thread, MessageID: id,
			User: schemas.ChatUser{ID: event.User}, Text: text,
		},
		Route: &schemas.ChatRoute{Place: event.Channel, Thread: thread, Message: event.Time},
	})
}

// ignored says why an event is no message of a person. What a person writes
// beside a file or out of a thread is one.
func (e *slackEnvelope) ignored() string {
	event := &e.Event
	if event.Type != "message" && event.Type != "app_mention" {
		return ignoredType
	}
	if event.Bot != "" || event.App != "" && event.App == e.App {
		return ignoredBot
	}
	for _, own := range e.Authorizations {
		if event.User != "" && own.User == event.User {
			return ignoredBot
		}
	}
	switch event.Subtype {
	case "", "file_share", "thread_broadcast":
		return ""
	case "bot_message":
		return ignoredBot
	}
	return ignoredSubtype
}

// words are the text without the mention that it begins with, as its writer sees it.
func (e *slackEnvelope) words() string {
	text := strings.TrimSpace(e.Event.Text)
	for _, own := range e.Authorizations {
		if rest, begins := cutMention(text, own.User); begins {
			text = strings.TrimSpace(rest)
		}
	}
	return plainSlack(text)
}

// readSlackCommand reads a slash command ("Enabling interactivity with Slash Commands").
func readSlackCommand(body []byte) ([]Message, error) {
	form, err := readForm(body)
	if err != nil {
		return nil, err
	}
	place, trigger := form.Get("channel_id"), form.Get("trigger_id")
	if form.Get("command") == "" || place == "" || trigger == "" {
		return nil, errors.New("a slash command lacks command, channel_id or trigger_id")
	}
	text := strings.TrimSpace(plainSlack(form.Get("text")))
	if text == "" {
		return nothing(ignoredEmpty, true)
	}
	id := place + "/" + trigger
	return single(Message{
		Delivery: form.Get("team_id") + "/" + id, Command: true,
		ChatReceived: schemas.ChatReceived{
			Tenant: form.Get("team_id"), Thread: id, MessageID: id, Text: text,
			User: schemas.ChatUser{ID: form.Get("user_id"), Name: form.Get("user_name")},
		},
		Route: &schemas.ChatRoute{Place: place, User: form.Get("user_id"), Response: form.Get("response_url")},
	})
}
