package chat

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"podium/ingest/webhook"
	"podium/schemas"
)

// mattermostWindow is how long an outgoing webhook is held for its answer when
// answers have no other way: Mattermost itself waits 30 s
// (OutgoingIntegrationRequestsTimeout).
const mattermostWindow = 25 * time.Second

// A mattermost takes the outgoing webhooks and slash commands of one server.
type mattermost struct {
	ordinary
	tokens  webhook.SharedSecrets
	ownUser string
	bot     bool
	links   bool
}

func newMattermost(c Channel) (*mattermost, error) {
	tokens, err := webhook.NewSharedSecrets(c.Secrets)
	return &mattermost{tokens: tokens, ownUser: c.OwnUser, bot: c.Bot, links: c.Links}, err
}

// A mattermostPost is what both kinds of integration send, as a form or as JSON
// (Mattermost developers, "Outgoing webhooks" and "Slash commands").
type mattermostPost struct {
	Token    string `json:"token"`
	Team     string `json:"team_id"`
	Channel  string `json:"channel_id"`
	User     string `json:"user_id"`
	Name     string `json:"user_name"`
	Post     string `json:"post_id"`
	Root     string `json:"root_id"`
	Text     string `json:"text"`
	Command  string `json:"command"`
	Trigger  string `json:"trigger_id"`
	Word     string `json:"trigger_word"` // what the post begins with, if the webhook reacts to words
	Response string `json:"response_url"`
}

func readMattermostPost(body []byte, header http.Header) (mattermostPost, error) {
	var post mattermostPost
	if !isForm(header) {
		err := readJSON(body, &post)
		return post, err
	}
	form, err := readForm(body)
	if err != nil {
		return post, err
	}
	return mattermostPost{
		Token: form.Get("token"), Team: form.Get("team_id"), Channel: form.Get("channel_id"),
		User: form.Get("user_id"), Name: form.Get("user_name"), Post: form.Get("post_id"), Root: form.Get("root_id"),
		Text: form.Get("text"), Command: form.Get("command"), Trigger: form.Get("trigger_id"), Response: form.Get("response_url"), Word: form.Get("trigger_word"),
	}, nil
}

// words are the text without the trigger word that it begins with. Like a command or a mention, that calls Podium and asks nothing.
func (p *mattermostPost) words() string {
	text := strings.TrimSpace(p.Text)
	if rest, begins := strings.CutPrefix(text, p.Word); begins && p.Word != "" && p.Command == "" && (rest == "" || strings.TrimLeft(rest, " \t\n:,") != rest) {
		return strings.TrimLeft(rest, " \t\r\n:,")
	}
	return text
}

// Claims implements Provider: an outgoing webhook has its token in the body.
func (*mattermost) Claims(http.Header, time.Time) bool { return true }

// Verify implements Provider: the token that Mattermost has made for the
// integration, in the header of a slash command or in the body.
func (m *mattermost) Verify(body []byte, header http.Header, _ time.Time) bool {
	scheme, token, _ := strings.Cut(header.Get("Authorization"), " ")
	byHeader := m.tokens.Known(token) && strings.EqualFold(scheme, "Token")
	post, err := readMattermostPost(body, header)
	byBody := m.tokens.Known(post.Token) && err == nil
	return byHeader || byBody
}

// Normalize implements Provider.
func (m *mattermost) Normalize(body []byte, header http.Header) ([]Message, error) {
	if !isForm(header) && !isJSON(header) {
		return nil, problemMediaType()
	}
	post, err := readMattermostPost(body, header)
	if err != nil {
		return nil, err
	}
	id := post.Post
	if post.Command != "" {
		id = post.Trigger
	}
	if post.Channel == "" || id == "" {
		return nil, errors.New("a post has no channel_id, or neither post_id nor trigger_id")
	}
	text := post.words()
	switch {
	case m.ownUser != "" && (post.User == m.ownUser || strings.EqualFold(post.Name, m.ownUser)):
		return nothing(ignoredBot, false)
	case text == "":
		return nothing(ignoredEmpty, post.Command != "")
	}
	message := Message{
		Delivery: id, Command: post.Command != "",
		ChatReceived: schemas.ChatReceived{
			Tenant: post.Team, Thread: post.Channel + "/" + cmp.Or(post.Root, id), MessageID: post.Channel + "/" + id, Text: text,
			User: schemas.ChatUser{ID: post.User, Name: post.Name},
		},
	}
	if m.bot || m.links && post.Response != "" {
		message.Route = &schemas.ChatRoute{Place: post.Channel, Thread: post.Root, Message: post.Post, Response: post.Response}
	}
	return single(message)
}

// Acknowledge implements Provider. When the answer has no other way, this one waits for it.
func (m *mattermost) Acknowledge(e *exchange, results []result) {
	if len(results) > 0 && results[0].message.Ignored == "" && results[0].message.Route == nil {
		e.say("comment", e.answerWithin(results[0], mattermostWindow))
		return
	}
	m.ordinary.Acknowledge(e, results)
}
