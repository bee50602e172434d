package sim

import (
	"slices"

	"podium/schemas"
)

// The invariants that speak of effects in the world outside.
const (
	PermittedOnce         = "an effect is permitted once, and again only when nobody knows what became of it and the profile says so"
	PermitIsAskedFor      = "a permit answers a question of the agent that works on the attempt"
	LeaveHolds            = "an agent is told that it may act only while it may"
	ActsArePermitted      = "an agent acts by a permit that is on record, once"
	QuestionsAnswered     = "a question for a permit is answered"
	PermitIsForWork       = "a permit is given for work, and for no question"
	StrangersAreNotObeyed = "what a stranger has written has nothing done outside, unless the profile allows it or holds it itself"
	EffectsHappenOnce     = "where the profile has a person judge what nobody knows, no effect happens twice"
)

// A grantedPermit is the right to one effect.
type grantedPermit struct {
	task    *task
	agent   string
	permit  string
	effect  string
	shard   int
	granted uint64 // the record that says so
	closed  uint64 // the record since which it holds no longer; 0 is none
	again   bool
	request string // the attempt that it was given to
}

// permittedOnce: as long as an effect may have happened, it is permitted again
// only where the profile of whoever was permitted lets it.
func permittedOnce(o *oracle, m *moment, f *schemas.PermitGranted) {
	open := m.task != nil && m.task.permit != nil
	switch {
	case f.Again != open:
		o.world.violate(PermittedOnce, "%s: permit %s is granted, again %t, though one is open: %t", m.id, f.Permit, f.Again, open)
	case open && m.run.asksOnUnknown(m.task.permit.agent):
		o.world.violate(PermittedOnce, "%s: permit %s is granted to agent %s, and agent %s has had permit %s",
			m.id, f.Permit, m.task.agent, m.task.permit.agent, m.task.permit.permit)
	}
	if a := m.attempt(); open && a != nil && o.world.callbacks.is(a.agent) && m.task.permit.granted >= a.at.sequence &&
		m.cause.Time.Add(longestSkew).Before(a.silent) {
		o.world.violate(PermittedOnce, "%s: permit %s is granted, and what permit %s was for goes on elsewhere until %s", m.id, f.Permit, m.task.permit.permit, a.silent)
	}
	if earlier := o.openBefore(m.task); earlier != nil && m.task.cleared == 0 && m.run.asksOnUnknown(m.task.agent) {
		o.world.violate(PermittedOnce, "%s: permit %s is granted, and permit %s was for the same request of somebody upstream", m.id, f.Permit, earlier.permit)
	}
	if o.permits[f.Permit] != nil {
		o.world.violate(PermittedOnce, "%s: permit %s is granted twice", m.id, f.Permit)
	}
}

// openBefore returns a permit that an earlier run for the same request of somebody
// upstream had, unless its agent has said in time that nothing came of it.
func (o *oracle) openBefore(t *task) *grantedPermit {
	if t == nil {
		return nil
	}
	var open *grantedPermit
	for _, l := range o.permits {
		if l.task != t && l.effect == t.effect() && l.task.permit == l && (open == nil || l.granted < open.granted) {
			open = l
		}
	}
	return open
}

func (r *run) asksOnUnknown(agent string) bool {
	for i := range r.profile.Agents {
		if r.profile.Agents[i].Name == agent {
			return r.profile.Agents[i].OnUnknown == schemas.OnUnknownAsk
		}
	}
	return false
}

// permitIsAskedFor: the cause of a permit is the question that it names, about the
// attempt under way and in its time.
func permitIsAskedFor(o *oracle, m *moment, f *schemas.PermitGranted) {
	if m.task == nil || m.task.state != taskUnderWay || f.Attempt != m.task.attempt.number || !m.cause.Time.Before(m.task.attempt.fact.Expires) {
		o.world.violate(PermitIsAskedFor, "%s: permit %s is granted, and nobody waits for attempt %d", m.id, f.Permit, f.Attempt)
		return
	}
	by, err := o.saidAt(m.shard, m.cause.Sequence)
	if err != nil || by.agent != m.task.attempt.agent || by.request != m.task.attempt.fact.Request || m.cause.ID != f.Permit ||
		m.cause.Type != schemas.TypePermitRequest {
		o.world.violate(PermitIsAskedFor, "%s: permit %s is granted to agent %q, which asks for %q", m.id, f.Permit, by.agent, by.request)
	}
}

// grant notes a permit that a fact gives; the one before it holds no longer.
func (o *oracle) grant(m *moment, permit, agent string, again bool) {
	t := m.task
	t.close(m)
	t.doubted = again
	t.permit = &grantedPermit{
		task: t, agent: agent, permit: permit, effect: t.effect(),
		shard: m.at.shard, granted: m.at.sequence, again: again, request: t.attempt.fact.Request,
	}
	o.permits[permit] = t.permit
}

// refuses notes that a process which was handed a request was refused a permit: what it says of it is nothing about one that was permitted.
func (m *moment) refuses(f *schemas.PermitRefused) {
	if m.task == nil {
		return
	}
	m.task.doubted = m.task.permit != nil
	for _, made := range m.task.made {
		made.refused = made.refused || made.number == f.Attempt
	}
}

// effect is what every attempt of the task has in common, those of a run that
// another attempt of the same work has begun included.
func (t *task) effect() string {
	work := t.run.id()
	if t.notice() > 0 { // an inquiry is adopted, and its letter is not written again
		return schemas.EffectID(work, t.id)
	}
	if upstream := t.run.message.Upstream; upstream != nil && upstream.Effect != "" {
		work = upstream.Effect
	}
	return schemas.EffectID(work, t.id)
}

// close ends what permit the task's agent has: it is not told of it from now on.
func (t *task) close(m *moment) {
	if t.permit != nil && t.permit.closed == 0 {
		t.permit.closed = m.at.sequence
	}
}

// permitsHold: what the owner of a shard tells an agent is on record, and holds as
// far as the owner can know: by what it has written itself, and by what stood in
// the ledger when it took the shard over. A former owner may not know.
func permitsHold(o *oracle) {
	for i := range o.world.watch.told {
		told := &o.world.watch.told[i]
		l := o.permits[told.permit]
		switch {
		case l == nil || l.shard != told.shard || l.granted > told.after:
			o.world.violate(LeaveHolds, "permit %s is told at %d of shard %d, and not on record", told.permit, told.after, told.shard)
		case told.newest && l.closed > 0 && l.closed <= told.after && (l.closed <= told.by.since || o.world.watch.seen[place{l.shard, l.closed}].process == told.by):
			o.world.violate(LeaveHolds, "permit %s of %s/%s is told at %d, though over at %d", told.permit, l.task.run.id(), l.task.id, told.after, l.closed)
		}
	}
}

// actsArePermitted: whoever has acted had a permit of its own. In a run an effect
// happens once, but for those that were permitted again; what somebody upstream asks
// for anew is a run of its own, with the same effects.
func actsArePermitted(o *oracle) {
	type inRun struct{ run, effect string }
	again := map[inRun]int{}
	for _, l := range o.permits {
		if l.again {
			again[inRun{l.task.run.id(), l.effect}]++
		}
	}
	used, acts := map[string]bool{}, map[inRun]int{}
	for i := range o.world.acts {
		did := &o.world.acts[i]
		l := o.permits[did.permit]
		if l == nil || l.agent != did.agent || l.effect != did.effect || l.shard != did.shard || l.granted > did.after || used[did.permit] {
			o.world.violate(ActsArePermitted, "agent %s acts for request %s by permit %s at %s", did.agent, did.request, did.permit, did.at)
			continue
		}
		used[did.permit] = true
		act := inRun{l.task.run.id(), did.effect}
		if acts[act]++; acts[act] > 1+again[act]+l.task.doubled() {
			o.world.violate(ActsArePermitted, "effect %s of %s/%s happens %d times", did.effect, act.run, l.task.id, acts[act])
		}
	}
}

// doubled is how often somebody wanted the task's effect again, in spite of doubts.
func (t *task) doubled() int {
	if t.id == schemas.DeliveryTask {
		return t.run.doubled
	}
	return t.cleared
}

// effectsHappenOnce: where nobody knows whether an effect has happened and the profile
// wants to be asked then, it happens once, whatever was handed out again, and as often
// more as people have said in all the runs that want it.
func effectsHappenOnce(o *oracle) {
	happened, wanted := map[string]int{}, map[string]int{}
	counted := map[*task]bool{}
	for i := range o.world.acts {
		if l := o.permits[o.world.acts[i].permit]; l != nil && !counted[l.task] {
			counted[l.task] = true
			wanted[o.world.acts[i].effect] += l.task.doubled()
		}
	}
	for i := range o.world.acts {
		did := &o.world.acts[i]
		if l := o.permits[did.permit]; l != nil && l.task.run.asksOnUnknown(l.agent) {
			if happened[did.effect]++; happened[did.effect] > 1+wanted[did.effect] {
				o.world.violate(EffectsHappenOnce, "effect %s of %s/%s happens %d times", did.effect, l.task.run.id(), l.task.id, happened[did.effect])
			}
		}
	}
}

// permitIsForWork: no question has a permit, neither with its request nor later.
func permitIsForWork(o *oracle, m *moment) {
	f := m.fact
	brings := schemas.As[*schemas.TaskDispatched](f) != nil && schemas.As[*schemas.TaskDispatched](f).Permitted && !schemas.As[*schemas.TaskDispatched](f).Kind.MayActOutside()
	granted := schemas.As[*schemas.PermitGranted](f) != nil && m.task != nil && m.task.attempt != nil && !m.task.attempt.fact.Kind.MayActOutside()
	if brings || granted {
		o.world.violate(PermitIsForWork, "%s: a question has a permit", m.id)
	}
}

// fromStranger reports whether a run is for words of a stranger, as far as the world itself knows: mail, chat, and the requests that it has stained, however
// many supervisors have handed them on.
func (o *oracle) fromStranger(r *run) bool {
	upstream := r.message.Upstream
	if upstream == nil {
		return true
	}
	if asked := o.requests[upstream.Request]; asked != nil {
		return o.fromStranger(asked.task.run)
	}
	return o.world.taint != nil && o.world.taint.strange[upstream.Request]
}

// obeys reports whether a profile lets strangers have an agent do a task.
func (t *task) obeys(agent string) bool {
	r := t.run
	switch {
	case t.notice() > 0:
		return true
	case t.id == schemas.DeliveryTask:
		return r.profile.Delivery.OnTainted == "" || r.profile.Delivery.OnTainted == schemas.OnTaintedAllow
	}
	use := r.use(agent)
	return use == nil || use.SideEffects == "" || use.OnTainted == schemas.OnTaintedAllow
}

func (r *run) use(agent string) *schemas.AgentUse {
	at := slices.IndexFunc(r.profile.Agents, func(use schemas.AgentUse) bool { return use.Name == agent })
	if at < 0 {
		return nil
	}
	return &r.profile.Agents[at]
}

// templatesHold reports whether the profile of a run itself has an agent do something.
func (o *oracle) templatesHold(r *run, agent, call string) bool {
	if r.profile.Planner == nil {
		return false
	}
	for _, template := range r.profile.Planner.Templates {
		for _, planned := range template.Tasks {
			action := schemas.Action{Data: planned.Arguments}
			own, err := action.Call()
			o.world.must(err)
			if planned.Agent == agent && own == call {
				return true
			}
		}
	}
	return false
}

// strangersAreNotObeyed: what is handed to an agent that may do anything with it, the permit that comes along with it, and every act.
func strangersAreNotObeyed(o *oracle, m *moment, asked *schemas.TaskDispatched) {
	if !asked.Kind.MayActOutside() || !o.fromStranger(m.run) {
		return
	}
	about := m.task
	if about == nil {
		about = &task{run: m.run, id: asked.Task}
	}
	if about.obeys(asked.Agent) {
		return
	}
	if asked.Permitted {
		o.world.violate(StrangersAreNotObeyed, "%s: a permit travels with the request of %s", m.id, asked.Task)
	}
	if use := m.run.use(asked.Agent); about.planned != nil && use != nil && (use.Action == "" || use.Action == schemas.ActionArguments && !o.holdsArguments(about)) {
		o.world.violate(StrangersAreNotObeyed, "%s: agent %s is asked to do %s", m.id, asked.Agent, asked.Task)
	}
}

// holdsArguments reports whether what a task is done with stands in the profile.
func (o *oracle) holdsArguments(t *task) bool {
	action := schemas.Action{Data: t.planned.Options().Arguments}
	call, err := action.Call()
	o.world.must(err)
	return slices.ContainsFunc([]string{t.agent, t.planned.Agent}, func(agent string) bool { return o.templatesHold(t.run, agent, call) })
}

// actsAreNoStrangers is strangersAreNotObeyed of what was done.
func actsAreNoStrangers(o *oracle) {
	for i := range o.world.acts {
		did := &o.world.acts[i]
		l := o.permits[did.permit]
		if l != nil && o.fromStranger(l.task.run) && !l.task.obeys(did.agent) && !o.templatesHold(l.task.run, did.agent, did.call) {
			o.world.violate(StrangersAreNotObeyed, "agent %s does what a stranger wants in %s/%s", did.agent, l.task.run.id(), l.task.id)
		}
	}
}
