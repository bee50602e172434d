package oauth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"podium/cmd/podium/oauth"
)

// The provider rotates its refresh token; whoever asked goes away before the answer is there.
func TestCancelledAskLosesNoRotatedToken(t *testing.T) {
	t.Parallel()
	var valid atomic.Value
	valid.Store("first")
	inside := make(chan struct{}, 1)
	release := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("refresh_token") != valid.Load() {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
			return
		}
		if valid.Load() == "first" {
			valid.Store("second") // it is used up from here on
			inside <- struct{}{}
			<-release
			_, _ = w.Write([]byte(`{"access_token":"a","expires_in":3600,"refresh_token":"second"}`))
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"b","expires_in":3600}`))
	}))
	defer provider.Close()
	source, err := oauth.New(oauth.Config{TokenURL: provider.URL, ClientID: "c", RefreshToken: "first", File: filepath.Join(t.TempDir(), "t.json")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = source.Token(ctx) // whatever it is told
	}()
	<-inside
	cancel() // a stop in order, or a request that expires
	close(release)
	<-asked
	if _, err := source.Token(t.Context()); err != nil {
		t.Fatalf("the mailbox is locked out: %v", err)
	}
}
