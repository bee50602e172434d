package session

import (
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// TestRepliesOfAClockThatWasAhead: an owner whose clock was ahead has sent an answer, and another one has sent some after it, at earlier times. What is older than the window of the
// budget counts no more, so that an answer waits for a moment that has not passed, and not again and again for one that has.
func TestRepliesOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	to := schemas.Address{Address: "ana@example.org"}
	run := &workflow.Run{Message: schemas.Incoming{Channel: schemas.ChannelEmail, Reply: &schemas.Reply{To: []schemas.Address{to}}}}
	var sent []SentReply
	for _, after := range []time.Duration{30 * time.Minute, 0, time.Minute} {
		sent = append(sent, SentReply{Time: start.Add(after), To: schemas.Mailbox(to.Address)})
	}
	profile := &plan.Profile{}
	for limit, want := range map[int]time.Duration{1: 90 * time.Minute, 2: 61 * time.Minute, 3: 0} {
		profile.Conversation.RepliesPerHour = limit
		d := &decision{input: &Input{Now: start.Add(time.Hour)}, state: State{Active: run, Correspondents: &Correspondents{SentReplies: sent}}}
		reason, from := withheldAnswer(d, profile)
		if from.IsZero() != (want == 0) || !from.IsZero() && !from.Equal(start.Add(want)) || reason != "" {
			t.Errorf("with %d an hour the answer waits until %s, want %s after the start", limit, from, want)
		}
	}
}
