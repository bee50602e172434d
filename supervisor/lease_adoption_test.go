package supervisor_test

import (
	"testing"
	"time"

	"podium/bus"
	"podium/supervisor"
	"podium/supervisor/admission"
)

// A cut is a loss of power: all owners are gone, and the bucket of leases is what it was.
type cut struct {
	*desk
	kept map[string][]byte // what the bucket held before
}

func newCut(t *testing.T) *cut {
	t.Helper()
	c := &cut{desk: newDesk(t, 2), kept: map[string][]byte{}}
	c.use(sharing)
	return c
}

// keep remembers the bucket as it is now.
func (c *cut) keep() {
	c.tb.Helper()
	store := c.ledger.KeyValue(bus.LeaseBucket)
	keys, err := store.Keys(c.tb.Context())
	c.must(err)
	clear(c.kept)
	for _, key := range keys {
		c.kept[key], _, err = store.Get(c.tb.Context(), key)
		c.must(err)
	}
}

// power makes the bucket what was kept of it, and opens new owners.
func (c *cut) power() (zero, one *supervisor.Owner) {
	c.tb.Helper()
	store := c.ledger.KeyValue(bus.LeaseBucket)
	keys, err := store.Keys(c.tb.Context())
	c.must(err)
	for _, key := range keys {
		c.must(store.Delete(c.tb.Context(), key))
	}
	for key, value := range c.kept {
		_, err = store.Put(c.tb.Context(), key, value)
		c.must(err)
	}
	local := &admission.LocalOwners{}
	local.RequireLeaseAdoption(2)
	together := func(config *supervisor.Config) { config.LocalOwners = local }
	return c.openAs("zero again", c.ledger, 0, together), c.openAs("one again", c.ledger, 1, together)
}

// TestLeaseThatIsGoneIsAdopted: a lease that a loss of power has taken out of the bucket
// is given to nobody while its request is under way, whichever owner works first.
func TestLeaseThatIsGoneIsAdopted_M19(t *testing.T) {
	t.Parallel()
	c := newCut(t)
	zero, one := c.open("zero", c.ledger, 0), c.open("one", c.ledger, 1)
	first := c.ask(zero, 0, 1, "print")
	second := c.ask(one, 1, 2, "print")
	c.expect(first)
	zero, one = c.power() // nothing was kept
	c.spin(one, 3*time.Second)
	c.expect(first) // the other shard has not adopted
	c.spin(zero, 3*time.Second)
	c.spin(one, 3*time.Second)
	c.expect(first)
	c.finish(first)
	c.settle(zero, one)
	c.expect(second)
	c.clean()
}

// TestLeaseOfThePastIsAdopted: a lease that is what it was before, somebody else's, is the
// request's that is under way by the records.
func TestLeaseOfThePastIsAdopted_M19(t *testing.T) {
	t.Parallel()
	c := newCut(t)
	zero, one := c.open("zero", c.ledger, 0), c.open("one", c.ledger, 1)
	before := c.ask(one, 1, 1, "print")
	c.keep()
	c.now = c.now.Add(30 * time.Second)
	c.finish(before)
	c.settle(one, zero)
	first := c.ask(zero, 0, 2, "print")
	second := c.ask(one, 1, 3, "print")
	c.expect(first)
	zero, one = c.power()
	for range 20 { // 40 s: the lease of the past ends in 30
		c.spin(zero, time.Second)
		c.spin(one, time.Second)
		c.expect(first)
	}
	c.finish(first)
	c.settle(zero, one)
	c.expect(second)
	c.clean()
}

// TestLeasesAreTakenAgain: where nothing is under way nobody waits for long, and an owner
// that ends before the others have adopted counts for nothing.
func TestLeasesAreTakenAgain_M19(t *testing.T) {
	t.Parallel()
	c := newCut(t)
	zero, one := c.power()
	first := c.ask(zero, 0, 1, "print")
	c.expect()
	c.spin(one, 2*time.Second)
	c.spin(zero, 2*time.Second)
	c.expect(first)
	c.clean()
}
