package sim

import (
	"slices"
	"strings"
	"time"

	"podium/schemas"
)

// The invariants of what is done about failures.
const (
	FailuresAreMet  = "a failure for good has done about it what the profile says for its category, and people are asked where they are reached now, and so often"
	RecoveredAsSaid = "what becomes of a task that is blocked is what somebody says who is asked, or else what there would have been without anybody"
	WordsOnFailures = "what is done about a failure is said by one word of somebody who is asked, who still works there and is vouched for, or by the service's own"
)

// recovering is what the oracle knows of what is done about the failures of a task.
type recovering struct {
	failed  *schemas.TaskFailed // the newest
	by      *schemas.Cause      // of that
	blocked bool
	retries int // attempts that people have had made
	cleared int // of those as if nothing had been done outside
	since   int // the inquiry that has cleared it last: what was agreed to before is spent
}

func (i *inquiry) escalates() bool { return i.fact.Kind.IsAboutFailure() }

// said is what somebody has chosen to have done about a failure; empty is nothing.
func (i *inquiry) said(choice schemas.InquiryChoice) bool {
	return i.escalates() && i.answered != nil && i.answered.Choice == choice
}

// recoveries holds a fact to what is done about failures.
func (o *oracle) recoveries(m *moment) {
	switch f := m.fact.(type) {
	case *schemas.TaskFailed:
		o.failureIsMet(m, f)
	case *schemas.InquiryOpened:
		o.failureIsTold(m, f)
	case *schemas.InquiryAnswered:
		o.wordsOnFailures(m, f)
	case *schemas.PermitRefused:
		if m.task != nil && m.task.recovering.cleared > 0 && m.task.permit == nil && f.Reason == schemas.PermitUnknown {
			o.world.violate(RecoveredAsSaid, "%s: permit %s is refused for what nobody knows, and somebody has looked", m.id, f.Permit)
		}
	default:
	}
	if m.task == nil || m.task.planned == nil {
		return
	}
	for _, i := range m.run.inquiries {
		if i.escalates() && i.task == m.task && i.cause == m.cause {
			i.after = append(i.after, m.fact)
		}
	}
}

// way is what the profile of a run says about a failure; empty is nothing.
func (r *run) way(f *schemas.TaskFailed) schemas.RecoveryWay {
	way, named := r.profile.Recovery[string(f.Category)]
	if !named {
		way = r.profile.Recovery[schemas.RecoveryDefault]
	}
	if f.Cause != schemas.FailureUnknownEffect || r.channel(way) != nil {
		return r.unmended(way, f)
	}
	for _, people := range []schemas.RecoveryWay{schemas.WayHuman, schemas.WayCoordinator} {
		if r.channel(people) != nil {
			return people
		}
	}
	return ""
}

// unmended is the way of a failure of which nobody mends what it has found: then it is one of coordination.
func (r *run) unmended(way schemas.RecoveryWay, f *schemas.TaskFailed) schemas.RecoveryWay {
	switch {
	case way != schemas.WayFix || len(r.blamed(r.task(f.Task), f)) > 0 && !r.stepwise():
		return way
	case r.stepwise():
		return schemas.WayPlanner
	}
	coordination := *f
	if coordination.Category = schemas.CategoryCoordination; r.profile.Recovery[string(coordination.Category)] == schemas.WayFix {
		return ""
	}
	return r.way(&coordination)
}

// mendings is how often it was mended what a task has found: each time it may look once more.
func (r *run) mendings(t *task) int {
	rounds := map[string]bool{}
	for _, other := range r.tasks {
		if change, _, _ := strings.Cut(other.id, "."); t.planned != nil && other.recovers() == t.id {
			rounds[change] = true
		}
	}
	return len(rounds)
}

// blamed are the tasks that what a task has found by failing is mended by: itself, when its result cannot be used or is about nothing that others have made, else
// those whose results it was given.
func (r *run) blamed(t *task, f *schemas.TaskFailed) []*task {
	if t == nil || t.planned == nil {
		return nil
	}
	made := []*task{t}
	switch {
	case r.mendings(t) >= schemas.MaxMendings:
		return nil
	case f.Cause == schemas.FailureVerdict && len(t.planned.Dependencies) > 0:
		made = nil
		for _, id := range t.planned.Dependencies {
			if of := r.task(id); of != nil && r.newest(of.root()) != nil && !slices.Contains(made, r.newest(of.root())) {
				made = append(made, r.newest(of.root()))
			}
		}
	case f.Cause != schemas.FailureVerdict && f.Cause != schemas.FailureInvalidResult && f.Cause != schemas.FailureMalformed:
		return nil
	}
	return slices.DeleteFunc(made, func(other *task) bool {
		use := r.use(other.agent)
		return use == nil || use.Person != nil || other.acted()
	})
}

// channel is the people who are asked by a way, or nil.
func (r *run) channel(way schemas.RecoveryWay) *schemas.EscalationChannel {
	escalation := r.profile.Escalation
	var channel *schemas.EscalationChannel
	switch {
	case escalation == nil:
	case way == schemas.WayHuman:
		channel = escalation.Human
	case way == schemas.WayCoordinator:
		channel = escalation.Coordinator
	}
	if channel == nil || channel.Upstream {
		return nil
	}
	return channel
}

// failureIsMet: the way that is on record is that of the profile, and where there is one and somebody to ask none is left out.
func (o *oracle) failureIsMet(m *moment, f *schemas.TaskFailed) {
	t, r := m.task, m.run
	if t == nil || f.Unrecovered != "" || !f.RetryAt.IsZero() || f.Agent != "" {
		return
	}
	way, asked := r.way(f), 0
	for _, i := range r.inquiries {
		if i.escalates() && i.task == t && i.answered != nil {
			asked++
		}
	}
	exempt := t.planned == nil || m.refusesPlan() || t.mends() || t.optional() || f.Cause == schemas.FailureUnapproved || f.Cause == schemas.FailureBudget || asked >= schemas.MaxEscalations
	channel := r.channel(way)
	reached := (channel != nil && len(o.reached(m, channel.People)) > 0 || r.waitsUpstream(way) > 0) && len(r.inquiries) < schemas.MaxInquiries
	switch {
	case f.Recovering != "" && (exempt || f.Recovering != way):
		o.world.violate(FailuresAreMet, "%s: %s (%s) has %s done about it, and the profile says %q; %d have answered before", m.id, f.Cause, f.Category, f.Recovering, way, asked)
	case f.Recovering == "" && !exempt && (way == schemas.WaySkip || reached):
		o.world.violate(FailuresAreMet, "%s: %s (%s) has nothing done about it, and the profile says %s", m.id, f.Cause, f.Category, way)
	}
}

// refusesPlan reports whether the plan of the run is refused later by what its record is about: nothing is done about a failure of a plan that does not stand.
func (m *moment) refusesPlan() bool {
	later := false
	for fact := range m.record.AllFacts() {
		if refused := schemas.As[*schemas.PlanRefused](fact); later && refused != nil && refused.Run == m.run.number {
			return true
		}
		later = later || fact == m.fact
	}
	return false
}

// failureIsTold: who is asked is who the profile names for the way, or who has begun the run, once at a time.
func (o *oracle) failureIsTold(m *moment, f *schemas.InquiryOpened) {
	if !f.Kind.IsAboutFailure() {
		return
	}
	t, r := m.task, m.run
	if t == nil || !t.recovering.blocked || r.awaits(t) || r.settled != nil {
		o.world.violate(FailuresAreMet, "%s: inquiry %d asks about a failure, and there is none", m.id, f.Inquiry)
		return
	}
	if wait := r.waitsUpstream(t.recovering.failed.Recovering); f.Upstream || wait > 0 {
		if wait <= 0 || !f.Upstream || f.Expire != wait || len(f.People) > 0 || f.Remind > 0 {
			o.world.violate(FailuresAreMet, "%s: inquiry %d waits for whoever is upstream: %+v, and the profile says %s", m.id, f.Inquiry, f, time.Duration(wait))
		}
		return
	}
	if t.recovering.failed.Recovering == schemas.WayRequester {
		if waiting := r.profile.Waiting; waiting == nil || len(f.People) > 0 || r.message.Reply == nil || f.Expire != waiting.Expire || slices.Contains(f.Choices, schemas.ChoiceReplan) {
			o.world.violate(FailuresAreMet, "%s: inquiry %d asks whoever has begun the run: %+v", m.id, f.Inquiry, f)
		}
		return
	}
	channel := r.channel(t.recovering.failed.Recovering)
	if channel == nil || !slices.Equal(f.People, channel.People) || f.Expire != channel.Expire || f.Remind != channel.Remind || len(f.To) == 0 || !slices.Equal(f.To, o.reached(m, f.People)) {
		o.world.violate(FailuresAreMet, "%s: inquiry %d asks %v at %v, and the profile says %+v", m.id, f.Inquiry, f.People, f.To, channel)
	}
}

// wordsOnFailures: the first line is the word, and a result or steps follow it; nothing else decides.
func (o *oracle) wordsOnFailures(m *moment, f *schemas.InquiryAnswered) {
	i := m.run.inquiry(f.Inquiry)
	if i == nil || !i.escalates() {
		return
	}
	heard, first := o.heard(m.shard, f.Sequence), o.heard(m.shard, m.run.message.Sequence)
	choice, rest := decided(heard.said())
	if control := heard.control; control != nil && control.Action == schemas.ControlReplan {
		choice, rest = schemas.ChoiceReplan, control.Words()
	}
	if choice != f.Choice || !slices.Contains(i.fact.Choices, choice) {
		o.world.violate(WordsOnFailures, "%s: inquiry %d is decided %s of %v by %q", m.id, f.Inquiry, f.Choice, i.fact.Choices, heard.said())
	}
	if f.Text.Sequence == 0 && f.Text.Text != rest {
		o.world.violate(WordsOnFailures, "%s: inquiry %d has the words %q of %q", m.id, f.Inquiry, f.Text.Text, heard.said())
	}
	if heard.control != nil {
		says := heard.control.Action == schemas.ControlAnswer || heard.control.Action == schemas.ControlReplan
		if f.Actor.Via != schemas.ViaAPI || !says || !m.run.isNamed(heard.control) {
			o.world.violate(WordsOnFailures, "%s: inquiry %d is decided by %+v", m.id, f.Inquiry, heard.control)
		}
		return
	}
	may := heard.of(&first) && !i.fact.Upstream
	if i.toPeople() {
		by := o.author(m, i, &heard)
		may = by != "" && by == f.Actor.ID && o.isAsked(m, i, &heard)
	}
	if vouched := heard.mail == nil || heard.mail.Origin == schemas.OriginProven && heard.mail.Class == schemas.MailHuman; !may || !vouched {
		o.world.violate(WordsOnFailures, "%s: inquiry %d is decided %s by %s (%s) of %v", m.id, f.Inquiry, f.Choice, f.Actor.ID, f.Actor.Proof, i.fact.People)
	}
}

// decided reads what somebody says to a failure; empty is nothing.
func decided(text string) (choice schemas.InquiryChoice, rest string) {
	choices := map[string]schemas.InquiryChoice{
		"again": schemas.ChoiceRetry, "retry": schemas.ChoiceRetry, "skip": schemas.ChoiceSkip, "end": schemas.ChoiceEnd, "stop": schemas.ChoiceEnd,
		"answer": schemas.ChoiceAnswer, "replan": schemas.ChoiceReplan,
	}
	bare := func(words string) string { return strings.ToLower(strings.Trim(strings.TrimSpace(words), ".!")) }
	line, below, _ := strings.Cut(strings.TrimSpace(text), "\n")
	head, beside, _ := strings.Cut(line, ":")
	if alone := choices[bare(line)]; alone == schemas.ChoiceRetry || alone == schemas.ChoiceSkip || alone == schemas.ChoiceEnd {
		return alone, ""
	}
	rest = strings.TrimSpace(beside + "\n" + below)
	if choice = choices[bare(head)]; (choice == schemas.ChoiceAnswer || choice == schemas.ChoiceReplan) && rest != "" {
		return choice, rest
	}
	return "", ""
}

// meets folds what the invariants of recovery go by, after a fact.
func (o *oracle) meets(m *moment) {
	t := m.task
	if t == nil || t.planned == nil {
		return
	}
	switch f := m.fact.(type) {
	case *schemas.TaskFailed:
		t.recovering.failed, t.recovering.by, t.recovering.blocked = f, m.cause, f.Recovering != ""
	case *schemas.TaskReady, *schemas.TaskDispatched, *schemas.TaskCompleted, *schemas.TaskSkipped, *schemas.TaskCancelled:
		t.recovering.blocked = false
	default:
	}
}

// tries notes that somebody has had a task tried once more. What nobody knew to have happened may happen then.
func (i *inquiry) tries(m *moment) {
	r := &i.task.recovering
	if r.retries++; r.failed != nil && r.failed.Cause == schemas.FailureUnknownEffect {
		i.task.close(m)
		i.task.permit, i.task.doubted = nil, false
		r.cleared++
		r.since = i.number
	}
}

// unrecovered reports whether a task fails because nothing has helped, which is no word of its agent.
func (m *moment) unrecovered() bool {
	f := schemas.As[*schemas.TaskFailed](m.fact)
	return f != nil && f.Unrecovered != ""
}

// forgone reports whether the run goes on without a task because its profile, or somebody who was asked, says so now.
func (m *moment) forgone() bool {
	r := &m.task.recovering
	if r.blocked && r.by == m.cause && r.failed.Recovering == schemas.WaySkip {
		return true
	}
	return slices.ContainsFunc(m.run.inquiries, func(i *inquiry) bool {
		return i.task == m.task && i.cause == m.cause && i.said(schemas.ChoiceSkip)
	})
}

// insteadIsSound: what is done instead is said by somebody who was asked, of the task that has failed.
func (o *oracle) insteadIsSound(m *moment, f *schemas.PlanChanged) {
	at := slices.IndexFunc(m.run.inquiries, func(i *inquiry) bool { return i.cause == m.cause && i.said(schemas.ChoiceReplan) })
	if at < 0 || !slices.Contains(f.Replaces, m.run.inquiries[at].task.id) {
		o.world.violate(ChangesSound, "%s: %v are replaced, and nobody has said so", m.id, f.Replaces)
		return
	}
	m.run.inquiries[at].replans = true
	o.allIsAnswered(m, f, m.run.inquiries[at])
	for _, id := range f.Replaces {
		if t := m.run.task(id); t == nil || t.state != taskFailed || t.judged.replaced {
			o.world.violate(ChangesSound, "%s: task %s is replaced, and has not failed", m.id, id)
		}
	}
	for _, t := range m.run.tasks {
		if t.unbegun() && !slices.Contains(f.Kept, t.id) {
			o.world.violate(ChangesSound, "%s: task %s is neither kept nor replaced", m.id, t.id)
		}
	}
}

// UpstreamIsHeard is the invariant of what is decided upstream.
const UpstreamIsHeard = "whoever is upstream says what is done instead of all that they are asked about at once, while that waits, and what they say is taken if it can be done"

// waitsUpstream is for how long a run waits for whoever has asked for it by a way; 0 is not at all.
func (r *run) waitsUpstream(way schemas.RecoveryWay) schemas.Duration {
	escalation := r.profile.Escalation
	if escalation == nil || r.message.Upstream == nil {
		return 0
	}
	channel := map[schemas.RecoveryWay]*schemas.EscalationChannel{schemas.WayHuman: escalation.Human, schemas.WayCoordinator: escalation.Coordinator, schemas.WayPlanner: escalation.Planner}[way]
	if channel == nil || !channel.Upstream {
		return 0
	}
	return channel.Wait
}

// asksUpstream is the oldest inquiry that waits for whoever is upstream; nil is none.
func (r *run) asksUpstream() *inquiry {
	at := slices.IndexFunc(r.inquiries, func(i *inquiry) bool { return i.open && i.fact.Upstream })
	if at < 0 {
		return nil
	}
	return r.inquiries[at]
}

// plannedAnew reports whether a wait ends because another plan was said to what somebody upstream was asked beside it.
func (r *run) plannedAnew(i *inquiry) bool {
	return i.fact.Upstream && i.closed == schemas.InquiryWithdrawn && slices.ContainsFunc(r.inquiries, func(other *inquiry) bool {
		return other.fact.Upstream && other.said(schemas.ChoiceReplan) && other.cause == i.cause
	})
}

// isNamed reports whether a word to the service itself is about a run: by its id, or by that of a request that it is for.
func (r *run) isNamed(control *schemas.Control) bool {
	if control.Run != "" {
		return control.Run == r.id()
	}
	return slices.ContainsFunc(r.session.messages[control.Request], func(received schemas.MessageReceived) bool { return received.Run == r.number })
}

// allIsAnswered: one plan is instead of all that whoever is upstream was asked about.
func (o *oracle) allIsAnswered(m *moment, f *schemas.PlanChanged, said *inquiry) {
	for _, i := range m.run.inquiries {
		if said.fact.Upstream && i.fact.Upstream && (i.open || i.cause == m.cause && !slices.Contains(f.Replaces, i.task.id)) {
			o.world.violate(UpstreamIsHeard, "%s: inquiry %d is answered by a plan instead of %v, and inquiry %d is about task %s", m.id, said.number, f.Replaces, i.number, i.task.id)
		}
	}
}

// upstreamIsHeard: a plan that can be carried out counts for the oldest wait of the run, in its time, and nothing else does.
func (o *oracle) upstreamIsHeard(session *sessionHistory, m *moment) {
	f := schemas.As[*schemas.MessageReceived](m.fact)
	if f == nil || f.Sequence != m.cause.Sequence || o.world.upstreamers == nil || f.Run < 1 || f.Run > len(session.runs) {
		return
	}
	r, control := session.runs[f.Run-1], o.heard(m.shard, f.Sequence).control
	if control == nil || control.Run != "" || control.Action == schemas.ControlCancel {
		return
	}
	i := r.asksUpstream()
	counts := i != nil && o.heard(m.shard, f.Sequence).taken.Before(i.expires())
	answers := f.Disposition == schemas.DispositionAnswered
	bounded := r.profile.Planner != nil && r.profile.Planner.MaxTasks > 0
	can := o.world.upstreamers.Sound[f.ID] && r.judging.phase == phaseExecuting && !bounded
	if answers && (!counts || f.Inquiry != i.number) || !answers && counts && can && slices.Contains(i.fact.Choices, schemas.ChoiceReplan) {
		o.world.violate(UpstreamIsHeard, "%s: %s is %s (%s) for inquiry %d, and counts: %t", r.id(), f.ID, f.Disposition, f.Reason, f.Inquiry, counts)
	}
}

// recoveredAsSaid: each inquiry about a failure is followed at once by what was said, or by the failure that it is about.
func (o *oracle) recoveredAsSaid(session *sessionHistory) {
	for _, r := range session.runs {
		for _, i := range r.inquiries {
			if !i.escalates() || i.task == nil {
				continue
			}
			if wrong := i.unmet(r); wrong != "" {
				o.world.violate(RecoveredAsSaid, "%s/%s: inquiry %d has %+v (%s), and %s", r.id(), i.task.id, i.number, i.answered, i.closed, wrong)
			}
		}
	}
}

// unmet says what does not follow from the end of an inquiry; empty is that all does.
func (i *inquiry) unmet(r *run) string {
	var first schemas.Fact
	for _, f := range i.after {
		if first == nil && schemas.As[*schemas.InquiryAnswered](f) == nil && schemas.As[*schemas.InquiryClosed](f) == nil {
			first = f
		}
	}
	failed := schemas.As[*schemas.TaskFailed](first)
	forsaken := failed != nil && failed.Unrecovered != "" && failed.Cause == i.task.recovering.failed.Cause
	skipped, completed := schemas.As[*schemas.TaskSkipped](first), schemas.As[*schemas.TaskCompleted](first)
	switch {
	case i.answered == nil && (i.closed == schemas.InquiryExpired || i.closed == schemas.InquiryUnreachable):
		if !forsaken {
			return "the task has not failed by that"
		}
	case i.answered == nil: // with its run, or others are asked
	case i.said(schemas.ChoiceRetry):
		if failed != nil && failed.Unrecovered != "" || skipped != nil {
			return "it is not tried once more"
		}
	case i.said(schemas.ChoiceSkip):
		if skipped == nil || skipped.Reason != schemas.SkippedForgone {
			return "the run does not go on without it"
		}
	case i.said(schemas.ChoiceAnswer):
		if completed == nil || completed.Sequence != i.answered.Sequence || completed.Result.Text != i.answered.Text.Text {
			return "that is not its result"
		}
	case i.said(schemas.ChoiceReplan):
		if !forsaken || !i.replans {
			return "nothing else is done instead"
		}
	case i.said(schemas.ChoiceEnd):
		if !forsaken || r.settledBy != i.cause {
			return "the run goes on"
		}
	}
	return ""
}

// The invariants of runs that are begun anew.
const (
	RetriedAsSaid   = "a run is begun anew by a person's word, with the plan and the results that stand of one that has ended, and nothing else is brought"
	RetriesAreTaken = "a word by which a run is begun anew is on record, and refused only for what holds"
)

// stands reports whether a task is one of those that a run is begun anew with.
func (t *task) stands() bool {
	return t.planned != nil && !t.judged.replaced && t.planned.Options().Fixes == ""
}

// anew are the tasks of a run that are done again when it is begun anew, from one on or from what is not completed.
func (r *run) anew(from string) map[string]bool {
	again := map[string]bool{}
	for range r.tasks {
		for _, t := range r.tasks {
			builds := slices.ContainsFunc(t.planned.Dependencies, func(id string) bool { return again[r.of(id)] })
			if t.stands() && (t.id == r.of(from) || t.state != taskCompleted || builds) {
				again[t.id] = true
			}
		}
	}
	return again
}

// acted reports whether a task may have had an effect outside, in its run or in one that it is brought from.
func (t *task) acted() bool {
	return t.permit != nil || t.result != nil && t.result.Permit != ""
}

// actedFor reports whether that holds of a task, or of another one that has mended its work.
func (r *run) actedFor(t *task) bool {
	return slices.ContainsFunc(r.tasks, func(other *task) bool { return other.acted() && r.of(other.id) == t.id })
}

// objection says why a run is not begun anew, as the reason on record is called; empty is not at all.
func (o *oracle) objection(session *sessionHistory, control *schemas.Control, number int) string {
	if number > len(session.runs) || session.runs[number-1].ended == nil {
		return schemas.ResendNotEnded
	}
	r := session.runs[number-1]
	for _, other := range session.runs {
		if other.ended == nil || other.again != nil {
			return schemas.RetryBusy
		}
	}
	again, from := r.anew(control.From), r.task(r.of(control.From))
	looks := r.unpassed()
	switch {
	case r.message.Upstream != nil:
		return schemas.RetryUpstream
	case r.message.Withheld == schemas.WithheldRefuted:
		return schemas.RetryNothing
	case control.From != "" && (from == nil || !from.stands()):
		return schemas.RetryUnknownTask
	case len(again) == 0 && !looks && slices.ContainsFunc(r.tasks, (*task).stands):
		return schemas.RetryNothing
	}
	for _, t := range r.tasks {
		if again[t.id] && r.actedFor(t) && !control.AllowDuplicate {
			return schemas.RetryEffects
		}
	}
	return ""
}

func (o *oracle) retriedAsSaid(session *sessionHistory, m *moment, f *schemas.RunStarted) {
	heard := o.heard(m.shard, m.cause.Sequence)
	retries := heard.control != nil && heard.control.Action == schemas.ControlRetry
	if !retries || f.Retries == 0 {
		if f.Retries > 0 {
			o.world.violate(RetriedAsSaid, "run %d of session %s is begun in the place of run %d, and nobody has said so", f.Run, session.id, f.Retries)
		}
		return
	}
	_, number, err := schemas.ParseRunID(heard.control.Run)
	o.world.must(err)
	if why := o.objection(session, heard.control, number); why != "" || number != f.Retries {
		o.world.violate(RetriedAsSaid, "run %d of session %s is begun in the place of run %d by %+v, though %s", f.Run, session.id, f.Retries, heard.control, why)
	}
}

func (o *oracle) retriesAreTaken(session *sessionHistory, m *moment) {
	f := schemas.As[*schemas.MessageReceived](m.fact)
	if f == nil || f.Disposition != schemas.DispositionRefused || f.Sequence != m.cause.Sequence {
		return
	}
	heard := o.heard(m.shard, f.Sequence)
	if heard.control == nil || heard.control.Action != schemas.ControlRetry {
		return
	}
	_, number, err := schemas.ParseRunID(heard.control.Run)
	o.world.must(err)
	if why := o.objection(session, heard.control, number); why != f.Reason {
		o.world.violate(RetriesAreTaken, "session %s: message %s by %+v is refused by %q instead of %q", session.id, f.ID, heard.control, f.Reason, why)
	}
}

// retriesAreOnRecord: each is taken once, but for those about runs that there are not.
func (o *oracle) retriesAreOnRecord() {
	if o.world.retriers == nil {
		return
	}
	for _, said := range o.world.retriers.Said {
		if session := o.sessions[said.Session]; session != nil && len(session.messages[said.ID]) > 1 {
			o.world.violate(RetriesAreTaken, "session %s: message %s is taken %d times", said.Session, said.ID, len(session.messages[said.ID]))
		}
	}
}

// retriesBringWhatStands: what is brought is what the run before has, and all that it has of what is not done again.
func (o *oracle) retriesBringWhatStands(session *sessionHistory) {
	for _, r := range session.runs {
		if r.retries == 0 || r.refused { // another configuration may refuse what was carried out before
			continue
		}
		former, heard := session.runs[r.retries-1], o.heard(o.shards[session.shard], r.startedBy)
		again := former.anew(heard.control.From)
		for _, was := range former.tasks {
			t := r.task(was.id)
			if !was.stands() {
				continue
			}
			switch brought := t != nil && t.result != nil && t.result.Brought > 0; {
			case t == nil || t.planned == nil:
				o.world.violate(RetriedAsSaid, "%s: task %s of run %d is none of its plan", r.id(), was.id, former.number)
			case brought == again[was.id]:
				o.world.violate(RetriedAsSaid, "%s: task %s is brought: %t, and is to be done again: %t", r.id(), was.id, brought, again[was.id])
			case !brought:
			case t.attempts > 0 || t.result.Brought != former.number || t.result.Sequence != former.standingOf(was).Sequence || t.result.Result.Text != former.standingOf(was).Result.Text:
				o.world.violate(RetriedAsSaid, "%s: task %s is brought as %+v, and was %+v", r.id(), was.id, t.result, former.standingOf(was))
			}
		}
	}
}
