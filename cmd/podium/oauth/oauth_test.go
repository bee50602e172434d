package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/cmd/podium/oauth"
)

// A provider gives tokens, and rotates refresh tokens when told to.
type provider struct {
	mu      sync.Mutex
	asked   []url.Values
	refresh string // the only one that is valid; "" is client credentials
	rotate  bool
	status  int // instead of an answer
	body    string
	onAsk   func()
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = r.ParseForm()
	p.asked = append(p.asked, r.PostForm)
	if p.onAsk != nil {
		p.onAsk()
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
		_, _ = fmt.Fprint(w, p.body)
		return
	}
	if r.PostForm.Get("refresh_token") != p.refresh {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprint(w, `{"error":"invalid_grant","error_description":"erika@example.org has changed her password"}`)
		return
	}
	answer := map[string]any{"access_token": fmt.Sprintf("access-%d", len(p.asked)), "token_type": "Bearer", "expires_in": 3600}
	if p.rotate {
		p.refresh = fmt.Sprintf("refresh-%d", len(p.asked))
		answer["refresh_token"] = p.refresh
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (p *provider) locked(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// clock is set by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func start(t *testing.T, p *provider) (oauth.Config, *clock) {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	now := &clock{now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)}
	return oauth.Config{
		TokenURL: server.URL, ClientID: "client", ClientSecret: "secret", RefreshToken: p.refresh, Scopes: []string{"one", "two"},
		File: filepath.Join(t.TempDir(), "credentials", "support.token"), Clock: now.Now,
	}, now
}

func source(t *testing.T, config oauth.Config) *oauth.Source {
	t.Helper()
	made, err := oauth.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func token(t *testing.T, s *oauth.Source) string {
	t.Helper()
	got, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestClientCredentials_I14(t *testing.T) {
	t.Parallel()
	p := &provider{}
	config, now := start(t, p)
	s := source(t, config)
	if got := token(t, s); got != "access-1" {
		t.Errorf("token %q", got)
	}
	now.add(47 * time.Minute)
	if got := token(t, s); got != "access-1" {
		t.Errorf("before four fifths of its life: %q", got)
	}
	now.add(2 * time.Minute)
	if got := token(t, s); got != "access-2" {
		t.Errorf("after four fifths of its life: %q", got)
	}
	p.locked(func() {
		form := p.asked[0]
		if form.Get("grant_type") != "client_credentials" || form.Get("client_id") != "client" || form.Get("client_secret") != "secret" || form.Get("scope") != "one two" || form.Has("refresh_token") {
			t.Errorf("asked %v", form)
		}
	})
	if _, expires, err := s.Expiring(t.Context()); err != nil || !expires.Equal(now.Now().Add(time.Hour)) {
		t.Errorf("expires %v (%v)", expires, err)
	}
}

// TestRotatedRefreshTokensSurviveACrash_I14: another process goes on with the
// newest token, which was on disk before the access token was used.
func TestRotatedRefreshTokensSurviveACrash_I14(t *testing.T) {
	t.Parallel()
	p := &provider{refresh: "first", rotate: true}
	config, now := start(t, p)
	for want := 1; want <= 3; want++ {
		if got := token(t, source(t, config)); got != fmt.Sprintf("access-%d", want) {
			t.Errorf("token %q, want the one of answer %d", got, want)
		}
		if got := token(t, source(t, config)); got != fmt.Sprintf("access-%d", want) {
			t.Errorf("a token that lives is not used again: %q", got)
		}
		now.add(2 * time.Hour)
	}
	info, err := os.Stat(config.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	config.RefreshToken = "given anew"
	p.locked(func() { p.refresh = "given anew" })
	if got := token(t, source(t, config)); got != "access-4" {
		t.Errorf("with another configuration: %q", got)
	}
}

// TestUnwritableTokenIsNotUsed_I14: a rotated token that cannot be kept is a failure now, not later.
func TestUnwritableTokenIsNotUsed_I14(t *testing.T) {
	t.Parallel()
	p := &provider{refresh: "first", rotate: true}
	config, _ := start(t, p)
	config.File = filepath.Join(filepath.Dir(config.File), "occupied")
	s := source(t, config)
	if err := os.MkdirAll(filepath.Join(config.File, "by a folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Token(t.Context()); err == nil {
		t.Errorf("token %q was given out", got)
	}
}

// TestAnotherProcessHasRotated_I14: the one that was left behind takes over what the other kept.
func TestAnotherProcessHasRotated_I14(t *testing.T) {
	t.Parallel()
	p := &provider{refresh: "first", rotate: true}
	config, now := start(t, p)
	one, other := source(t, config), source(t, config)
	if got := token(t, one); got != "access-1" {
		t.Fatalf("token %q", got)
	}
	now.add(2 * time.Hour)
	if got := token(t, other); got != "access-2" { // with refresh-1 of the file: "first" would be refused
		t.Errorf("token %q", got)
	}
	if got := token(t, one); got != "access-2" { // from the file: nobody has to be asked
		t.Errorf("token %q", got)
	}
	p.locked(func() {
		for i, form := range p.asked {
			if got := form.Get("refresh_token"); i > 0 && got != fmt.Sprintf("refresh-%d", i) {
				t.Errorf("answer %d was asked for with %q: a provider takes the second use of a token for a theft", i+1, got)
			}
		}
	})
	one.Discard("access-2")
	if got := token(t, one); got != "access-3" {
		t.Errorf("a token that was refused comes back from the file: %q", got)
	}
}

// TestRotatedTokenIsKeptUntilItCanBeWritten_I14: when the disk is full, the only
// refresh token that still holds is not thrown away.
func TestRotatedTokenIsKeptUntilItCanBeWritten_I14(t *testing.T) {
	t.Parallel()
	p := &provider{refresh: "first", rotate: true}
	config, _ := start(t, p)
	folder := filepath.Dir(config.File)
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // where the folder has to be
		t.Fatal(err)
	}
	config.File = ""
	s := source(t, config)
	*oauth.FileOf(s) = filepath.Join(folder, "support.token")
	for range 3 {
		if got, err := s.Token(t.Context()); err == nil {
			t.Errorf("token %q was given out", got)
		}
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if got := token(t, s); got != "access-1" || len(p.asked) != 1 {
		t.Errorf("token %q after %d requests", got, len(p.asked))
	}
}

// TestClockThatWasAhead_I14: a token that was issued in the future is not believed
// to live until then.
func TestClockThatWasAhead_I14(t *testing.T) {
	t.Parallel()
	p := &provider{refresh: "first", rotate: true}
	config, now := start(t, p)
	now.add(4 * 365 * 24 * time.Hour)
	s := source(t, config)
	first := token(t, s)
	now.add(-4 * 365 * 24 * time.Hour)
	second := token(t, s)
	if second == first {
		t.Error("it is given out again")
	}
	if got := token(t, source(t, config)); got != second {
		t.Errorf("from the file: %q, want %q", got, second)
	}
}

func TestManyAskOnce_I14(t *testing.T) {
	t.Parallel()
	p := &provider{}
	config, _ := start(t, p)
	s := source(t, config)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got, err := s.Token(t.Context()); got != "access-1" || err != nil {
				t.Errorf("token %q (%v)", got, err)
			}
		})
	}
	all.Wait()
	p.locked(func() {
		if len(p.asked) != 1 {
			t.Errorf("asked %d times", len(p.asked))
		}
	})
}

func TestRefusalIsNoOutage_I14(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status  int
		body    string
		refused bool
	}{
		"invalid_grant":  {http.StatusBadRequest, `{"error":"invalid_grant","error_description":"erika@example.org"}`, true},
		"invalid_client": {http.StatusUnauthorized, `{"error":"invalid_client"}`, true},
		"own words":      {http.StatusBadRequest, `{"error":"erika@example.org"}`, true},
		"overload":       {http.StatusTooManyRequests, `{"error":"invalid_grant"}`, false},
		"server trouble": {http.StatusBadGateway, `<html>erika@example.org</html>`, false},
		"a portal":       {http.StatusOK, `<html>log in to the hotel's network</html>`, false},
		"a redirect":     {http.StatusFound, ``, false},
		"no token":       {http.StatusOK, `{"token_type":"Bearer"}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &provider{status: test.status, body: test.body}
			config, _ := start(t, p)
			_, err := source(t, config).Token(t.Context())
			if errors.Is(err, oauth.ErrRefused) != test.refused || errors.Is(err, oauth.ErrUnreachable) == test.refused {
				t.Errorf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "erika") {
				t.Errorf("the error names a person: %v", err)
			}
		})
	}
}

// TestOutageIsNoFailureWhileTheTokenLives_I14: the last fifth of its life is for that.
func TestOutageIsNoFailureWhileTheTokenLives_I14(t *testing.T) {
	t.Parallel()
	p := &provider{}
	config, now := start(t, p)
	s := source(t, config)
	token(t, s)
	p.locked(func() { p.status = http.StatusServiceUnavailable })
	now.add(50 * time.Minute)
	for range 5 {
		if got := token(t, s); got != "access-1" {
			t.Errorf("token %q", got)
		}
	}
	p.locked(func() {
		if len(p.asked) != 2 {
			t.Errorf("asked %d times in the same moment", len(p.asked))
		}
	})
	now.add(time.Hour)
	if _, err := s.Token(t.Context()); !errors.Is(err, oauth.ErrUnreachable) {
		t.Errorf("after its end: %v", err)
	}
	p.locked(func() { p.status = 0 })
	if got := token(t, s); got == "access-1" {
		t.Errorf("token %q", got)
	}
}

func TestWhoWaitsCanGiveUp(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	p := &provider{onAsk: sync.OnceFunc(func() { close(asked); <-answer })}
	config, _ := start(t, p)
	s := source(t, config)
	done := make(chan error, 1)
	go func() {
		_, err := s.Token(context.Background())
		done <- err
	}()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Token(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(answer)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDamagedFileIsNamed(t *testing.T) {
	t.Parallel()
	config, _ := start(t, &provider{})
	if err := os.MkdirAll(filepath.Dir(config.File), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := oauth.New(config); err == nil || !strings.Contains(err.Error(), config.File) {
		t.Errorf("error %v", err)
	}
}
