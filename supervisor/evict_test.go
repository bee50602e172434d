package supervisor_test

import (
	"testing"
	"time"

	"podium/supervisor"
)

// TestForgottenSessionLeavesItsSuccessor: when a session has left memory, what
// was still to ring for it does not take along the one that has its place by then.
func TestForgottenSessionLeavesItsSuccessor(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("first", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(first))
	d.now = d.now.Add(5 * time.Minute) // nobody has owned the shard meanwhile
	o := d.openWith(d.ledger, func(config *supervisor.Config) { config.CatchUp = 8 * time.Second })
	d.must(d.work(o)) // it does not take for true yet that nobody has answered, and will look again
	d.answerNewest("worker", "done")
	d.must(d.work(o))
	d.answerNewest("chat", "")
	d.must(d.work(o))
	if open := o.OpenSessions(); open != 0 {
		t.Fatalf("%d sessions are open after the end", open)
	}
	d.say("other", "m2", "do that") // the low watermark passes the session, and it is forgotten
	d.must(d.work(o))
	d.say("thread", "m3", "and this")
	d.must(d.work(o))
	d.spin(o, 3*time.Second)
	if open := o.OpenSessions(); open != 2 {
		t.Errorf("%d sessions are open while two are at work", open)
	}
	d.clean()
}
