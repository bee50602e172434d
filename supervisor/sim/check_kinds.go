package sim

import "podium/schemas"

// The invariants that speak of what agents declare that they answer.
const (
	AskedAsDeclared = "an agent is asked how well it could do a task when it declares that it answers that, and else it is not"
	LeaveIsForWork  = "leave to act is given for work, and for no question"
)

// askedAsDeclared: whoever is asked for an assessment declares it, and a score
// is decided only when all who do have been asked.
func (h *oracle) askedAsDeclared(m *moment) {
	switch f := m.fact; {
	case f.TaskDispatched != nil && f.TaskDispatched.Kind == schemas.KindAssess:
		for i := range m.run.profile.Agents {
			if use := &m.run.profile.Agents[i]; use.Name == f.TaskDispatched.Agent && !use.Declares(schemas.KindAssess) {
				h.world.violate(AskedAsDeclared, "%s: agent %s is asked", m.id, use.Name)
			}
		}
	case f.TaskRouted != nil && scored(&f.TaskRouted.Decision):
		for i := range m.run.profile.Agents {
			use := &m.run.profile.Agents[i]
			if asked := m.run.task("assess:"+f.TaskRouted.Task+":"+use.Name) != nil; asked != use.Declares(schemas.KindAssess) {
				h.world.violate(AskedAsDeclared, "%s: agent %s is scored, asked: %t", m.id, use.Name, asked)
			}
		}
	}
}

// scored reports whether a router of kind score had a say.
func scored(decision *schemas.RouteDecision) bool {
	for i := range decision.Candidates {
		if decision.Candidates[i].Router == string(schemas.RouterScore) {
			return true
		}
	}
	return false
}

// leaveIsForWork: no question has leave to act, neither with its request nor later.
func (h *oracle) leaveIsForWork(m *moment) {
	f := m.fact
	brings := f.TaskDispatched != nil && f.TaskDispatched.Permitted && !f.TaskDispatched.Kind.IsWork()
	granted := f.PermitGranted != nil && m.task != nil && m.task.attempt != nil && !m.task.attempt.fact.Kind.IsWork()
	if brings || granted {
		h.world.violate(LeaveIsForWork, "%s: a question has leave", m.id)
	}
}
