package supervisor_test

import (
	"fmt"
	"testing"
	"time"

	"podium/bus"
	"podium/supervisor"
)

// A message that ends in quarantine because what follows from it cannot be stored
// gives back the room that its decision had been admitted to (M-17).
func TestAnUnstorableMessageKeepsNoRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	refused := map[string]bool{}
	core := &strict{Core: d.ledger, refuse: func(m bus.Message) error {
		if refused[m.Subject] {
			return bus.ErrTooLarge
		}
		return nil
	}}
	o := d.openWith(core, func(c *supervisor.Config) { c.PoolSize = func(string) int { return 1 } })
	d.spin(o, 5*time.Second)
	for i := range 3 { // one at work, and two in its queue
		id, _ := d.session(fmt.Sprint("large", i))
		refused[bus.SessionSubject(id, 1)] = true
		d.say(fmt.Sprint("large", i), fmt.Sprint("l", i), "do it")
		d.spin(o, 5*time.Second)
	}
	if n := len(d.refusals()); n != 3 {
		t.Fatalf("%d in quarantine", n)
	}
	d.say("thread", "m1", "do it")
	d.spin(o, time.Hour)
	if len(d.askedOf("thread")) == 0 {
		t.Error("an hour later the idle worker has not been asked")
	}
}
