package supervisor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/admission"
	"podium/supervisor/budget"
	"podium/supervisor/restore"
)

// accounts returns the accounts of all days in a ledger, by key.
func accounts(tb testing.TB, core bus.Core) map[string]budget.DayAccount {
	tb.Helper()
	store, found := core.KeyValue(bus.BudgetBucket), map[string]budget.DayAccount{}
	keys, err := store.Keys(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	for _, key := range keys {
		body, _, err := store.Get(context.Background(), key)
		var account budget.DayAccount
		if err == nil {
			err = schemas.Unmarshal(body, &account)
		}
		if err != nil {
			tb.Fatal(err)
		}
		found[key] = account
	}
	return found
}

// today is what is used and what is reserved on the day of a desk, in tokens, by all runs.
func (d *desk) today() (used, reserved int64) {
	d.tb.Helper()
	account := accounts(d.tb, d.ledger)["desk."+schemas.Day(d.now)]
	taken, open := account.Taken("").Tokens, account.Reserved("").Tokens
	return taken - open, open
}

func (d *desk) expectToday(used, reserved int64) {
	d.tb.Helper()
	if isUsed, isReserved := d.today(); isUsed != used || isReserved != reserved {
		d.tb.Fatalf("%d tokens are used and %d are reserved, want %d and %d", isUsed, isReserved, used, reserved)
	}
}

// finishWith answers the request of a thread's task, which has used so many tokens.
func (d *desk) finishWith(thread string, tokens int) {
	d.tb.Helper()
	id, _ := d.session(thread)
	requests := d.requests("worker")
	for i := range requests {
		if session, _, _ := schemas.ParseRunID(requests[i].CorrelationID); session == id {
			response := d.response("worker", &requests[i], "done")
			response.Payload.ResourceUsage = &schemas.ResourceUsage{TokensUsed: &tokens}
			body, err := schemas.Marshal(response)
			d.must(err)
			shard, _ := schemas.ShardOfRequest(requests[i].ID)
			d.put(bus.ResponseSubject("worker", shard), &schemas.Event{
				ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: requests[i].Subject, Time: d.now,
				CausationID: requests[i].ID, CorrelationID: requests[i].CorrelationID, Attempt: requests[i].Attempt, EffectID: requests[i].EffectID,
				DataContentType: schemas.MediaTypeJSON, Data: body,
			})
			return
		}
	}
	d.tb.Fatalf("%s has asked nobody", thread)
}

// aDay bounds what runs use on one day.
func aDay(tokens int64, exhausted schemas.BudgetExhausted) func(*schemas.Profile) {
	return func(profile *schemas.Profile) {
		profile.Retry.Attempts = 1
		profile.Budget = &schemas.Budget{Day: schemas.Usage{Tokens: tokens}, Reserve: schemas.Usage{Tokens: 10}, Exhausted: exhausted}
	}
}

// TestDayBudgetOfManyRuns: 200 runs of two owners at once exceed the limit of a day by no more than those that were under way have used beyond what was
// reserved for them. Who does not fit waits, and goes when others leave some. What is reserved is settled in the end, at what was used.
func TestDayBudgetOfManyRuns(t *testing.T) {
	t.Parallel()
	const runs, limit, reserve = 200, 300, 10
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test repeats
	used := 0
	var beyond []int // what was reserved, by request as they end
	profile := deskProfile()
	aDay(limit, schemas.BudgetWaits)(&profile)
	local := &admission.LocalOwners{}
	i := install(t, profile, func(config *supervisor.Config) { config.LocalOwners = local }, map[string]agent.HandlerFunc{"chat": delivered, "worker": func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
		timer := time.NewTimer(3 * time.Millisecond)
		<-timer.C
		mu.Lock()
		defer mu.Unlock()
		tokens := []int{1, 2, 3, 18}[random.IntN(4)]
		used, beyond = used+tokens, append(beyond, max(tokens-reserve, 0))
		outcome := agent.Text("done")
		outcome.Usage = &schemas.ResourceUsage{TokensUsed: &tokens}
		return outcome, nil
	}})
	var sessions []string
	for number := range runs {
		sessions = append(sessions, i.say(number%2, number, "do it"))
	}
	total, open, days := int64(0), int64(0), 0
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		total, open, days = 0, 0, 0
		last := int64(0)
		for _, account := range accounts(t, i.core) {
			last, open, days = account.Taken("").Tokens, open+account.Reserved("").Tokens, days+1
			total += last
		}
		if open == 0 && last+reserve > limit {
			break
		}
		timer := time.NewTimer(20 * time.Millisecond)
		<-timer.C
	}
	mu.Lock()
	defer mu.Unlock()
	if open > 0 || total != int64(used) || days > 2 {
		t.Errorf("%d tokens are used, and %d accounts have %d, %d of them reserved", used, days, total, open)
	}
	over := 0 // of those at most that were under way when the last one began: no more have room
	for _, tokens := range beyond[max(len(beyond)-days*limit/reserve, 0):] {
		over += tokens
	}
	if used > days*limit+over {
		t.Errorf("%d tokens are used of %d, and those under way went %d beyond what was reserved", used, limit, over)
	}
	completed, parked := len(beyond), 0
	for end := time.Now().Add(30 * time.Second); completed+parked != runs && time.Now().Before(end); {
		parked = 0
		for _, session := range sessions {
			if i.parked(session) {
				parked++
			}
		}
	}
	if completed+parked != runs || completed <= limit/reserve {
		t.Errorf("%d runs have fitted, and %d wait", completed, parked)
	}
	t.Logf("%d of %d runs have fitted, and used %d tokens of %d; at most %d of these were beyond what was reserved", completed, runs, used, limit, over)
	i.clean()
}

// parked reports whether the first run of a session waits for the budget of the day.
func (i *installation) parked(session string) bool {
	i.t.Helper()
	found, err := restore.Load(i.t.Context(), i.core, session)
	if err != nil {
		i.t.Fatal(err)
	}
	return found.State.Active != nil && found.State.Active.Parked() != nil
}

// TestDayBudgetIsWaitedFor: who waits for the budget of a day goes on when others leave some, of another process too, else when the next day begins.
func TestDayBudgetIsWaitedFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(aDay(15, schemas.BudgetWaits))
	zero, one := d.open("zero", d.ledger, 0), d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "do it")
	d.expect(first)
	d.expectToday(0, 10)
	second, third := d.ask(one, 1, 2, "do it"), d.ask(one, 1, 3, "do it")
	d.expect(first)
	for _, thread := range []string{second, third} {
		if parked := d.sessionHistory(thread).Run(1).Parked(); parked == nil || !parked.HeldForDay() {
			t.Errorf("%s is not parked", thread)
		}
	}
	d.finishWith(first, 4)
	d.settle(zero, one)
	d.expectToday(4, 0)
	d.now = d.now.Add(10 * time.Second) // it looks again
	d.settle(one)
	d.expectToday(4, 10)
	asked := d.requests("worker")
	if len(asked) != 2 {
		t.Fatalf("the worker was asked %d times", len(asked))
	}
	d.spin(one, 5*time.Second)
	goes, waits := second, third
	if d.state(third) == workflow.TaskDispatched {
		goes, waits = third, second
	}
	d.finishWith(goes, 10)
	d.settle(zero, one)
	d.expectToday(14, 0)
	d.now = d.now.Add(time.Minute)
	d.settle(one)
	d.expect()
	d.now = midnight().Add(24 * time.Hour)
	d.settle(one)
	d.expect(waits)
	d.expectToday(0, 10)
	d.finishWith(waits, 7)
	d.settle(one)
	d.expectToday(7, 0)
	if run := d.sessionHistory(waits).Run(1); run.Phase != workflow.PhaseComplete && run.Status != schemas.RunCompleted {
		t.Errorf("%s is %s, %s", waits, run.Phase, run.Status)
	}
	d.clean()
}

// crash loses what an owner writes to a session from some moment on, as if its process had died right before.
type crash struct {
	*trouble
	dead bool
}

func (d *desk) crashing() *crash {
	c := &crash{}
	c.trouble = &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if c.dead && strings.HasPrefix(message.Subject, "podium.session.") {
			return silent
		}
		return stored
	}}
	return c
}

// TestDayBudgetIsReservedOnce: what an owner has reserved before it died, and nobody has heard of, is what its successor reserves for the same request.
func TestDayBudgetIsReservedOnce(t *testing.T) {
	t.Parallel()
	d, thread := reservedAndLost(t)
	successor := d.open("successor", d.ledger, 0)
	d.spin(successor, 2*time.Second)
	d.expect(thread)
	d.expectToday(0, 10)
	d.finishWith(thread, 12)
	d.settle(successor)
	d.expectToday(12, 0)
	d.clean()
}

// TestDayBudgetIsReleased: what was reserved for a request that is never made is given back when its session is loaded.
func TestDayBudgetIsReleased(t *testing.T) {
	t.Parallel()
	d, thread := reservedAndLost(t)
	d.cancel(thread)
	successor := d.open("successor", d.ledger, 0)
	d.spin(successor, 2*time.Second)
	d.expect()
	d.expectToday(0, 0)
	d.clean()
}

// reservedAndLost is a desk whose only owner has died between reserving what a request may use and saying that it goes out.
func reservedAndLost(t *testing.T) (d *desk, thread string) {
	t.Helper()
	d = newDesk(t, 1)
	d.use(aDay(15, schemas.BudgetWaits))
	dying := d.crashing()
	thread = d.threadOf(0, 1)
	records := 0
	dying.lose = func(message bus.Message) fate {
		if id, _ := d.session(thread); message.Subject != bus.SessionSubject(id, 1) {
			return stored
		}
		if records++; records > 1 {
			return silent
		}
		return stored
	}
	d.ask(d.open("zero", dying, 0), 0, 1, "do it")
	d.expect()
	d.expectToday(0, 10)
	return d, thread
}

// TestDayBudgetIsSettledOnce: an answer counts once, also when the owner dies before the ledger has heard what it has used, or when it has heard it and
// nobody knows.
func TestDayBudgetIsSettledOnce(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]deafness{"NothingIsRead": deaf, "NothingIsConfirmed": storesDeafly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(aDay(100, schemas.BudgetWaits))
			ear := hears
			zero := d.open("zero", deafStore{d.ledger, &ear}, 0)
			thread := d.ask(zero, 0, 1, "do it")
			d.expectToday(0, 10)
			ear = trouble
			d.finishWith(thread, 12)
			d.must(d.work(zero))
			if run := d.sessionHistory(thread).Run(1); run.Tasks[0].State != workflow.TaskCompleted {
				t.Fatalf("its task is %s", run.Tasks[0].State)
			}
			successor := d.open("successor", d.ledger, 0)
			d.spin(successor, 2*time.Second)
			d.expectToday(12, 0)
			d.finishWith(thread, 12)
			d.settle(successor)
			d.expectToday(12, 0)
			d.clean()
		})
	}
}

// TestDayBudgetUnanswered: while the ledger does not say whether something fits the budget of the day, nothing goes out, and nothing is lost.
func TestDayBudgetUnanswered(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]deafness{"NothingIsRead": deaf, "NothingIsConfirmed": storesDeafly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(aDay(15, schemas.BudgetEnds))
			ear := hears
			o := d.open("zero", deafStore{d.ledger, &ear}, 0)
			ear = trouble
			first := d.ask(o, 0, 1, "do it")
			second := d.ask(o, 0, 2, "do it")
			d.expect()
			ear = hears
			d.now = d.now.Add(time.Second)
			d.must(d.work(o))
			d.expect(first)
			d.expectToday(0, 10)
			if run := d.sessionHistory(second).Run(1); run.Reason != schemas.StopBudget {
				t.Errorf("the other ended as %s (%s)", run.Status, run.Reason)
			}
			d.clean()
		})
	}
}

// TestDayBudgetAfterALossOfPower: when the bucket has lost what was reserved, what is under way is reserved again, and settled by its answer.
func TestDayBudgetAfterALossOfPower(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(aDay(15, schemas.BudgetWaits))
	first := d.ask(d.open("zero", d.ledger, 0), 0, 1, "do it")
	d.expectToday(0, 10)
	d.must(d.ledger.KeyValue(bus.BudgetBucket).Delete(context.Background(), "desk."+schemas.Day(d.now)))
	local := &admission.LocalOwners{}
	local.RequireLeaseAdoption(1)
	successor := d.openAs("successor", d.ledger, 0, func(config *supervisor.Config) { config.LocalOwners = local })
	d.spin(successor, 2*time.Second)
	d.expectToday(0, 10)
	d.ask(successor, 0, 2, "do it")
	d.expect(first)
	d.finishWith(first, 3)
	d.must(d.work(successor))
	d.expectToday(3, 10)
	d.clean()
}

// TestDayBudgetIsForgotten: accounts of days are kept for a month.
func TestDayBudgetIsForgotten(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.use(aDay(100, schemas.BudgetWaits))
	store := d.ledger.KeyValue(bus.BudgetBucket)
	for days := range 40 {
		_, err := store.Put(context.Background(), "desk."+schemas.Day(d.now.AddDate(0, 0, -days-1)), []byte("{}"))
		d.must(err)
	}
	_, err := store.Put(context.Background(), "other."+schemas.Day(d.now.AddDate(-1, 0, 0)), []byte("{}"))
	d.must(err)
	d.ask(d.open("zero", d.ledger, 0), 0, 1, "do it")
	keys := accounts(t, d.ledger)
	if oldest := fmt.Sprint("desk.", schemas.Day(d.now.AddDate(0, 0, -31))); len(keys) != 1+31+1 || keys[oldest].Used != nil {
		t.Errorf("%d accounts are left", len(keys))
	}
	d.expectToday(0, 10)
}
