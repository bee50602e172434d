package verify

import (
	"bytes"
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/session"
)

// TestSnapshotsOfBeforeVerify: a snapshot whose queue holds every message whole, as an
// earlier version has written it, is that of the state; nothing else may differ.
func TestSnapshotsOfBeforeVerify_X07(t *testing.T) {
	t.Parallel()
	const whole = `{"applied":9,"queue":[` +
		`{"message":{"channel":"chat","id":"a","language":"en","reply":{"agent":"chat","thread":"t"},"sequence":7,"text":{"sequence":7,"size":2}},"run":2},` +
		`{"cancelled":true,"message":{"channel":"chat","id":"b","language":"en","reply":{"agent":"chat","thread":"t"},"sequence":8,"text":{"sequence":8,"size":2}},"run":3},` +
		`{"message":{"channel":"chat","id":"c","language":"en","reply":{"agent":"chat","thread":"t"},"sequence":9,"text":{"sequence":9,"size":2}},"run":4}` +
		`],"records":3,"runs":4,"session":"s"}`
	var state session.State
	if err := schemas.Unmarshal([]byte(whole), &state); err != nil {
		t.Fatal(err)
	}
	today, err := schemas.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(today, []byte(whole)) || !isSnapshot(today, &state) || !isSnapshot([]byte(whole), &state) {
		t.Errorf("written today as %s", today)
	}
	for _, change := range [][2]string{
		{`"records":3`, `"records":4`},
		{`"session":"s"`, `"session":"s","closed":1`},
		{`"sequence":7,"text"`, `"sequence":6,"text"`},
		{`"cancelled":true,`, ``},
		{`"size":2}},"run":4`, `"size":3}},"run":4`},
		{`"runs":4`, `"runs":4,"unknown":1`},
	} {
		if other := strings.Replace(whole, change[0], change[1], 1); other == whole || isSnapshot([]byte(other), &state) {
			t.Errorf("with %s for %s it is the snapshot as well", change[1], change[0])
		}
	}
	if isSnapshot([]byte(`{`), &state) || isSnapshot([]byte(`{"queue":[{}]}`), &state) {
		t.Error("what cannot be read is the snapshot")
	}
}
