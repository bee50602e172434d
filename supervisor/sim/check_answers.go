package sim

import (
	"iter"
	"slices"
	"strings"
	"time"

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
func signsOfLifeCount(o *oracle, m *moment, f *schemas.TaskFailed) {
	if f.Cause != schemas.FailureNotStarted || m.task == nil || m.task.state != taskUnderWay {
		return
	}
	mine, known := o.world.watch.seen[m.at]
	if !known || mine.asked == unknown {
		return
	}
	asked := m.task.attempt
	for sequence := range o.signsOfLife(m, mine) {
		o.world.violate(SignsOfLifeCount, "%s: attempt %d fails by %s, and agent %s works on it since %d",
			m.id, asked.number, f.Cause, asked.agent, sequence)
		return
	}
}

// signsOfLife are those about the attempt under way that a process has read before it has decided a record.
func (o *oracle) signsOfLife(m *moment, mine sighting) iter.Seq2[uint64, saying] {
	asked := m.task.attempt
	return func(yield func(uint64, saying) bool) {
		for sequence := asked.at.sequence + 1; sequence < m.at.sequence; sequence++ {
			message := m.shard.inputs[sequence]
			if len(message.Header) == 0 || !strings.HasPrefix(message.Subject, "podium.agent."+asked.agent+".progress.") {
				continue
			}
			handed := o.world.watch.handed[handing{mine.process, sequence}]
			if said, err := o.saidAt(m.shard, sequence); err == nil && said.request == asked.fact.Request && handed > 0 && handed < mine.asked && !yield(sequence, said) {
				return
			}
		}
	}
}

// questionsAreHeard: whoever asks for a permit by a request that is under way is not told
// that nobody waits, unless a record says so.
func questionsAreHeard(o *oracle) {
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

// The invariants that speak of agents that answer by callback.
const (
	CountsOnce   = "an answer to one request counts once, and to an earlier attempt only when its agent answers by callback and has the one under way"
	AnswersCount = "an answer by callback counts for the attempt under way whichever attempt of the task was told the same, in whichever run for the effect"
	AttemptsEnd  = "every attempt that was begun ends"
)

// longestSkew is more than two clocks differ by.
const longestSkew = 10 * time.Second

// attempt returns the one under way, or nil.
func (m *moment) attempt() *attempt {
	if m.task == nil || m.task.state != taskUnderWay {
		return nil
	}
	return m.task.attempt
}

// settles: what a record says to be answered for good was asked of an agent that answers by callback, is what
// its cause answers, and was not answered before.
func (o *oracle) settles(s *shardHistory, session *sessionHistory, cause *schemas.Cause) {
	if cause.Settles == "" {
		return
	}
	said, err := o.saidAt(s, cause.Sequence)
	asked := o.requests[cause.Settles]
	if err != nil || said.request != cause.Settles || said.open || asked == nil || asked.task.run.session != session || asked.agent != said.agent || !o.world.callbacks.is(said.agent) {
		o.world.violate(CountsOnce, "session %s: input %d of agent %q settles request %s", session.id, cause.Sequence, said.agent, cause.Settles)
	}
	if session.settled[cause.Settles] {
		o.world.violate(CountsOnce, "session %s: request %s is settled once more by %d", session.id, cause.Settles, cause.Sequence)
	}
	session.settled[cause.Settles] = true
}

// countsForLater reports whether an answer to an earlier attempt of the task counts for the one under way.
func (o *oracle) countsForLater(m *moment, by *saying) bool {
	earlier := o.requests[by.request]
	return earlier != nil && m.task.repeats(earlier) && o.world.callbacks.is(by.agent) && m.cause.Settles == by.request &&
		!by.open && by.status != "" && !earlier.saysNothing(by)
}

// repeats reports whether the attempt under way is another one at the same work as an earlier attempt: of the task itself, or of an earlier run for the same
// effect that has told the same agent the same.
func (t *task) repeats(earlier *attempt) bool {
	now := t.attempt
	switch {
	case earlier.agent != now.agent:
		return false
	case earlier.task == t:
		return true
	case earlier.task.id != t.id || earlier.fact.Told == "" || earlier.fact.Told != now.fact.Told:
		return false
	}
	for before := range t.run.before {
		if done := before.task(t.id); done != nil && done.state == taskCompleted {
			return false
		}
		if before == earlier.task.run {
			return true
		}
	}
	return false
}

// before yields the earlier attempts of a run at what it does for whoever is upstream, the newest first, back to where
// a person has stopped one or another piece of work was done.
func (r *run) before(yield func(*run) bool) {
	piece := func(r *run) string {
		if r.message.Upstream == nil {
			return ""
		}
		return r.message.Upstream.Effect
	}
	for _, other := range slices.Backward(r.session.runs[:r.number-1]) {
		switch {
		case piece(other) == "":
		case piece(other) != piece(r) || other.ended == nil || other.ended.Final || !yield(other):
			return
		}
	}
}

// saysNothing reports whether an answer may be that of a process which was handed a request once more, and refused a permit: it knows nothing of the
// work.
func (a *attempt) saysNothing(by *saying) bool {
	return a.refused && by.status == schemas.StatusFailed
}

// answersCount: an answer is late when there is nothing that it counts for.
func answersCount(o *oracle, m *moment, f *schemas.ResponseLate) {
	by, err := o.saidAt(m.shard, f.Sequence)
	earlier := o.requests[by.request]
	if err != nil || earlier == nil || by.open || by.status == "" || by.agent != earlier.agent || !o.world.callbacks.is(by.agent) {
		return
	}
	runs := earlier.task.run.session.runs
	now := runs[len(runs)-1]
	if t := now.task(earlier.task.id); now.ended == nil && t != nil && t.state == taskUnderWay && t.repeats(earlier) &&
		!earlier.saysNothing(&by) {
		o.world.violate(AnswersCount, "%s: the answer to attempt %d is late, and attempt %d of run %d is under way", m.id, earlier.number, t.attempt.number, now.number)
	}
}

// countsOnce: an answer that decides something is remembered, so that its repeat decides nothing.
func (o *oracle) countsOnce(m *moment, by *saying) {
	failed := schemas.As[*schemas.TaskFailed](m.fact)
	if by.status == "" || by.open || failed != nil && failed.Cause == schemas.FailureMalformed || !o.world.callbacks.is(by.agent) {
		return
	}
	if m.cause.Settles != by.request {
		o.world.violate(CountsOnce, "%s: %s by the answer to %s, and %q is settled", m.id, m.fact.Name(), by.request, m.cause.Settles)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// saysSilent notes what a sign of life says of the next one, which is believed of an agent that answers by callback.
func (o *oracle) saysSilent(m *moment, a *attempt) {
	if said, err := o.saidAt(m.shard, m.cause.Sequence); o.world.callbacks.is(a.agent) && err == nil && said.until.After(m.cause.Time) && said.request == a.fact.Request {
		a.silent = later(a.silent, earlier(said.until, a.fact.Expires))
	}
}

// waits notes until when the agent of an attempt waits with it.
func (a *attempt) waits(m *moment, until time.Time) {
	if until.IsZero() && !a.waiting.IsZero() {
		a.resumed = m.at
	}
	a.waiting = until
}

// placeless reports whether a request takes no place, as far as whoever decides knows: what works again does as soon as it is known to.
func (o *oracle) placeless(m *moment, a *attempt) bool {
	if !a.waiting.IsZero() || a.resumed == (place{}) {
		return !a.waiting.IsZero()
	}
	mine, seen := o.world.watch.seen[m.at]
	written, ours := o.world.watch.seen[a.resumed]
	if ours && seen && written.process == mine.process && written.known == unknown {
		return true
	}
	_, knows := m.knows(mine, o.world.watch.seen, a.resumed)
	return !knows
}

// roomWithin is longer than it takes to give somebody a place, once nothing goes wrong.
const roomWithin = 5 * time.Second

// roomIsGiven: once nothing goes wrong, nobody waits for a supervisor that has a place, since what waits there takes none.
func roomIsGiven(o *oracle, m *moment) {
	w := o.world
	if w.tiers == nil || w.calmSince.IsZero() || m.cause.Time.Before(w.calmSince.Add(roomWithin)) {
		return
	}
	mine, known := w.watch.seen[m.at]
	if !known || mine.asked == unknown || o.bars(m, mine, tower) {
		m.shard.roomSince = time.Time{}
		return
	}
	places, waits := w.places(tower, m.at.shard), ""
	for t := range m.shard.tasks[tower] {
		switch {
		case t.state == taskUnderWay && t.attempt.waiting.IsZero():
			places--
		case t.state == taskReady && t != m.task && t.ready.sequence > m.shard.since(m.record.Epoch) && m.cause.Time.Sub(t.begun) > roomWithin && len(t.resources()) == 0 && !t.waitsForJudge() && !t.held:
			waits = t.run.id() + "/" + t.id
		}
	}
	switch since := m.shard.roomSince; {
	case places <= 0 || waits == "":
		m.shard.roomSince = time.Time{}
	case since.IsZero(): // it may be given by the next fact
		m.shard.roomSince = m.cause.Time
	case m.cause.Time.Sub(since) > roomWithin:
		w.violate(RoomIsGiven, "%s: at %s %s waits for %s, which has %d places since %s", m.id, m.cause.Time, waits, tower, places, since)
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// attemptsEnd: nobody waits for ever, however silent an agent is.
func attemptsEnd(o *oracle) {
	for request, decided := range o.requests {
		if decided.over.IsZero() {
			o.world.violate(AttemptsEnd, "request %s, attempt %d of %s/%s, has not ended", request, decided.number, decided.task.run.id(), decided.task.id)
		}
	}
}
