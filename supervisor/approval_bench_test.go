package supervisor_test

import (
	"strconv"
	"testing"
	"time"

	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
)

// leave is a desk whose worker and chat answer at once, and whose requesters agree as soon as they are asked.
type leave struct {
	*desk
	owner  *supervisor.Owner
	agents map[string]*memory.Worker
	runs   int
	agreed int
}

// newLeave has the requester agree to what the worker does, if asks says so.
func newLeave(tb testing.TB, asks bool) *leave {
	tb.Helper()
	profile := deskProfile()
	profile.Waiting = &schemas.WaitingPolicy{Expire: schemas.Duration(time.Hour), Asks: 1}
	language := &profile.Languages[0]
	language.Approve, language.Reject, language.Texts.Approval = []string{"yes"}, []string{"no"}, "May {agent} do this? {work} {approve} or {reject}"
	if asks {
		profile.Approval = []schemas.ApprovalRule{{Agents: []string{"worker"}, People: []string{schemas.ApprovingRequester}, Expire: schemas.Duration(time.Hour)}}
	}
	d := newDeskOf(tb, profile, 1)
	l := &leave{desk: d, agents: d.pools("worker", "chat")}
	l.owner = d.open("leave", d.ledger, 0)
	return l
}

// run has somebody want something, and everybody do what they are asked until nobody is.
func (l *leave) run() {
	l.tb.Helper()
	l.runs++
	thread := "t" + strconv.Itoa(l.runs)
	l.say(thread, thread+".wants", "Please do it.")
	for again := true; again; {
		l.must(l.work(l.owner))
		again = false
		for _, name := range []string{"worker", "chat"} {
			for _, delivery := range l.agents[name].TryFetch(10) {
				event, err := binding.Decode(delivery.Message())
				l.must(err)
				l.answer(name, &event, "done")
				l.must(delivery.Ack(l.tb.Context()))
				again = true
				if _, task := schemas.ParseTaskSubject(event.Subject); schemas.HasNotificationID(task) {
					l.must(l.work(l.owner))
					l.say(thread, thread+".agrees", "yes")
					l.agreed++
				}
			}
		}
	}
}

// BenchmarkApproval is what it costs that somebody has to agree: the owner's own cost of a run that asks its requester, who agrees at once, beside one that asks nobody, in turn.
// Waiting for people is not in it.
func BenchmarkApproval(b *testing.B) {
	without, with := newLeave(b, false), newLeave(b, true)
	var spent, spentAsking time.Duration
	for b.Loop() {
		began := time.Now()
		without.run()
		asks := time.Now()
		with.run()
		spent, spentAsking = spent+asks.Sub(began), spentAsking+time.Since(asks)
	}
	if with.agreed != with.runs || without.agreed > 0 {
		b.Fatalf("%d of %d runs were agreed to, and %d of those that ask nobody", with.agreed, with.runs, without.agreed)
	}
	b.ReportMetric(float64(spent)/float64(without.runs), "ns/run")
	b.ReportMetric(float64(spentAsking)/float64(with.runs), "ns/approved-run")
	b.ReportMetric(float64(spentAsking)/float64(spent), "ratio")
}

// TestApprovedRuns: what the benchmark measures is a run to which somebody has agreed, and that has ended.
func TestApprovedRuns(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{false, true} {
		l := newLeave(t, asks)
		l.run()
		run := l.sessionHistory("t1").Runs[0]
		if agreed := len(run.Inquiries) == 1 && run.Inquiries[0].Approved(); agreed != asks || run.Status != schemas.RunCompleted || len(l.sessionHistory("t1").Runs) != 1 {
			t.Errorf("the run ends %s (%s), and is agreed to: %t", run.Status, run.Reason, agreed)
		}
		l.clean()
	}
}
