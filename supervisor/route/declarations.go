package route

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
)

// declarations are what the agents of a profile say of themselves without being
// asked. They are immutable and may be shared.
type declarations struct {
	agents  []declaration // in the order of the profile
	matcher *matcher      // of the words of all capabilities, each a group; nil without any
	groups  int
}

// A declaration is what one agent says of itself, unless it is asked.
type declaration struct {
	asks         bool
	capabilities []schemas.Capability
	first        int // of its capabilities among the groups
}

// declarations makes the agents' capabilities ready.
func (c *compiler) declarations() *declarations {
	made := &declarations{}
	var words []keyword
	for i := range c.profile.Agents {
		use := &c.profile.Agents[i]
		own := declaration{asks: use.Declares(schemas.KindAssess) || fault.Is("who declares no assessment is asked for one"), capabilities: use.Capabilities, first: made.groups}
		for j, capability := range use.Capabilities {
			where := fmt.Sprintf("agents[%d].capabilities[%d]", i, j)
			if math.IsNaN(capability.Score) || capability.Score < 0 || capability.Score > 1 {
				c.fault(where, fmt.Sprintf("score is %v, want 0 to 1", capability.Score))
			}
			words = append(words, c.keywords(where+": words", made.groups, capability.Words)...)
			made.groups++
		}
		made.agents = append(made.agents, own)
	}
	if len(words) > 0 {
		made.matcher = newMatcher(words)
	}
	return made
}

// found returns, for each capability, where its words are before limit.
func (d *declarations) found(q *question, limit int) [][]occurrence {
	found := make([][]occurrence, d.groups)
	if d.matcher == nil {
		return found
	}
	all := q.evidence.Found.first(d.matcher, q.text)
	slices.SortFunc(all, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.keyword, b.keyword))
	})
	for _, o := range all {
		if group := d.matcher.keywords[o.keyword].group; o.start < limit {
			found[group] = append(found[group], o)
		}
	}
	return found
}

// speak fills in what an agent declares about a text, and the words that it counts by.
func (d *declarations) speak(r *rating, q *question, agent int, found [][]occurrence) {
	own := &d.agents[agent]
	found = found[own.first : own.first+len(own.capabilities)]
	r.self, r.spoken = schemas.Declared(own.capabilities, func(capability int) bool { return len(found[capability]) > 0 })
	for i, occurrences := range found {
		if own.capabilities[i].Score < r.self {
			continue
		}
		for _, o := range occurrences {
			r.found = append(r.found, q.text.match(d.matcher.keywords[o.keyword].word, o))
		}
	}
}
