package sim

import (
	"strings"

	"podium/bus/binding"
	"podium/schemas"
)

// The invariants that speak of what leaves no record. A former owner may have written
// to a session since its successor has loaded it, and no append tells the successor
// when it refuses something or passes it by.
const (
	WantedIsTaken     = "what an agent says about a request on record is not refused while its run is under way"
	SignsOfLifeCount  = "who has given a sign of life is not taken for one that has not begun"
	QuestionsAreHeard = "who asks for a permit while it is waited for is not told that nobody waits"
)

// wantedIsTaken: what is put into quarantine names no request that stood in the ledger
// before it, of a run that is still under way then and was since; unless nobody can read it, or it has
// come by the subject of another agent.
func (o *oracle) wantedIsTaken(s *shardHistory, refused *schemas.Quarantined) {
	if refused.Reason == schemas.QuarantineMalformed || refused.Reason == schemas.QuarantineUnproven {
		return
	}
	said, err := o.saidAt(s, refused.Sequence)
	asked := o.requests[said.request]
	if err != nil || asked == nil || asked.agent != said.agent || asked.at.sequence > refused.Sequence ||
		asked.task.run.ended != nil || asked.at.sequence < asked.task.run.reopened {
		return
	}
	o.world.violate(WantedIsTaken, "what agent %s says at %d about %s is in quarantine: %s, %s",
		said.agent, refused.Sequence, said.request, refused.Reason, refused.Detail)
}

// signsOfLifeCount: no attempt ends as one that has not begun by a process that had its
// agent's word that it has. A bare message may have to wait until it is known whose it is.
func (o *oracle) signsOfLifeCount(m *moment) {
	f := schemas.As[*schemas.TaskFailed](m.fact)
	if f == nil || f.Cause != schemas.FailureNotStarted || m.task == nil || m.task.state != taskUnderWay {
		return
	}
	mine, known := o.world.watch.seen[m.at]
	if !known || mine.asked == unknown {
		return
	}
	asked := m.task.attempt
	for sequence := asked.at.sequence + 1; sequence < m.at.sequence; sequence++ {
		message := m.shard.inputs[sequence]
		if len(message.Header) == 0 || !strings.HasPrefix(message.Subject, "podium.agent."+asked.agent+".progress.") {
			continue
		}
		handed := o.world.watch.handed[handing{mine.process, sequence}]
		if said, err := o.saidAt(m.shard, sequence); err == nil && said.request == asked.fact.Request && handed > 0 && handed < mine.asked {
			o.world.violate(SignsOfLifeCount, "%s: attempt %d fails by %s, and agent %s works on it since %d",
				m.id, asked.number, f.Cause, asked.agent, sequence)
			return
		}
	}
}

// questionsAreHeard: whoever asks for a permit by a request that is under way is not told
// that nobody waits, unless a record says so.
func (o *oracle) questionsAreHeard() {
	if len(o.world.watch.denied) == 0 {
		return
	}
	type question struct {
		asked *attempt
		first uint64 // of its copies
	}
	questions := map[place]map[string]question{} // by shard and permit
	for shard, s := range o.shards {
		at := place{shard: shard}
		questions[at] = map[string]question{}
		for sequence, message := range s.inputs {
			if !strings.Contains(message.Subject, ".permit.") {
				continue
			}
			event, err := binding.Decode(message)
			said, unread := o.saidAt(s, sequence)
			asked := o.requests[said.request]
			if err != nil || unread != nil || asked == nil || asked.agent != said.agent {
				continue
			}
			if known, again := questions[at][event.ID]; !again || sequence < known.first {
				questions[at][event.ID] = question{asked, sequence}
			}
		}
	}
	for _, told := range o.world.watch.denied {
		q := questions[place{shard: told.shard}][told.permit]
		if q.asked == nil || q.asked.at.sequence > q.first || q.asked.overAt != 0 && q.asked.overAt <= told.after ||
			o.denied[told.permit] || o.permits[told.permit] != nil {
			continue
		}
		o.world.violate(QuestionsAreHeard, "agent %s is told after %d that nobody waits for request %s, of which it has asked at %d",
			q.asked.agent, told.after, q.asked.fact.Request, q.first)
	}
}
