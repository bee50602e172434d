package supervisor_test

import (
	"testing"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/restore"
)

// A result that stands in for another (M-29) is held to the output schema of the
// profile that takes it, like any result (M-27).
func TestAReusedAnswerIsChecked_M27_M29(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	loose, strictly := deskProfile(), deskProfile()
	loose.Agents[0].Reuse = schemas.Duration(time.Hour)
	strictly.Name = "strict"
	strictly.Agents = []schemas.AgentUse{{
		Name: "worker", Reuse: schemas.Duration(time.Hour),
		OutputSchema: []byte(`{"type":"object","required":["dose"]}`),
	}}
	var err error
	d.profiles, err = restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{loose, strictly})
	d.must(err)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.deliverAll(o, "worker", "chat")
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "other", MessageID: "m2", Text: "do it"})
	d.must(err)
	d.put(bus.InSubject("chat", 0), &schemas.Event{
		ID: "m2", Source: "/desk", Type: schemas.TypeChatReceived, Time: d.now, Profile: "strict", PartitionKey: "other",
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	d.must(d.work(o))
	for _, record := range d.recordsOf(schemas.SessionID("strict", "other")) {
		for fact := range record.AllFacts() {
			if schemas.As[*schemas.TaskCompleted](fact) != nil {
				t.Errorf("the task is completed by message %d, which has no dose", schemas.As[*schemas.TaskCompleted](fact).Reused)
			}
		}
	}
}

// TestAnAnswerIsAsOldAsItIs: how long an answer may stand in for others (M-29) counts from when it came, however much later it was decided.
func TestAnAnswerIsAsOldAsItIs(t *testing.T) {
	t.Parallel()
	for later, reused := range map[time.Duration]bool{3 * time.Second: true, 6 * time.Second: false} {
		var d *desk
		d = newDesk(t, 1, memory.WithClock(func() time.Time { return d.now }))
		d.use(func(p *schemas.Profile) { p.Agents[0].Reuse = schemas.Duration(5 * time.Second) })
		o := d.open("one", d.ledger, 0)
		d.say("thread", "m1", "do it")
		d.must(d.work(o))
		came := d.now
		d.answerNewest("worker", "done")
		d.now = came.Add(2 * time.Second)
		d.must(d.work(o)) // it is decided late
		d.now = came.Add(later)
		d.say("other", "m2", "do it")
		d.must(d.work(o))
		if asked := len(d.requests("worker")); asked != 1 && reused || asked != 2 && !reused {
			t.Errorf("%v after the answer: its agent was asked %d times", later, asked)
		}
	}
}
