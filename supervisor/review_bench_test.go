package supervisor_test

import (
	"strconv"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
)

// A reviewedDesk is a desk whose agents answer at once, and whose critic finds something in so many rounds of each run, and then nothing.
type reviewedDesk struct {
	*desk
	owner  *supervisor.Owner
	agents map[string]*memory.Worker
	finds  int
	runs   int
}

// newReviewedDesk has what runs make looked at by a critic, unless it finds less than nothing.
func newReviewedDesk(tb testing.TB, finds int) *reviewedDesk {
	tb.Helper()
	profile := deskProfile()
	profile.Execution.Mode = schemas.ExecutionDAG
	profile.Agents = append(profile.Agents, schemas.AgentUse{Name: "critic", Kinds: []schemas.RequestKind{schemas.KindJudge}})
	if finds >= 0 {
		profile.Review = &schemas.Review{Rounds: max(finds, 1), Checks: []schemas.Check{{Agent: "critic"}}}
	}
	d := newDeskOf(tb, profile, 1)
	r := &reviewedDesk{desk: d, agents: d.pools("worker", "critic", "chat"), finds: finds}
	r.owner = d.open("reviewed", d.ledger, 0)
	return r
}

// run has somebody want something, and everybody do what they are asked until nobody is. It returns how often each agent was asked.
func (r *reviewedDesk) run() map[string]int {
	r.tb.Helper()
	r.runs++
	thread, asked := "t"+strconv.Itoa(r.runs), map[string]int{}
	r.say(thread, thread+".wants", "Please do it.")
	for again := true; again; {
		r.must(r.work(r.owner))
		again = false
		for _, name := range []string{"worker", "critic", "chat"} {
			for _, delivery := range r.agents[name].TryFetch(10) {
				event, err := binding.Decode(delivery.Message())
				r.must(err)
				if asked[name]++; name == "critic" {
					r.judge(&event, asked[name] > r.finds)
				} else {
					r.answer(name, &event, "done")
				}
				r.must(delivery.Ack(r.tb.Context()))
				again = true
			}
		}
	}
	return asked
}

// judge has the critic say whether what it was shown is right.
func (r *reviewedDesk) judge(request *schemas.Event, right bool) {
	r.tb.Helper()
	found := schemas.ValidationResult{Validator: "critic", Status: schemas.ValidationPassed}
	if !right {
		found.Status, found.Issues = schemas.ValidationFailed, []schemas.ValidationIssue{{Severity: schemas.ValidationError, Message: "A sum is wrong."}}
	}
	response := r.response("critic", request, "")
	response.Payload.Result, response.Payload.ValidationResults = nil, []schemas.ValidationResult{found}
	body, err := schemas.Marshal(response)
	r.must(err)
	shard, _ := schemas.ShardOfRequest(request.ID)
	r.put(bus.ResponseSubject("critic", shard), &schemas.Event{
		ID: response.MessageID, Source: binding.SourceOf("critic"), Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: r.now,
		CausationID: request.ID, CorrelationID: request.CorrelationID, Attempt: request.Attempt, EffectID: request.EffectID,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// BenchmarkReview is what it costs that what a run has made is looked at: the owner's own cost of a run that is reviewed and found right, and of one that goes back to work once
// and is looked at again, beside one that nobody reviews, in turn.
func BenchmarkReview(b *testing.B) {
	desks := [...]*reviewedDesk{newReviewedDesk(b, -1), newReviewedDesk(b, 0), newReviewedDesk(b, 1)}
	var spent [len(desks)]time.Duration
	for b.Loop() {
		for i, desk := range desks {
			began := time.Now()
			desk.run()
			spent[i] += time.Since(began)
		}
	}
	runs := float64(desks[0].runs)
	b.ReportMetric(float64(spent[0])/runs, "ns/run")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio-reviewed")
	b.ReportMetric(float64(spent[2])/float64(spent[0]), "ratio-one-round")
}

// TestReviewedRuns: what the benchmark measures are runs that are reviewed as it says, and have ended.
func TestReviewedRuns(t *testing.T) {
	t.Parallel()
	for finds, want := range map[int]map[string]int{-1: {"worker": 1, "chat": 1}, 0: {"worker": 1, "critic": 1, "chat": 1}, 1: {"worker": 2, "critic": 2, "chat": 1}} {
		r := newReviewedDesk(t, finds)
		asked := r.run()
		run := r.sessionHistory("t1").Runs[0]
		for agent, times := range want {
			if asked[agent] != times || run.Status != schemas.RunCompleted {
				t.Errorf("with %d rounds it ends %s (%s), and they are asked %v", finds, run.Status, run.Reason, asked)
			}
		}
		r.clean()
	}
}
