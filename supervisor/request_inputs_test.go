package supervisor_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

// What one request brings is said once, however many tiers it passes.
func TestTextIsNotRepeatedByTiers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("outer", "middle"), tier("middle", "inner"), tier("inner", "worker"))
		n.appoint("outer", "outer")
		n.appoint("middle", "middle")
		n.appoint("inner", "inner")
		said := make(chan schemas.Task, 1)
		n.employ("worker", func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			said <- request.Payload.Tasks[0]
			return agent.Text("done"), nil
		})
		task := taskFor("outer", "all")
		task.Context.Inputs = map[string]schemas.TaskInput{"weight": {Result: schemas.Result{Text: "eighty kilos", Data: []byte(`{"kg":80}`)}}}
		n.ask("outer", "work", 1, task)
		told := <-said
		synctest.Wait()
		if string(told.Context.Inputs["weight"].Data) != `{"kg":80}` {
			t.Errorf("the data is lost: %+v", told.Context.Inputs)
		}
		if count := strings.Count(told.Description, "eighty kilos"); count != 1 {
			t.Errorf("after three tiers the words say it %d times: %q", count, told.Description)
		}
	})
}

// counted counts what is read of a stream by its sequence.
type counted struct {
	bus.Core
	gets atomic.Int64
}

func (c *counted) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	c.gets.Add(1)
	return c.Core.Get(ctx, stream, sequence)
}

// A plan that brings something to each of its tasks is read as often as a decision is made
// anew for it, and not for each task.
func TestWhatIsBroughtIsFetchedOnce(t *testing.T) {
	t.Parallel()
	g := newGraphs(t)
	profile := graphProfile()
	profile.Agents = []schemas.AgentUse{{Name: "worker", Reuse: schemas.Duration(time.Hour)}}
	var err error
	g.profiles, err = restore.NewProfiles(t.Context(), g.ledger.Artifacts(), []schemas.Profile{profile})
	g.must(err)
	core := &counted{Core: g.ledger}
	g.owner = g.open("counted", core, 0)
	before := core.gets.Load()
	g.bring(1, laden(100, 10))
	g.must(g.work(g.owner))
	if gets := core.gets.Load() - before; gets > 2 {
		t.Errorf("the request was read %d times for one record", gets)
	}
}

// A task that brings nothing does not have the request read again for the sake of another that does.
func TestWhoBringsNothingReadsNothing(t *testing.T) {
	t.Parallel()
	g := newGraphs(t)
	core := &counted{Core: g.ledger}
	g.owner = g.open("counted", core, 0)
	before := core.gets.Load()
	tasks := laden(1, 10)[:1]
	last := tasks[0].TaskID
	for _, id := range []string{"b", "c", "d", "e", "f"} {
		tasks = append(tasks, planTask(id, last))
		last = id
	}
	g.bring(1, tasks)
	for g.round() {
	}
	if gets := core.gets.Load() - before; g.answered != len(tasks) || gets > 1 {
		t.Errorf("for %d tasks, of which one brings something, the request was read %d times", g.answered, gets)
	}
}

// What is too large to be told stands in no record, in words, as a plan, in a queue and over tiers.
func TestWhatIsBroughtStandsInNoRecord(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("secret", 60<<10)
	for _, to := range []string{"outer", "middle"} {
		synctest.Test(t, func(t *testing.T) {
			profile := tier("outer", "middle")
			profile.Execution.ContextLimit = 8 << 20
			middle := tier("middle", "worker")
			middle.Execution.ContextLimit = 8 << 20
			n := newNest(t, 1, profile, middle)
			n.appoint("outer", "outer")
			n.appoint("middle", "middle")
			told := make(chan schemas.Task, 4)
			n.employ("worker", func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
				told <- request.Payload.Tasks[0]
				return agent.Text("done"), nil
			})
			task := taskFor(to, "all")
			task.Context.Inputs = map[string]schemas.TaskInput{"weight": {Result: schemas.Result{Data: []byte(`"` + secret + `"`)}}}
			_, event := n.demand("outer", "work", 1, task)
			n.must(artifact.Offload(t.Context(), n.ledger.Artifacts(), &event))
			n.put(bus.RequestSubject("outer"), &event)
			got := <-told
			synctest.Wait()
			if len(got.Context.Inputs["weight"].Data) != len(secret)+2 {
				t.Errorf("%d bytes were told", len(got.Context.Inputs["weight"].Data))
			}
			for message, err := range n.ledger.Scan(t.Context(), bus.ShardStream(0), 1, "podium.session.>") {
				n.must(err)
				if len(message.Body) > 16<<10 || strings.Contains(string(message.Body), "secret") {
					t.Errorf("a record has %d bytes", len(message.Body))
				}
			}
			verification, err := verify.Shard(t.Context(), n.ledger, n.profiles, 0, "")
			if err != nil || len(verification.Faults) > 0 {
				t.Errorf("%v: %+v", err, verification.Faults)
			}
		})
	}
}
