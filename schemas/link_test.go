package schemas_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"podium/schemas"
)

// TestLinkOf: a link holds the body as it is stored and every record before it. Where the
// body stands, and whether anybody can read it, makes no difference.
func TestLinkOf(t *testing.T) {
	t.Parallel()
	body := []byte(`{"session":"s"}`)
	hash := sha256.Sum256(body)
	first := schemas.LinkOf(&schemas.Event{Data: body}, body)
	if first.String() != "fdc659f75ebcf9ab878d6c2760e43d76356e9904e5fd334208258cc0e8a57780" {
		t.Errorf("the first record has link %s", first)
	}
	for name, same := range map[string]schemas.Event{
		"in the object store": {Artifact: &schemas.Artifact{SHA256: hex.EncodeToString(hash[:])}},
		"encrypted":           {KeyID: "k", Data: body},
	} {
		stored := body
		if same.Artifact != nil {
			stored = nil
		}
		if schemas.LinkOf(&same, stored) != first {
			t.Errorf("%s it has another link", name)
		}
	}
	second := schemas.LinkOf(&schemas.Event{Chain: first.String()}, body)
	for name, other := range map[string]schemas.Link{
		"the first":     first,
		"other bytes":   schemas.LinkOf(&schemas.Event{Chain: first.String()}, []byte(`{"session": "s"}`)),
		"another chain": schemas.LinkOf(&schemas.Event{Chain: hex.EncodeToString(hash[:])}, body),
	} {
		if other == second {
			t.Errorf("%s and the second record have one link", name)
		}
	}
	if none := (schemas.Link{}).String(); none != "" {
		t.Errorf("no record has link %q", none)
	}
}
