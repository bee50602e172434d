package schemas

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A later format may add what this one has no word for: members, facts, values. Whoever reads
// this format never meets any, since a ledger of another one is refused before it is read
// (bus.CheckFormat). These tests hold what becomes of it all the same, when somebody has
// changed the number: nothing is taken for something else.

// TestUnknownMembersChangeNothing: what is known is read as without them.
func TestUnknownMembersChangeNothing(t *testing.T) {
	t.Parallel()
	const cause, fact = `"time":"2026-01-31T12:00:00Z","profile":"p"`, `"run":1,"task":"t1","attempt":1,"result":{"text":"done"}`
	for name, c := range map[string]struct {
		into        any
		plain, with string
	}{
		"a record": {new(Record), `{"session":"s","number":1,"transitions":[]}`, `{"session":"s","number":1,"transitions":[],"sealed":{"by":"k"}}`},
		"a cause":  {new(Cause), `{` + cause + `}`, `{` + cause + `,"budget":{"left":7}}`},
		"a fact":   {new(Facts), `[{"task_completed":{` + fact + `}}]`, `[{"task_completed":{` + fact + `,"mood":{"tokens":7},"by":"human"}}]`},
		"a checkpoint": {
			new(Checkpoint), `{"epoch":1,"owner":"o","time":"2026-01-31T12:00:00Z"}`, `{"epoch":1,"owner":"o","time":"2026-01-31T12:00:00Z","members":["a"]}`,
		},
	} {
		var written [2][]byte
		for i, body := range []string{c.plain, c.with} {
			if err := Unmarshal([]byte(body), c.into); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var err error
			if written[i], err = Marshal(c.into); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(written[0], written[1]) {
			t.Errorf("%s with an unknown member is %s, without it %s", name, written[1], written[0])
		}
	}
}

// TestUnknownFactsAreRefused: a fold without them would be another state.
func TestUnknownFactsAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"choir_began", "key_erased"} {
		body := `{"session":"s","number":1,"transitions":[{"cause":{"time":"2026-01-31T12:00:00Z","profile":"p"},"facts":[{"run_ended":{"run":1}},{"` + name + `":{"run":1}}]}]}`
		var record Record
		if err := Unmarshal([]byte(body), &record); !errors.Is(err, errUnknownFact) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnknownValuesAreKept: they are read and written as they are, and are none of those
// that are known.
func TestUnknownValuesAreKept(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`[{"message_received":{"id":"m","sequence":1,"disposition":"forwarded"}}]`,
		`[{"task_failed":{"run":1,"task":"t1","attempt":1,"cause":"verdict"}}]`,
		`[{"run_settled":{"run":1,"status":"failed","reason":"budget_exhausted"}}]`,
		`[{"permit_refused":{"run":1,"task":"t1","attempt":1,"permit":"p","reason":"unapproved","agent":"a"}}]`,
	} {
		var facts Facts
		if err := Unmarshal([]byte(body), &facts); err != nil {
			t.Fatal(err)
		}
		if written, err := Marshal(facts); err != nil || string(written) != body {
			t.Errorf("%s is written as %s (%v)", body, written, err)
		}
	}
	var received MessageReceived
	if err := Unmarshal([]byte(`{"id":"m","sequence":1,"run":3,"disposition":"forwarded"}`), &received); err != nil || received.Begins() {
		t.Errorf("an unknown disposition begins a run (%v)", err)
	}
}
