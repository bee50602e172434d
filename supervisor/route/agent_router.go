package route

import (
	"fmt"
	"slices"
	"strconv"
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
	name := strconv.Quote(r.agent)
	choice := q.evidence.choice(r.agent)
	switch {
	case choice == nil:
		return verdict{why: fmt.Sprintf(whyUnasked, name), need: Need{Choose: r.agent, Deadline: r.deadline}}
	case !choice.Answered && choice.Failure != "":
		return verdict{why: "agent " + name + " " + choice.Failure, degraded: true}
	case !choice.Answered:
		return verdict{why: "agent " + name + " did not answer in time", degraded: true}
	}
	next, fault := q.router.closed(choice.Decision.NextAgent)
	switch {
	case choice.Fault != "":
		fault = choice.Fault
	case fault == "" && next == schemas.RouteRespond && strings.TrimSpace(choice.Decision.Response) == "":
		fault = "RESPOND without a response"
	}
	if fault != "" {
		return verdict{why: fmt.Sprintf("the answer of agent %s is of no use: %s", name, fault), degraded: true}
	}
	v := verdict{agent: next, why: fmt.Sprintf(whyChosen, name, next)}
	if next != choice.Decision.NextAgent {
		v.why += ", which it spelled differently"
	}
	if next == schemas.RouteRespond {
		v.response = choice.Decision.Response
	}
	v.candidates = []schemas.Candidate{{
		Agent: next, Router: string(r.kind), Rank: 1, Said: head(choice.Decision.Reasoning, schemas.SaidLimit),
	}}
	return v
}

// closed finds the name of the closed set of agents, RESPOND and FINISH that a
// name means (O-12). One that differs only in case, spaces, hyphens and
// underscores is repaired if that leaves no doubt; any other is a fault.
func (r *Router) closed(name string) (known, fault string) {
	set := append(slices.Clone(r.agents), schemas.RouteRespond, schemas.RouteFinish)
	if slices.Contains(set, name) {
		return name, ""
	}
	bare := r.bareName(name)
	alike := slices.DeleteFunc(set, func(known string) bool { return bare == "" || r.bareName(known) != bare })
	switch len(alike) {
	case 0:
		return "", "it names none of the profile's agents"
	case 1:
		return alike[0], ""
	}
	return "", "it may name any of " + list(alike)
}

// bareName folds a name and leaves out what keeps its words apart.
func (r *Router) bareName(name string) string {
	return strings.NewReplacer(" ", "", "_", "").Replace(r.folder.foldWord(name))
}

// head returns at most limit bytes of a text, cut at a whole character.
func head(text string, limit int) string {
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}
