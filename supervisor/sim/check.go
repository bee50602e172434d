package sim

import (
	"slices"
	"time"

	"podium/schemas"
)

// The invariants that every fact is held against, in the state before it.
const (
	NothingAfterTheEnd  = "nothing happens to a run after its end, and no work once it is settled"
	DependenciesFirst   = "a task begins when all that it depends on has ended"
	LevelsInOrder       = "with levels, a task begins when the levels before it have ended"
	AttemptsInOrder     = "attempts are numbered, one at a time, and none begins before its time"
	AnswersFit          = "what an agent says counts for the attempt that it was asked for"
	DeadlinesInTime     = "a deadline counts for its own attempt, and not before its moment"
	RoomIsGiven         = "nobody waits for a supervisor that waits itself"
	PoolsHold           = "an agent is asked for no more at a time than its pool takes"
	UrgentFirst         = "nobody is overtaken by who is less urgent"
	ResultsKept         = "the answer says of a task what its agent has said"
	ReuseProven         = "a result that stands in was given by the same agent, not too long ago"
	CancelledForAReason = "a run ends early only when somebody or its time says so"
	SentAgainByRequest  = "an answer that was not delivered is sent again when somebody asks for it, and one that may have been when they say so"
)

// on has an invariant be held against the facts of one kind.
func on[F schemas.Fact](holds func(*oracle, *moment, F)) func(*oracle, *moment) {
	return func(o *oracle, m *moment) {
		if f, is := m.fact.(F); is {
			holds(o, m, f)
		}
	}
}

// judge holds a fact against every invariant that speaks of facts.
func (o *oracle) judge(m *moment) {
	if m.run == nil {
		return
	}
	for _, holds := range [...]func(*oracle, *moment){
		nothingAfterTheEnd, on(sentAgainByRequest), on(answersCount), on(resultsKept), on(endsForAReason),
		inquiriesAreNumbered, endsWhileOpen, on(approvedBeforeActing), answersWait, roomIsGiven, idsComeOnce,
		judgesHoldBack, budgetHolds,
	} {
		holds(o, m)
	}
	if m.task == nil && schemas.As[*schemas.TaskDispatched](m.fact) == nil {
		return
	}
	for _, holds := range [...]func(*oracle, *moment){
		dependenciesFirst, levelsInOrder, on(attemptsInOrder), answersFit, askedOnce, waitingIsSilent,
		on(deadlinesInTime), on(signsOfLifeCount), on(poolsHold), on(urgentFirst), on(reuseProven), permitIsForWork,
		on(strangersAreNotObeyed), on(permittedOnce), on(permitIsAskedFor), on(breakersHold),
	} {
		holds(o, m)
	}
}

func nothingAfterTheEnd(o *oracle, m *moment) {
	f := m.fact
	if schemas.As[*schemas.ResponseLate](f) != nil || schemas.As[*schemas.PermitRefused](f) != nil || schemas.As[*schemas.MessageReceived](f) != nil ||
		schemas.As[*schemas.DeliveryBounced](f) != nil {
		return
	}
	if m.run.ended != nil && (schemas.As[*schemas.ResendRequested](f) != nil || schemas.As[*schemas.DeliveryReopened](f) != nil) {
		return // see sentAgainByRequest
	}
	begins := schemas.As[*schemas.TaskDispatched](f) != nil || schemas.As[*schemas.TaskReady](f) != nil || schemas.As[*schemas.TaskStarted](f) != nil || schemas.As[*schemas.PermitGranted](f) != nil
	switch {
	case m.run.ended != nil:
		o.world.violate(NothingAfterTheEnd, "%s: %s after the end", m.id, f.Name())
	case m.run.settled != nil && begins && schemas.TaskOf(f) != schemas.DeliveryTask && !m.asksAboutAnswer():
		o.world.violate(NothingAfterTheEnd, "%s: %s when all was settled", m.id, f.Name())
	case m.run.settled == nil && begins && schemas.TaskOf(f) == schemas.DeliveryTask:
		o.world.violate(NothingAfterTheEnd, "%s: %s before anything was settled", m.id, f.Name())
	}
}

// sentAgainByRequest: only the delivery of a run that has ended is begun anew, for
// somebody who has asked, and while nothing else of its session is under way.
func sentAgainByRequest(o *oracle, m *moment, f *schemas.DeliveryReopened) {
	t := m.run.task(schemas.DeliveryTask)
	switch asked := m.run.again; {
	case asked == nil || asked.AllowDuplicate != f.AllowDuplicate:
		o.world.violate(SentAgainByRequest, "%s: nobody has asked", m.id)
	case t != nil && t.state == taskCompleted:
		o.world.violate(SentAgainByRequest, "%s: it was delivered", m.id)
	case t != nil && t.permit != nil && !f.AllowDuplicate:
		o.world.violate(SentAgainByRequest, "%s: it may have been delivered by permit %s", m.id, t.permit.permit)
	}
	for _, other := range m.run.session.runs {
		if other.ended == nil {
			o.world.violate(SentAgainByRequest, "%s: run %d is under way", m.id, other.number)
		}
	}
}

// begins reports whether the fact lets a task of the plan begin.
func (m *moment) begins() bool {
	f := m.fact
	asked := schemas.As[*schemas.TaskDispatched](f) != nil || schemas.As[*schemas.TaskReady](f) != nil || schemas.As[*schemas.TaskCompleted](f) != nil && schemas.As[*schemas.TaskCompleted](f).Reused > 0
	return asked && m.task != nil && m.task.planned != nil
}

func dependenciesFirst(o *oracle, m *moment) {
	if !m.begins() {
		return
	}
	for _, id := range m.task.planned.Dependencies {
		before := m.run.task(id)
		if before == nil || !before.state.ended() {
			o.world.violate(DependenciesFirst, "%s: %s before %s", m.id, m.fact.Name(), id)
		}
	}
}

func levelsInOrder(o *oracle, m *moment) {
	if !m.begins() || m.task.attempts > 0 || m.run.profile.Execution.Schedule != schemas.ScheduleLevels {
		return // a further attempt begins nothing: the plan may have changed meanwhile
	}
	level := m.task.level
	if failed := m.run.task(m.task.planned.Options().Recovers); failed != nil {
		level = min(level, failed.level) // it waits for this one
	}
	for _, before := range m.run.tasks {
		if before.level < level && !before.state.ended() {
			o.world.violate(LevelsInOrder, "%s: %s before %s", m.id, m.fact.Name(), before.id)
		}
	}
}

func attemptsInOrder(o *oracle, m *moment, f *schemas.TaskDispatched) {
	if other := o.requests[f.Request]; other != nil {
		o.world.violate(AttemptsInOrder, "%s: request %s was decided twice", m.id, f.Request)
	}
	if made := schemas.RequestID(m.at.shard, m.record.Epoch, schemas.RunID(m.record.Session, f.Run), f.Task, f.Attempt); f.Request != made {
		o.world.violate(AttemptsInOrder, "%s: request %s is not %s, which names the epoch of its record", m.id, f.Request, made)
	}
	attempts := 0
	if t := m.task; t != nil {
		attempts = t.attempts
		if t.state.ended() || t.state == taskUnderWay {
			o.world.violate(AttemptsInOrder, "%s: attempt %d while the one before is not over, or all is", m.id, f.Attempt)
		}
		if t.state == taskWaiting && m.cause.Time.Before(t.retryAt) {
			o.world.violate(AttemptsInOrder, "%s: attempt %d before its time", m.id, f.Attempt)
		}
	}
	if f.Attempt != attempts+1 {
		o.world.violate(AttemptsInOrder, "%s: attempt %d follows %d", m.id, f.Attempt, attempts)
	}
}

// answersFit: what an agent says counts once, for the request that is under way,
// and only when it comes by the agent's own subject.
func answersFit(o *oracle, m *moment) {
	f := m.fact
	said := schemas.As[*schemas.InquiryOpened](f) != nil && schemas.As[*schemas.InquiryOpened](f).Attempt > 0 && schemas.As[*schemas.InquiryOpened](f).After == 0 || schemas.As[*schemas.TaskStarted](f) != nil || schemas.As[*schemas.TaskHeartbeat](f) != nil || schemas.As[*schemas.TaskProgressed](f) != nil || schemas.As[*schemas.TaskCompleted](f) != nil && schemas.As[*schemas.TaskCompleted](f).Attempt > 0
	failed := schemas.As[*schemas.TaskFailed](f) != nil && (schemas.As[*schemas.TaskFailed](f).Cause == schemas.FailureAgent || schemas.As[*schemas.TaskFailed](f).Cause == schemas.FailurePermanent ||
		schemas.As[*schemas.TaskFailed](f).Cause == schemas.FailureBlocked || schemas.As[*schemas.TaskFailed](f).Cause == schemas.FailureInvalidResult ||
		schemas.As[*schemas.TaskFailed](f).Cause == schemas.FailureMalformed)
	if !said && !failed || failed && (m.task == nil || m.task.state != taskUnderWay) {
		return
	}
	if m.task == nil || m.task.state != taskUnderWay {
		o.world.violate(AnswersFit, "%s: %s, but nobody is asked", m.id, f.Name())
		return
	}
	by, err := o.saidAt(m.shard, m.cause.Sequence)
	if err != nil || by.agent != m.task.attempt.agent || by.request != m.task.attempt.fact.Request && !o.countsForLater(m, &by) {
		o.world.violate(AnswersFit, "%s: %s by agent %q, which answers %q", m.id, f.Name(), by.agent, by.request)
	}
	o.countsOnce(m, &by)
}

func deadlinesInTime(o *oracle, m *moment, f *schemas.TaskFailed) {
	if m.task == nil || f.Unrecovered != "" {
		return
	}
	a := m.task.attempt
	if m.task.state == taskReady && f.Cause == schemas.FailureNotStarted {
		if m.cause.Deadline == nil || m.task.until.IsZero() || m.cause.Time.Before(m.task.until) {
			o.world.violate(DeadlinesInTime, "%s: it waits for its agent no longer at %s, though until %s", m.id, m.cause.Time, m.task.until)
		}
		return
	}
	var due time.Time
	switch {
	case f.Cause == schemas.FailureNotStarted && a != nil:
		due = a.fact.Queue
	case f.Cause == schemas.FailureTimeout && a != nil:
		due = a.deadline
	case f.Cause == schemas.FailureCrashed && a != nil:
		due = a.silence
	default:
		return
	}
	rung := m.cause.Deadline
	if m.task.state != taskUnderWay || rung == nil || rung.Task != m.task.id || rung.Attempt != a.number ||
		due.IsZero() || m.cause.Time.Before(due) {
		o.world.violate(DeadlinesInTime, "%s: attempt %d fails by %s at %s, due %s", m.id, f.Attempt, f.Cause, m.cause.Time, due)
	}
}

// slack is how many requests more than its pool's size may wait for an agent.
func slack(size int) int { return max(2, size/4) }

// places is how many requests of a shard an agent may have at a time. Those of one that answers by callback stand in no queue: a
// shard has its share of the pool, and one at least.
func (w *World) places(agent string, shard int) int {
	size := w.pools[agent]
	if !w.callbacks.is(agent) {
		return size + slack(size)
	}
	share, shards := size/w.configuration.shards, w.configuration.shards
	if shard < size%shards {
		share++
	}
	return max(share, 1)
}

// poolsHold: an owner is held to the requests that it can know of: its own, and
// those from before its time. It knows nothing of a record that it has given up on
// and that arrives later, before it reads that session again.
func poolsHold(o *oracle, m *moment, f *schemas.TaskDispatched) {
	if o.world.pools[f.Agent] == 0 || o.world.watch.late[m.at] {
		return
	}
	limit := o.world.places(f.Agent, m.at.shard)
	if under := o.underWay(m, f.Agent); len(under)+1 > limit {
		o.world.violate(PoolsHold, "%s: agent %s is asked, and %d requests are under way %v of %d", m.id, f.Agent, len(under), under, limit)
	}
}

func (o *oracle) underWay(m *moment, agent string) []string {
	since := m.shard.since(m.record.Epoch)
	var under []string
	for t := range m.shard.tasks[agent] {
		if t == m.task || t.state != taskUnderWay || o.placeless(m, t.attempt) || o.world.watch.late[t.attempt.at] && t.run.session.sequence == t.attempt.at.sequence {
			continue
		}
		if t.attempt.epoch == m.record.Epoch || t.attempt.at.sequence < since {
			under = append(under, t.run.id()+"/"+t.id)
		}
	}
	return under
}

// urgentFirst is M-17 for agents that take so many requests at a time. What is
// promised: when a request is decided, whoever waits for the same agent and goes
// before it has room as well. Before it goes who is more urgent, and of those that
// are as urgent who has waited longer, unless both have waited and are of different
// requesters, who take turns. It makes no difference whether the session of who waits
// is busy: then room is kept for it.
//
// An owner can promise it of its own shard alone, where it knows of records that it
// has heard to be stored, and of those that stood there when it took the shard over.
// Who of the latter waits longer is not on record. Two kinds of waiters are left out,
// because they lack more than room: who needs resources, for which there is a line of
// its own (M-19), and everybody while the agent's breaker says who goes (M-28).
func urgentFirst(o *oracle, m *moment, f *schemas.TaskDispatched) {
	if o.world.pools[f.Agent] == 0 || m.task != nil && len(m.task.resources()) > 0 {
		return
	}
	mine, known := o.world.watch.seen[m.at]
	if !known || mine.asked == unknown || o.bars(m, mine, f.Agent) {
		return
	}
	waits, waited := mine.asked, m.task != nil && m.task.state == taskReady
	if waited {
		waits, _ = m.knows(mine, o.world.watch.seen, m.task.ready)
	}
	places := o.world.places(f.Agent, m.at.shard) - 1 - len(o.underWay(m, f.Agent))
	overtaken := ""
	for t := range m.shard.tasks[f.Agent] {
		if t == m.task || t.state != taskReady || len(t.resources()) > 0 || t.waitsForJudge() || t.held {
			continue
		}
		since, known := m.knows(mine, o.world.watch.seen, t.ready)
		inLine := !waited || t.run.message.RequesterKey() == m.run.message.RequesterKey()
		asUrgent := inLine && t.priority() == priorityOf(f, m.task) && since != unknown && since < waits
		if known && (t.priority() < priorityOf(f, m.task) || asUrgent) {
			places--
			overtaken = t.id
		}
	}
	if places < 0 && overtaken != "" {
		o.world.violate(UrgentFirst, "%s of priority %d overtakes task %s for agent %s", m.id, priorityOf(f, m.task), overtaken, f.Agent)
	}
}

// knows reports whether the process that decides a request knows of another record
// by then, and since when; that is unknown of those before its time. It has read
// them all before it asks an agent for whom others may wait.
func (m *moment) knows(mine sighting, seen map[place]sighting, at place) (since uint64, knows bool) {
	if written, ok := seen[at]; ok && written.process == mine.process {
		return written.known, written.known < mine.asked
	}
	return unknown, at.sequence < m.shard.since(m.record.Epoch)
}

func (t *task) resources() []string {
	if t.planned == nil {
		return nil
	}
	return t.planned.Options().Resources
}

// priority ranks a task: smaller goes first; deliveries and questions go before all work (M-17).
func (t *task) priority() int {
	if t.planned == nil {
		return -1
	}
	order := []schemas.Priority{
		schemas.PriorityCritical, schemas.PriorityHigh, schemas.PriorityMedium, schemas.PriorityLow, schemas.PriorityNiceToHave,
	}
	if t.planned.Priority == "" {
		return slices.Index(order, schemas.PriorityMedium)
	}
	return slices.Index(order, t.planned.Priority)
}

func priorityOf(f *schemas.TaskDispatched, t *task) int {
	if f.Kind != schemas.TaskKindWork || t == nil {
		return -1
	}
	return t.priority()
}

// resultsKept: which of the results are told is a policy, and what they are is not.
func resultsKept(o *oracle, m *moment, f *schemas.RunSettled) {
	for i := range f.Answer {
		t := m.run.task(f.Answer[i].Task)
		if t == nil || t.result == nil || occasionOf(t.id) == "" && (t.result.Result.Text != f.Answer[i].Body.Text || t.result.Result.Sequence != f.Answer[i].Body.Sequence) {
			o.world.violate(ResultsKept, "%s: the answer says something else than task %s", m.id, f.Answer[i].Task)
		}
	}
}

// reuseProven: owners remember answers on their own, so that no story of a session tells which of them stand in.
func reuseProven(o *oracle, m *moment, f *schemas.TaskCompleted) {
	if f.Reused == 0 || f.Brought > 0 {
		return
	}
	use := m.run.use(m.task.agent)
	by, err := o.saidAt(m.shard, f.Reused)
	age := time.Duration(0)
	if given, taken := m.shard.taken[f.Reused]; taken { // else the decision on it is not stored yet
		age = m.cause.Time.Sub(given)
	}
	if err != nil || use == nil || by.agent != m.task.agent || by.status != schemas.StatusCompleted || age > time.Duration(use.Reuse)+2*o.world.configuration.skew {
		o.world.violate(ReuseProven, "%s: agent %s said %s to %q, %s ago", m.id, by.agent, by.status, by.request, age)
	}
}

// endsForAReason: a run is settled when all of its tasks have ended, and before its time only when somebody says so.
func endsForAReason(o *oracle, m *moment, f *schemas.RunSettled) {
	left := ""
	for _, t := range append(slices.Clone(m.run.tasks), m.run.aside...) {
		if t.state == taskUnderWay || !t.state.ended() {
			left = t.id
		}
	}
	cancelled := m.cause.Type == schemas.TypeControl && f.Reason == schemas.StopCancelled
	switch {
	case left != "":
		o.world.violate(CancelledForAReason, "%s: settled while task %s has not ended", m.id, left)
	case f.Reason == schemas.StopCancelled && !cancelled && !m.run.cancelled():
		o.world.violate(CancelledForAReason, "%s: nobody has cancelled it", m.id)
	case f.Reason == schemas.StopExpired && (m.run.expires.IsZero() || m.cause.Time.Before(m.run.expires)):
		o.world.violate(CancelledForAReason, "%s: expired at %s, and not %s", m.id, m.cause.Time, m.run.expires)
	}
}

// cancelled reports whether a control word about the run has come, while it
// waited or was under way.
func (r *run) cancelled() bool {
	for _, received := range r.session.messages {
		for i := range received {
			if received[i].Run == r.number && received[i].Disposition == schemas.DispositionControl {
				return true
			}
		}
	}
	return false
}
