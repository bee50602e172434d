package replyref

import (
	"bytes"
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"podium/schemas"
)

func seal(tb testing.TB, key byte) *Sealer {
	tb.Helper()
	return New(func() ([]byte, error) { return bytes.Repeat([]byte{key}, 32), nil })
}

// A reply_ref says nothing, opens for its own channel until it expires, and is
// worth nothing once a bit of it is changed.
func TestReplyRefIsACapability(t *testing.T) {
	t.Parallel()
	ours, now := seal(t, 7), time.Unix(1_700_000_000, 0)
	route := schemas.ChatRoute{
		Place: "C2147483705", Thread: "1355517523.000005", Response: "https://hooks.slack.com/commands/T/1/secret", Received: now.UTC(),
	}
	ref, err := ours.Seal("team", &route, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(ref)
	if err != nil || strings.Contains(string(raw), "hooks") || strings.Contains(string(raw), "C2147483705") {
		t.Errorf("it can be read: %q (%v)", raw, err)
	}
	if again, _ := ours.Seal("team", &route, now.Add(time.Hour)); again == ref {
		t.Error("two of one route are equal")
	}
	opened, err := ours.Open("team", ref, now.Add(time.Hour-time.Second))
	if err != nil || !reflect.DeepEqual(*opened, route) {
		t.Errorf("%+v (%v)", opened, err)
	}
	for name, open := range map[string]func() (*schemas.ChatRoute, error){
		"expired":         func() (*schemas.ChatRoute, error) { return ours.Open("team", ref, now.Add(time.Hour)) },
		"another channel": func() (*schemas.ChatRoute, error) { return ours.Open("other", ref, now) },
		"another key":     func() (*schemas.ChatRoute, error) { return seal(t, 8).Open("team", ref, now) },
		"nothing":         func() (*schemas.ChatRoute, error) { return ours.Open("team", "", now) },
		"not base64":      func() (*schemas.ChatRoute, error) { return ours.Open("team", "=?=", now) },
	} {
		if _, err := open(); !errors.Is(err, ErrUnusable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		if _, err := ours.Open("team", base64.RawURLEncoding.EncodeToString(changed), now); !errors.Is(err, ErrUnusable) {
			t.Errorf("with another byte %d it opens: %v", i, err)
		}
	}
}

func FuzzReplyRef(f *testing.F) {
	ours := seal(f, 7)
	good, err := ours.Seal("team", &schemas.ChatRoute{Place: "C1"}, time.Unix(1_800_000_000, 0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, ref string) {
		if route, err := ours.Open("team", ref, time.Unix(1_700_000_000, 0)); err == nil && *route != (schemas.ChatRoute{Place: "C1"}) {
			t.Errorf("%q opens as %+v", ref, *route)
		}
	})
}

// Without a key nothing is sealed and nothing opened, and both say why.
func TestNoKey(t *testing.T) {
	t.Parallel()
	damaged := errors.New("the key is damaged")
	sealer := New(func() ([]byte, error) { return nil, damaged })
	_, sealed := sealer.Seal("team", &schemas.ChatRoute{}, time.Unix(1_800_000_000, 0))
	_, opened := sealer.Open("team", "AQ", time.Unix(1_700_000_000, 0))
	for _, err := range []error{sealer.Check(), sealed, opened} {
		if !errors.Is(err, damaged) {
			t.Errorf("%v", err)
		}
	}
	if New(func() ([]byte, error) { return make([]byte, 5), nil }).Check() == nil {
		t.Error("a key of five bytes will do")
	}
}
