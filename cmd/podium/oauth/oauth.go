// Package oauth gets access tokens of OAuth 2 for mail servers (RFC 6749): with a
// refresh token in the name of a person, or by client credentials in the name of
// the application.
//
// Guarantees:
//
//   - A token is renewed when four fifths of its life are over, by one request at a
//     time, whoever asks; until it ends, a provider that does not answer is no
//     failure.
//   - A refresh token that the provider gives in place of another is on disk, 0600,
//     before anything is done with it or with the access token beside it. While it
//     cannot be written it is kept, and written when it is needed next.
//   - Processes that share a file take over what another was given: a refresh token
//     is used once, unless two of them ask at the same moment.
//   - What a provider says stays out of errors: it may name people.
//
// golang.org/x/oauth2 would spare the form and the request, sixty lines: it keeps no
// token, sends no scopes with a refresh token, and puts what a provider says into errors.
package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	answerDeadline = 30 * time.Second
	answerLimit    = 1 << 20         // bytes
	defaultLife    = 5 * time.Minute // of a token whose answer does not say
	retryAfter     = 30 * time.Second
	clockSkew      = 5 * time.Minute // by which a clock may be set back
)

var (
	// ErrRefused reports that the provider refuses: asking again without a
	// person's help is in vain (RFC 6749, section 5.2: invalid_grant,
	// invalid_client, unauthorized_client and the like).
	ErrRefused = errors.New("the provider refuses to give a token")
	// ErrUnreachable reports that the provider cannot be had now.
	ErrUnreachable = errors.New("the provider of tokens does not answer")
)

// A Config says where tokens come from.
type Config struct {
	TokenURL     string
	ClientID     string
	ClientSecret string
	RefreshToken string // the first one; "" asks by client_credentials
	Scopes       []string
	File         string           // where what has to outlive the process is kept
	HTTP         *http.Client     // default: one with a deadline that follows no redirect
	Clock        func() time.Time // default time.Now
}

// A Source gives tokens. It is safe for use by several goroutines at once.
type Source struct {
	config Config

	asking chan struct{} // held by who talks to the provider

	mu    sync.Mutex
	state state
	retry time.Time // before which a provider that failed is not asked while the token lives
	// discarded is the newest access token that a server has refused; unwritten is
	// what the provider gave and could not be kept yet.
	discarded string
	unwritten *state
}

// state is what is kept on disk.
type state struct {
	// Grant tells which configuration the tokens belong to.
	Grant        string    `json:"grant"`
	RefreshToken string    `json:"refresh_token,omitempty"`
	AccessToken  string    `json:"access_token,omitempty"`
	Issued       time.Time `json:"issued"`
	Expires      time.Time `json:"expires"`
}

// New returns a source, with the tokens of its file if they belong to this
// configuration. It connects to nobody.
func New(config Config) (*Source, error) {
	if config.Clock == nil {
		config.Clock = time.Now
	}
	if config.HTTP == nil {
		config.HTTP = &http.Client{
			Timeout:       answerDeadline,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	s := &Source{config: config, asking: make(chan struct{}, 1)}
	var err error
	s.state, err = s.load()
	return s, err
}

// Token returns an access token that is valid now.
func (s *Source) Token(ctx context.Context) (string, error) {
	token, _, err := s.Expiring(ctx)
	return token, err
}

// Expiring returns an access token and when it ends.
func (s *Source) Expiring(ctx context.Context) (token string, expires time.Time, err error) {
	if token, expires, fresh := s.current(); fresh {
		return token, expires, nil
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return "", time.Time{}, context.Cause(ctx)
	}
	if token, expires, fresh := s.current(); fresh { // someone else has asked meanwhile
		return token, expires, nil
	}
	err = s.renew(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.config.Clock()
	if err != nil && !errors.Is(err, ErrRefused) && now.Before(s.state.Expires) {
		s.retry, err = now.Add(retryAfter), nil
	}
	if err != nil {
		return "", time.Time{}, err
	}
	return s.state.AccessToken, s.state.Expires, nil
}

// current returns the token; it is fresh while four fifths of its life are not
// over, or while nobody can be asked for another.
func (s *Source) current() (token string, expires time.Time, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.config.Clock()
	fresh = s.state.lives(now) && (s.state.young(now) || now.Before(s.retry))
	return s.state.AccessToken, s.state.Expires, fresh
}

// lives tells whether there is a token that has not ended. One from the future was
// issued while the clock was ahead: nobody knows when it ends.
func (k *state) lives(now time.Time) bool {
	return k.AccessToken != "" && now.Before(k.Expires) && !now.Add(clockSkew).Before(k.Issued)
}

// young tells whether four fifths of its life are not over.
func (k *state) young(now time.Time) bool {
	return now.Before(k.Issued.Add(k.Expires.Sub(k.Issued) * 4 / 5))
}

// takeOver returns to what another process has kept since, and reports whether its
// token is good enough.
func (s *Source) takeOver() bool {
	kept, err := s.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || kept.AccessToken == "" || kept.AccessToken == s.discarded || !kept.Issued.After(s.state.Issued) {
		return false
	}
	s.state = kept
	now := s.config.Clock()
	return kept.lives(now) && kept.young(now)
}

// writeKept writes what could not be written when the provider gave it, and reports
// whether that settles the matter.
func (s *Source) writeKept() (settled bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unwritten == nil {
		return false, nil
	}
	if err := s.save(*s.unwritten); err != nil {
		return false, err
	}
	s.state, s.unwritten = *s.unwritten, nil
	now := s.config.Clock()
	return s.state.lives(now) && s.state.young(now), nil
}

// renew asks for a token, unless another process has. When the provider refuses the
// refresh token and the file holds another one by then, that one is tried.
func (s *Source) renew(ctx context.Context) error {
	if settled, err := s.writeKept(); settled || err != nil {
		return err
	}
	if s.takeOver() {
		return nil
	}
	used := s.refreshToken()
	err := s.ask(ctx, used)
	if !errors.Is(err, ErrRefused) || used == "" {
		return err
	}
	kept, loadErr := s.load()
	if loadErr != nil || kept.RefreshToken == "" || kept.RefreshToken == used {
		return err
	}
	return s.ask(ctx, kept.RefreshToken)
}

func (s *Source) refreshToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.state.RefreshToken, s.config.RefreshToken)
}

// answer is the provider's (RFC 6749, section 5.1).
type answer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token"`
	Error        string `json:"error"`
}

func (s *Source) ask(ctx context.Context, refreshToken string) error {
	// Whoever asks may go; the answer is awaited all the same, because the provider
	// may have taken the refresh token back by then.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerDeadline)
	defer cancel()
	asked := s.config.Clock()
	got, err := s.post(ctx, s.form(refreshToken))
	if err != nil {
		return err
	}
	life := time.Duration(got.ExpiresIn) * time.Second
	if life <= 0 || got.ExpiresIn > 1<<31 {
		life = defaultLife
	}
	next := state{
		Grant: s.grant(), AccessToken: got.AccessToken, RefreshToken: refreshToken,
		Issued: asked, Expires: asked.Add(life),
	}
	if got.RefreshToken != "" && refreshToken != "" {
		next.RefreshToken = got.RefreshToken
	}
	err = s.save(next)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.unwritten = &next
		return err
	}
	s.state = next
	return nil
}

func (s *Source) form(refreshToken string) url.Values {
	form := url.Values{"client_id": {s.config.ClientID}}
	if s.config.ClientSecret != "" {
		form.Set("client_secret", s.config.ClientSecret)
	}
	if len(s.config.Scopes) > 0 {
		form.Set("scope", strings.Join(s.config.Scopes, " "))
	}
	if refreshToken == "" {
		form.Set("grant_type", "client_credentials")
		return form
	}
	form.Set("grant_type", "refresh_token")
	form.Set("refresh_token", refreshToken)
	return form
}

func (s *Source) post(ctx context.Context, form url.Values) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	response, err := s.config.HTTP.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return answer{}, context.Cause(ctx)
		}
		return answer{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var got answer
	unreadable := json.Unmarshal(body, &got) != nil
	switch {
	case response.StatusCode == http.StatusOK && !unreadable && got.AccessToken != "":
		return got, nil
	case response.StatusCode == http.StatusTooManyRequests, response.StatusCode >= http.StatusInternalServerError, got.Error == "temporarily_unavailable":
		return answer{}, fmt.Errorf("%w: status %d", ErrUnreachable, response.StatusCode)
	case response.StatusCode == http.StatusBadRequest, response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		return answer{}, fmt.Errorf("%w: %s (status %d)", ErrRefused, known(got.Error), response.StatusCode)
	}
	return answer{}, fmt.Errorf("%w: what answers at the token URL does not speak OAuth 2 (status %d)", ErrUnreachable, response.StatusCode)
}

// known lets the codes of RFC 6749 through and nothing else.
func known(code string) string {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"interaction_required", "consent_required", "login_required":
		return code
	}
	return "without a known reason"
}
