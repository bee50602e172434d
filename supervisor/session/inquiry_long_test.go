package session_test

import (
	"strings"
	"testing"

	"podium/schemas"
)

// TestLongAnswersMakeSmallRecords: a record refers to long words, and does not repeat them, neither as what the words say of the needs nor as arguments; the
// state of the session is as small.
func TestLongAnswersMakeSmallRecords(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"needs": `
profile default=clerk
waiting: {expire: 72h, asks: 2}
----

chat id=c1 thread=t user=U1
Please write a letter.
----

answer task=t1 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}, schema: {type: string}}]
----

chat id=c2 thread=t user=U1 padding=900000
To Rue de la Paix 3.
----
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := attack(t, script)
			if size := len(canonical(t, s.records[len(s.records)-1])); size > 16*schemas.RecordInlineLimit {
				t.Errorf("the record has %d bytes", size)
			}
			if size := len(canonical(t, s.state)); size > 16*schemas.RecordInlineLimit {
				t.Errorf("the state has %d bytes, %d times the words", size, strings.Count(string(canonical(t, s.state)), "and so on and so on")/20000)
			}
		})
	}
}
