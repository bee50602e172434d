package supervisor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/schemas"
)

// TestAnswerIsWhereTheRuleSays: whoever asks a supervisor from outside gets one answer,
// whatever it names for it: at a shard's subject that is the supervisor's own to write,
// else on the work stream. Nothing that it names keeps the supervisor waiting.
func TestAnswerIsWhereTheRuleSays(t *testing.T) {
	t.Parallel()
	work, own := bus.ServiceSubject("top", string(bus.KindResponse)), bus.ResponseSubject("top", 1)
	for name, test := range map[string]struct{ replyTo, answer string }{
		"absent":                     {"", work},
		"the rule itself":            {work, work},
		"an inbox":                   {"_INBOX.LBLVy2wGsnrMf3r0NCfyFr", work},
		"no subject":                 {"to whom it may concern", work},
		"another agent's":            {bus.ResponseSubject("leaf", 0), work},
		"its progress":               {bus.ProgressSubject("top", 0), work},
		"a shard that there is":      {own, own},
		"a shard that there is not":  {bus.ResponseSubject("top", 2), work},
		"a shard beyond all bounds":  {bus.ResponseSubject("top", 65535), work},
		"a number that is no number": {"podium.agent.top.response.x", work},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNest(t, 2, tier("top", "leaf"))
				n.employ("leaf", say)
				n.appoint("top", "top")
				_, event := n.demand("top", "work", 1, taskFor("top", "one"))
				event.ReplyTo = test.replyTo
				n.put(bus.RequestSubject("top"), &event)
				time.Sleep(time.Minute)
				synctest.Wait()
				for _, place := range []string{work, own} {
					stream := bus.WorkStream
					if place == own {
						stream = bus.ShardStream(1)
					}
					said, want := n.events(stream, place), 0
					if place == test.answer {
						want = 1
					}
					if len(said) != want || want == 1 && said[0].CausationID != event.ID {
						t.Errorf("%d answers at %s", len(said), place)
					}
				}
				// An answer that its shard has not asked for is shown there.
				if shown := len(n.quarantined(1)); shown != 0 != (test.answer == own) {
					t.Errorf("%d in quarantine", shown)
				}
				shard := schemas.ShardOf(schemas.SessionID("top", schemas.EffectID("work", "all")), 2)
				for message, err := range n.ledger.Scan(t.Context(), bus.ShardStream(shard), 1, bus.InputSubjects(shard)...) {
					n.must(err)
					if lowWatermark := n.checkpoint(shard).LowWatermark; lowWatermark < message.Sequence {
						t.Errorf("what input %d says is still to be taken: the low watermark is %d", message.Sequence, lowWatermark)
					}
				}
				n.clean()
			})
		})
	}
}
