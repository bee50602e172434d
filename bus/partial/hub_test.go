package partial_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus/partial"
	"podium/schemas"
)

const (
	first  = "5b1c7d0e-7a3f-4d52-9a1e-2f6c0f6a8e11"
	second = "6b1c7d0e-7a3f-4d52-9a1e-2f6c0f6a8e12"
)

func send(t *testing.T, hub *partial.Hub, agent, request string, offset int, text string) error {
	t.Helper()
	body, err := schemas.Marshal(schemas.Partial{Request: request, Offset: offset, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return hub.Take(agent, body)
}

// TestTextGrows: what comes later goes on where it says, replaces what was there, and wakes whoever waits.
func TestTextGrows(t *testing.T) {
	t.Parallel()
	hub := partial.New()
	hub.Expect("writer", first, time.Time{})
	if said, changed := hub.Said(first); said != "" || changed == nil {
		t.Fatalf("%q, %v", said, changed)
	}
	for _, step := range []struct {
		offset     int
		text, want string
	}{{0, "Good mor", "Good mor"}, {8, "ning", "Good morning"}, {5, "evening", "Good evening"}, {0, "Hello", "Hello"}, {5, "", "Hello"}} {
		_, changed := hub.Said(first)
		if err := send(t, hub, "writer", first, step.offset, step.text); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		default:
			t.Error("nobody is woken")
		}
		if said, _ := hub.Said(first); said != step.want {
			t.Errorf("said %q, want %q", said, step.want)
		}
	}
}

// TestNobodyElseIsHeard: another agent, a request that was not announced, a gap, too much and what is no partial change nothing.
func TestNobodyElseIsHeard(t *testing.T) {
	t.Parallel()
	hub := partial.New()
	hub.Expect("writer", first, time.Time{})
	if err := send(t, hub, "writer", first, 0, "mine"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"another agent":    {send(t, hub, "other", first, 0, "forged"), partial.ErrUnexpected},
		"another request":  {send(t, hub, "writer", second, 0, "forged"), partial.ErrUnexpected},
		"a gap":            {send(t, hub, "writer", first, 5, "late"), partial.ErrGap},
		"too long":         {send(t, hub, "writer", first, 4, strings.Repeat("x", schemas.MaxPartial-3)), partial.ErrTooLong},
		"a negative place": {send(t, hub, "writer", first, -1, "x"), nil},
		"no JSON":          {hub.Take("writer", []byte("{")), nil},
	} {
		if c.err == nil || c.want != nil && !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if said, _ := hub.Said(first); said != "mine" {
		t.Errorf("said %q", said)
	}
	if said, changed := hub.Said(second); said != "" || changed != nil {
		t.Errorf("%q of a request that nobody has sent", said)
	}
}

// TestTextsAreForgotten: with their request's expiry, and the oldest when there are too many.
func TestTextsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := partial.New()
		hub.Expect("writer", first, time.Now().Add(time.Minute))
		hub.Expect("writer", second, time.Now().Add(-time.Second))
		if _, changed := hub.Said(second); changed != nil {
			t.Error("a request is streamed that has expired")
		}
		time.Sleep(time.Minute + time.Second)
		if err := send(t, hub, "writer", first, 0, "late"); !errors.Is(err, partial.ErrUnexpected) {
			t.Errorf("after its expiry: %v", err)
		}
	})
}

// TestACharacterInTwoPieces is whole, or not shown.
func TestACharacterInTwoPieces(t *testing.T) {
	t.Parallel()
	hub := partial.New()
	hub.Expect("writer", first, time.Time{})
	for _, step := range []struct {
		offset     int
		text, want string
	}{{0, "für", "für"}, {2, "x", "fx"}} {
		if err := send(t, hub, "writer", first, step.offset, step.text); err != nil {
			t.Fatal(err)
		}
		if said, _ := hub.Said(first); said != step.want {
			t.Errorf("said %q, want %q", said, step.want)
		}
	}
}
