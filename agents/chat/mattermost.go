package chat

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"podium/schemas"
)

// mattermostLimit is how many characters a post has at most (PostMessageMaxRunesV2).
const mattermostLimit = 16_383

// mattermostPoster posts by the REST API of one server.
type mattermostPoster struct {
	client *http.Client
	server string // base URL
	token  string // empty: only the URLs that commands bring
}

func (*mattermostPoster) split(text string) ([]string, bool) {
	return split(text, mattermostLimit, escaped)
}

type mattermostPost struct {
	Channel string `json:"channel_id,omitzero"`
	Root    string `json:"root_id,omitzero"`
	Message string `json:"message"`
	// Pending is the same for every attempt: within half a minute the server
	// returns the post that it has made for it already.
	Pending string `json:"pending_post_id,omitzero"`
}

func (m *mattermostPoster) post(ctx context.Context, p *piece) (string, error) {
	text := Render(schemas.ProviderMattermost, p.text)
	if p.route.Response != "" {
		if p.number >= responseUses || p.age >= responseLifetime {
			return "", &refusal{code: "response_url_expired", final: true}
		}
		return "", respond(ctx, m.client, m.server, p.route.Response, text)
	}
	post := mattermostPost{
		Channel: p.route.Place, Root: m.root(ctx, p.route), Message: text,
		Pending: p.effect + ":" + strconv.Itoa(p.number),
	}
	made, err := m.send(ctx, http.MethodPost, "/api/v4/posts", post)
	if unclear(err) {
		// The same pending id again settles whether the first call has posted.
		made, err = m.send(ctx, http.MethodPost, "/api/v4/posts", post)
	}
	return made, err
}

// root returns the post that begins the thread. An outgoing webhook names only the
// post that it is about, which may be an answer itself.
func (m *mattermostPoster) root(ctx context.Context, route *schemas.ChatRoute) string {
	if route.Thread != "" || route.Message == "" {
		return route.Thread
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.server+"/api/v4/posts/"+url.PathEscape(route.Message), http.NoBody)
	if err != nil {
		return route.Message
	}
	request.Header.Set("Authorization", "Bearer "+m.token)
	body, err := call(m.client, request)
	var post struct {
		Root string `json:"root_id"`
	}
	if err != nil || schemas.Unmarshal(body, &post) != nil || post.Root == "" {
		return route.Message
	}
	return post.Root
}

func (m *mattermostPoster) edit(ctx context.Context, _ *schemas.ChatRoute, id, text string) error {
	_, err := m.send(ctx, http.MethodPut, "/api/v4/posts/"+url.PathEscape(id)+"/patch", mattermostPost{Message: Render(schemas.ProviderMattermost, text)})
	return err
}

// send does one call and returns the post's id.
func (m *mattermostPoster) send(ctx context.Context, method, path string, post mattermostPost) (string, error) {
	body, err := callJSON(ctx, m.client, method, m.server+path, "Bearer "+m.token, post)
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := schemas.Unmarshal(body, &made); err != nil {
		return "", &unknownError{err}
	}
	return made.ID, nil
}

// unclear reports whether nobody knows what became of a call.
func unclear(err error) bool {
	if _, broken := errors.AsType[*unknownError](err); broken {
		return true
	}
	if status, answered := errors.AsType[*statusError](err); answered {
		return status.doubt
	}
	refused, told := errors.AsType[*refusal](err)
	return told && refused.doubt
}

// sameHost refuses a URL of another scheme, host or port than an address that was
// configured: a message from outside must not choose whom this process calls.
func sameHost(target, base string) error {
	given, err := url.Parse(target)
	known, knownErr := url.Parse(base)
	if err != nil || knownErr != nil || given.User != nil || given.Scheme != known.Scheme || given.Host != known.Host || known.Host == "" {
		return &refusal{code: "response_url_of_another_host", final: true}
	}
	return nil
}

// respond answers a command by the URL that it brought, for nobody but whoever gave it.
func respond(ctx context.Context, client *http.Client, base, target, text string) error {
	if err := sameHost(target, base); err != nil {
		return err
	}
	_, err := callJSON(ctx, client, http.MethodPost, target, "", commandResponse{Type: "ephemeral", Text: text})
	return err
}

// A commandResponse is the body for the URL that a command brings, at Slack and Mattermost.
type commandResponse struct {
	Type string `json:"response_type"`
	Text string `json:"text"`
}
