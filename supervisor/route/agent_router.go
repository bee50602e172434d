package route

import (
	"fmt"
	"slices"
	"strings"

	"podium/schemas"
)

// choosing checks a router that lets another agent choose. That agent need not
// be one of the profile's own.
func (c *compiler) choosing(where string, configured schemas.Router, before []schemas.Router) {
	if !schemas.ValidAgentName(configured.Agent) {
		c.fault(where, fmt.Sprintf("agent %q is not the name of an agent", configured.Agent))
	}
	if slices.ContainsFunc(before, func(r schemas.Router) bool {
		return r.Kind == schemas.RouterAgent && r.Agent == configured.Agent
	}) {
		c.fault(where, fmt.Sprintf("agent %q is asked by a router before it", configured.Agent))
	}
}

// choice is the verdict of a router that lets another agent choose (O-10…O-13).
// What it chose is held to the closed set, and a response is kept only with
// RESPOND, which is of no use without one.
func (r *router) choice(q *question) verdict {
	choice := q.evidence.choice(r.agent)
	switch {
	case choice == nil:
		return verdict{why: because(schemas.ChoiceNotAsked, "agent", r.agent), need: Need{Choose: r.agent, Deadline: r.deadline}}
	case !choice.Answered:
		return verdict{why: []schemas.Reason{choice.failure()}, degraded: true}
	}
	next, fault := q.router.closed(choice.Said.NextAgent)
	if next == schemas.RouteRespond && strings.TrimSpace(choice.Said.Response) == "" {
		fault = because(schemas.ChoiceWithoutResponse)
	}
	if len(fault) > 0 {
		return verdict{why: append(because(schemas.ChoiceUnusable, "agent", r.agent), fault...), degraded: true}
	}
	v := verdict{agent: next, why: because(schemas.ChoiceMade, "agent", r.agent, "chosen", next)}
	if next != choice.Said.NextAgent {
		v.why = append(v.why, schemas.Because(schemas.ChoiceRespelled))
	}
	if next == schemas.RouteRespond {
		v.response = choice.Said.Response
	}
	v.candidates = []schemas.Candidate{{
		Agent: next, Router: string(r.kind), Rank: 1, Said: head(choice.Said.Reasoning, schemas.SaidLimit),
	}}
	return v
}

// failure says why nothing came of asking an agent. It has no words of the agent: they stand with its failure.
func (c *Choice) failure() schemas.Reason {
	switch c.Failure {
	case schemas.FailureUnavailable:
		return schemas.Because(schemas.ChoiceUnavailable, "agent", c.Agent)
	case schemas.FailureNotStarted:
		return schemas.Because(schemas.ChoiceNotStarted, "agent", c.Agent)
	case schemas.FailureCrashed:
		return schemas.Because(schemas.ChoiceCrashed, "agent", c.Agent)
	case schemas.FailureMalformed:
		return schemas.Because(schemas.ChoiceMalformed, "agent", c.Agent)
	case schemas.FailureInvalidResult:
		return schemas.Because(schemas.ChoiceInvalid, "agent", c.Agent)
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureNoRoute,
		schemas.FailureUnknownEffect, schemas.FailureRejected, schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
		return schemas.Because(schemas.ChoiceFailed, "agent", c.Agent, "cause", string(c.Failure), "category", string(c.Category))
	case schemas.FailureTimeout:
	}
	return schemas.Because(schemas.ChoiceLate, "agent", c.Agent)
}

// closed finds the name of the closed set of agents, RESPOND and FINISH that a
// name means (O-12). One that differs only in case, spaces, hyphens and
// underscores is repaired if that leaves no doubt; any other is a fault.
func (r *Router) closed(name string) (known string, fault []schemas.Reason) {
	if strings.TrimSpace(name) == "" {
		return "", because(schemas.ChoiceMissing)
	}
	set := append(slices.Clone(r.agents), schemas.RouteRespond, schemas.RouteFinish)
	if slices.Contains(set, name) {
		return name, nil
	}
	bare := r.bareName(name)
	alike := slices.DeleteFunc(set, func(known string) bool { return bare == "" || r.bareName(known) != bare })
	switch len(alike) {
	case 0:
		return "", because(schemas.ChoiceUnknown)
	case 1:
		return alike[0], nil
	}
	return "", because(schemas.ChoiceAmbiguous, "agents", list(alike))
}

// bareName folds a name and leaves out what keeps its words apart.
func (r *Router) bareName(name string) string {
	return strings.NewReplacer(" ", "", "_", "").Replace(r.folder.foldWord(name))
}

// head returns at most limit bytes of a text, cut at a whole character.
func head(text string, limit int) string {
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}
