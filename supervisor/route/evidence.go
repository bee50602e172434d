package route

import (
	"slices"
	"time"

	"podium/schemas"
)

// Evidence is what is known of one text beside its words: what agents have answered, and where it comes from. The zero Evidence says
// that nobody was asked.
type Evidence struct {
	Assessments []schemas.Assessment `json:"assessments,omitzero"`
	Choices     []Choice             `json:"choices,omitzero"`
	// Source is where the message comes from, such as schemas.ChannelEmail; empty is nowhere that any group weighs.
	Source string `json:"source,omitzero"`
	// Found is what was found in the text before; nil is nothing.
	Found *Found `json:"-"`
}

// A Choice is what an agent that was asked to route has answered.
type Choice struct {
	Agent    string `json:"agent"`         // who was asked
	Answered bool   `json:"answered"`      // false: nothing came until the deadline, or Failure
	Said     Said   `json:"said,omitzero"` // as ParseDecision returns it; names nobody if the answer is of no use
	// Failure says why nothing came, with its Category; empty is that the deadline went by.
	Failure  schemas.FailureKind     `json:"failure,omitzero"`
	Category schemas.FailureCategory `json:"category,omitzero"`
}

// Said is a decision in the words of the agent that was asked for it (O-11).
type Said struct {
	NextAgent string `json:"next_agent"`
	Reasoning string `json:"reasoning"`
	Response  string `json:"response"`
}

// assessment returns what an agent says of itself. Asked is false if the
// evidence does not know it.
func (e *Evidence) assessment(agent string) (said schemas.Assessment, asked bool) {
	at := slices.IndexFunc(e.Assessments, func(a schemas.Assessment) bool { return a.Agent == agent })
	if at < 0 {
		return schemas.Assessment{Agent: agent}, false
	}
	return e.Assessments[at], true
}

// choice returns what a router agent answered, or nil if it was not asked.
func (e *Evidence) choice(agent string) *Choice {
	at := slices.IndexFunc(e.Choices, func(c Choice) bool { return c.Agent == agent })
	if at < 0 {
		return nil
	}
	return &e.Choices[at]
}

// A Need is what has to be asked before a text can be decided: assessments, or a
// choice, never both. The zero Need says that nothing has to be asked.
type Need struct {
	Assess []string // of these agents, all at once (schemas.KindAssess)
	Choose string   // of this agent (schemas.KindRoute)
	// Deadline is how long answers are waited for. Who has not answered by then
	// goes into the evidence as not answered.
	Deadline time.Duration
}

// Empty reports whether nothing has to be asked.
func (n Need) Empty() bool { return len(n.Assess) == 0 && n.Choose == "" }

// The deadlines of routers that say nothing else. An assessment is a rule of
// thumb; a choice may be the work of a language model.
const (
	DefaultAssessDeadline = 2 * time.Second
	DefaultChoiceDeadline = 10 * time.Second
)

// Need says what has to be asked, given what is known. It is empty when a router
// decides, when all are exhausted, and always for a profile without a router of
// kind score or agent. Each answer that is added to the evidence, a missing one
// included, brings it closer to empty, in at most one step for each router.
func (r *Router) Need(text, assigned string, evidence Evidence) Need {
	if !r.asks {
		return Need{}
	}
	q := r.question(text, assigned, evidence)
	for i := range r.routers {
		v := r.routers[i].answer(&q)
		if v.agent != "" || !v.need.Empty() {
			return v.need
		}
	}
	return Need{}
}

// DecideWith is Decide with the answers of agents. An agent that was asked and
// has not answered does not hinder a decision (P-09, G-31).
func (r *Router) DecideWith(text, assigned string, evidence Evidence) (schemas.RouteDecision, bool) {
	return r.decide(r.question(text, assigned, evidence), false)
}
