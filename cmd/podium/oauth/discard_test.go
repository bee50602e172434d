package oauth_test

import (
	"net/http"
	"testing"
)

func TestDiscardedTokensAreNotGivenAgain_I14(t *testing.T) {
	t.Parallel()
	p := &provider{refresh: "r"}
	config, _ := start(t, p)
	s := source(t, config)
	first := token(t, s)
	s.Discard("another")
	if got := token(t, s); got != first {
		t.Errorf("after another one was discarded: %q", got)
	}
	s.Discard(first)
	second := token(t, s)
	if second == first {
		t.Errorf("it is given again: %q", second)
	}
	s.Discard(first) // somebody comes late
	if got := token(t, s); got != second {
		t.Errorf("the new one is gone: %q", got)
	}
	s.Discard(second)
	p.locked(func() { p.status = http.StatusServiceUnavailable })
	if got, err := s.Token(t.Context()); err == nil || got != "" {
		t.Errorf("while nobody answers: %q, %v", got, err)
	}
}
