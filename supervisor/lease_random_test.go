package supervisor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/admission"
)

// needs is what the words of sharing stand for.
func needs(words string) []string {
	return map[string][]string{
		"print": {"printer"}, "urgent": {"printer"}, "scan": {"scanner"}, "copy": {"printer", "scanner"},
	}[words]
}

// A crowd is many sessions that need the same few things, whose owners die,
// stall and lose what the ledger says.
type crowd struct {
	*desk
	seed     uint64
	random   *rand.Rand
	local    *admission.LocalOwners
	owners   []*supervisor.Owner
	ear      deafness
	late     []func()          // operations of owners, dead ones too, that have not run yet
	words    map[string]string // by session
	finished map[string]bool   // by request
	done     map[string]bool   // by session
	names    int
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	t.Helper()
	c := &crowd{
		desk: newDesk(t, 3), seed: seed, random: rand.New(rand.NewPCG(seed, 19)), //nolint:gosec // a test repeats
		local: &admission.LocalOwners{}, words: map[string]string{}, finished: map[string]bool{},
		done: map[string]bool{},
	}
	c.use(func(profile *schemas.Profile) {
		sharing(profile)
		profile.Deadlines.Queue = schemas.Duration(24 * time.Hour)
		profile.Retry.Attempts = 20
	})
	for shard := range 3 {
		c.owners = append(c.owners, nil)
		c.reopen(shard)
	}
	return c
}

func (c *crowd) reopen(shard int) {
	c.tb.Helper()
	heard := c.ear
	c.ear = hears
	c.names++
	c.owners[shard] = c.openAs(fmt.Sprint("owner-", c.names), deafStore{c.ledger, &c.ear}, shard, func(config *supervisor.Config) {
		if c.random.IntN(2) == 0 {
			config.LocalOwners = c.local
		}
		config.PoolSize = func(string) int { return 2 }
		config.Go = func(operation func()) {
			if c.random.IntN(3) > 0 {
				operation()
				return
			}
			c.late = append(c.late, operation)
		}
	})
	c.ear = heard
}

// under lists the requests that nobody has answered, each once.
func (c *crowd) under() (under []schemas.Event) {
	c.tb.Helper()
	seen := map[string]bool{}
	for _, request := range c.requests("worker") {
		if !seen[request.ID] && !c.finished[request.ID] {
			under = append(under, request)
		}
		seen[request.ID] = true
	}
	return under
}

// check reports what is used by two at a time.
func (c *crowd) check() {
	c.tb.Helper()
	users := map[string]string{}
	for _, request := range c.under() {
		session, _, err := schemas.ParseRunID(request.CorrelationID)
		c.must(err)
		for _, resource := range needs(c.words[session]) {
			if users[resource] != "" {
				c.tb.Fatalf("seed %d: %s is used by %s and by %s", c.seed, resource, users[resource], request.CorrelationID)
			}
			users[resource] = request.CorrelationID
		}
	}
}

// finish has the agent answer.
func (c *crowd) finish(request *schemas.Event) {
	c.tb.Helper()
	session, _, err := schemas.ParseRunID(request.CorrelationID)
	c.must(err)
	c.finished[request.ID], c.done[session] = true, true
	c.answer("worker", request, "done")
}

func (c *crowd) step() {
	c.tb.Helper()
	switch n := c.random.IntN(20); {
	case n < 5:
		shard := c.random.IntN(3)
		thread := c.threadOf(shard, len(c.words))
		id, _ := c.session(thread)
		c.words[id] = []string{"print", "scan", "copy", "urgent", "anything"}[c.random.IntN(5)]
		c.say(thread, thread, c.words[id])
	case n < 10:
		if under := c.under(); len(under) > 0 {
			request := under[c.random.IntN(len(under))]
			if c.random.IntN(3) > 0 {
				c.finish(&request)
				break
			}
			c.finished[request.ID] = true
			c.refuse("worker", &request)
		}
	case n < 11:
		c.ear = []deafness{hears, hears, deaf, storesDeafly}[c.random.IntN(4)]
	case n < 12:
		c.reopen(c.random.IntN(3))
	case n < 13:
		c.now = c.now.Add(2 * time.Minute) // longer than a lease, and only some notice in time
	case n < 16 && len(c.late) > 0:
		at := c.random.IntN(len(c.late))
		operation := c.late[at]
		c.late = append(c.late[:at:at], c.late[at+1:]...)
		operation()
	default:
		c.now = c.now.Add(time.Duration(c.random.IntN(600)) * time.Millisecond)
	}
	c.must(c.work(c.owners[c.random.IntN(3)]))
}

// calm draws the largest number there is: nothing happens late.
type calm struct{}

func (calm) Uint64() uint64 { return 1<<64 - 1 }

// TestLeaseHoldsAlways: whatever happens, nothing is used by two tasks at a time,
// and in the end everybody has had what it needs.
func TestLeaseHoldsAlways_M19(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		c := newCrowd(t, seed)
		for range 120 {
			c.step()
			c.check()
		}
		c.ear = hears
		for rounds := 0; len(c.done) < len(c.words) && rounds < 40*len(c.words); rounds++ {
			c.now = c.now.Add(250 * time.Millisecond)
			for len(c.late) > 0 {
				operation := c.late[0]
				c.late = c.late[1:]
				operation()
			}
			c.settle(c.owners...)
			c.check()
			if under := c.under(); len(under) > 0 {
				c.finish(&under[0])
			}
		}
		c.random = rand.New(calm{})
		c.settle(c.owners...)
		for session, words := range c.words {
			if run := c.sessionHistory(c.threadFor(session)).Run(1); run.Tasks[0].State != workflow.TaskCompleted {
				t.Errorf("seed %d: %s waits to %s (%s)", seed, session, words, run.Tasks[0].State)
			}
		}
		c.clean()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (c *crowd) threadFor(session string) string {
	c.tb.Helper()
	for _, thread := range c.threads() {
		if id, _ := c.session(thread); id == session {
			return thread
		}
	}
	c.tb.Fatalf("there is no session %s", session)
	return ""
}
