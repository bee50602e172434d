package supervisor_test

import (
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/restore"
)

// TestAnotherProfileAfterARestart: a run under way goes on with the profile that
// it began with; the next one begins with the new one.
func TestAnotherProfileAfterARestart(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	changed := deskProfile()
	changed.Languages[0].Texts.Empty = "finished"
	var err error
	d.profiles, err = restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{changed})
	d.must(err)
	o = d.open("two", d.ledger, 0)
	for i, want := range []string{`"text":"done"`, `"text":"finished"`} {
		d.must(d.work(o))
		d.answerNewest("worker", " ")
		d.must(d.work(o))
		deliveries := d.requests("chat")
		if len(deliveries) != i+1 || !strings.Contains(string(deliveries[i].Data), want) {
			t.Errorf("run %d says %s", i+1, deliveries[len(deliveries)-1].Data)
		}
		d.answerNewest("chat", "")
		d.must(d.work(o))
		d.say("thread", "m"+string(rune('2'+i)), "do it again")
	}
	d.clean()
}
