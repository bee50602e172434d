package chat

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"time"

	"podium/schemas"
)

// The addresses of Slack, and the limits of a URL that a slash command brings
// ("Handling user interaction", "Message responses").
const (
	slackAPI         = "https://slack.com/api"
	slackHooks       = "https://hooks.slack.com"
	slackLimit       = 4000 // characters of a message; Slack itself cuts at 40,000
	responseLifetime = 30 * time.Minute
	responseUses     = 5
)

// slackPoster posts by chat.postMessage.
type slackPoster struct {
	client     *http.Client
	api, hooks string
	token      string
}

func (*slackPoster) split(text string) ([]string, bool) { return split(text, slackLimit, escaped) }

// A slackMessage is the arguments of chat.postMessage and chat.update. Links are
// not unfurled: Slack would fetch what an answer names.
type slackMessage struct {
	Channel     string `json:"channel"`
	Text        string `json:"text"`
	Thread      string `json:"thread_ts,omitzero"`
	Time        string `json:"ts,omitzero"` // chat.update
	UnfurlLinks bool   `json:"unfurl_links"`
	UnfurlMedia bool   `json:"unfurl_media"`
}

// post sends one piece. The answer to a command goes to whoever gave it and to
// nobody else: by the command's URL, or later as a message of the app's own.
func (s *slackPoster) post(ctx context.Context, p *piece) (string, error) {
	text := Render(schemas.ProviderSlack, p.text)
	if p.route.User == "" {
		return s.call(ctx, "chat.postMessage", slackMessage{Channel: p.route.Place, Text: text, Thread: p.route.Thread})
	}
	if p.route.Response == "" || p.of > responseUses || p.age >= responseLifetime {
		return s.call(ctx, "chat.postMessage", slackMessage{Channel: p.route.User, Text: text})
	}
	return "", respond(ctx, s.client, s.hooks, p.route.Response, text)
}

// edit puts other words in the place of a message.
func (s *slackPoster) edit(ctx context.Context, route *schemas.ChatRoute, id, text string) error {
	_, err := s.call(ctx, "chat.update", slackMessage{Channel: route.Place, Time: id, Text: Render(schemas.ProviderSlack, text)})
	return err
}

// call does one call of the Web API and returns the ts of the message.
func (s *slackPoster) call(ctx context.Context, method string, message slackMessage) (string, error) {
	body, err := callJSON(ctx, s.client, http.MethodPost, s.api+"/"+method, "Bearer "+s.token, message)
	if err != nil {
		return "", err
	}
	var answer struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
		Time  string `json:"ts"`
	}
	if err := schemas.Unmarshal(body, &answer); err != nil {
		return "", &unknownError{err}
	}
	if answer.OK {
		return answer.Time, nil
	}
	// What went wrong inside Slack may have gone wrong after the message was posted.
	doubt := slices.Contains([]string{"internal_error", "fatal_error", "request_timeout"}, answer.Error)
	passing := doubt || slices.Contains([]string{"ratelimited", "rate_limited", "service_unavailable", "accesslimited", "team_added_to_org"}, answer.Error)
	return "", &refusal{code: codeOf(answer.Error), final: !passing, doubt: doubt}
}

// slackCode is what the Web API calls an error.
var slackCode = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// codeOf keeps what is no code out of the log.
func codeOf(said string) string {
	if !slackCode.MatchString(said) {
		return "an error without a code"
	}
	return said
}
