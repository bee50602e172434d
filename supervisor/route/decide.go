package route

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
)

// Decide says which agent a text goes to. Assigned is the agent that a plan names,
// or empty. It returns false if no router decides; NextAgent is then empty and the
// decision says what was tried.
//
// Candidates holds the winner and every loser in the order in which they would
// have won: every keyword group that hit, also of routers that need not have been
// asked. Each keyword is listed where it counts first.
func (r *Router) Decide(text, assigned string) (schemas.RouteDecision, bool) {
	return r.decide(r.question(text, assigned, Evidence{}), false)
}

// ReadAhead looks through a long text, and the steps that it falls into, and adds what it finds.
func (r *Router) ReadAhead(text string, found *Found) {
	found.open = true
	for _, part := range append(r.Split(text), text) {
		if len(part) >= longText {
			r.DecideWith(part, "", Evidence{Found: found})
		}
	}
	found.open = false
}

// Explain is Decide with those among the losers who have nothing to do with the
// text, which would make a decision on the ledger as large as the profile: the
// keyword groups that did not hit, and the scores of routers that need not have
// been asked.
func (r *Router) Explain(text, assigned string) (schemas.RouteDecision, bool) {
	return r.decide(r.question(text, assigned, Evidence{}), true)
}

// ExplainWith is Explain with what is known beside the words.
func (r *Router) ExplainWith(text, assigned string, evidence Evidence) (schemas.RouteDecision, bool) {
	return r.decide(r.question(text, assigned, evidence), true)
}

// A question is all that a decision depends on.
type question struct {
	router   *Router
	text     *folded
	assigned string
	evidence Evidence
	silent   bool // whether those are listed who have nothing to do with the text
}

func (r *Router) question(text, assigned string, evidence Evidence) question {
	return question{router: r, text: r.folder.foldMessage(text), assigned: assigned, evidence: evidence}
}

func (r *Router) decide(q question, silent bool) (schemas.RouteDecision, bool) {
	q.silent = silent
	var d schemas.RouteDecision
	var passed [][]schemas.Reason // why earlier routers did not decide
	for i := range r.routers {
		asked := &r.routers[i]
		if d.NextAgent != "" && asked.asks() && !silent {
			continue
		}
		v := asked.answer(&q)
		switch {
		case d.NextAgent != "":
			v.lose(asked.kind, d.Router)
		case v.agent != "":
			d.NextAgent, d.Router, d.Ambiguous, d.Response = v.agent, string(asked.kind), v.ambiguous, v.response
			d.Degraded = d.Degraded || v.degraded
			d.Reasons = reasons(passed, v.why)
		default:
			d.Degraded = d.Degraded || v.degraded
			if len(v.why) > 0 {
				passed = append(passed, v.why)
			}
		}
		d.Candidates = append(d.Candidates, v.candidates...)
	}
	if d.NextAgent == "" {
		d.Reasons = append(because(schemas.RouteNoAgent), reasons(passed, nil)...)
	}
	if len(q.text.source) > MaxRead {
		d.Reasons = append(d.Reasons, schemas.Because(schemas.RouteReadInPart, "size", strconv.Itoa(len(q.text.source)), "first", strconv.Itoa(MaxRead-readEnd), "last", strconv.Itoa(readEnd)))
	}
	return d, d.NextAgent != ""
}

// A verdict is the answer of one router.
type verdict struct {
	agent      string // empty: it does not decide
	why        []schemas.Reason
	response   string // of its own, instead of an agent's
	need       Need   // what has to be asked before it can decide
	degraded   bool   // somebody was asked and gave no answer of use
	ambiguous  bool
	candidates []schemas.Candidate
}

// asks reports whether a router needs answers of agents.
func (r *router) asks() bool { return r.kind == schemas.RouterScore || r.kind == schemas.RouterAgent }

func (r *router) answer(q *question) verdict {
	switch r.kind {
	case schemas.RouterAssigned:
		return r.assigned(q.assigned, slices.Contains(q.router.agents, q.assigned))
	case schemas.RouterKeywords:
		return r.keywords(q)
	case schemas.RouterScore:
		return r.score.answer(q)
	case schemas.RouterAgent:
		return r.choice(q)
	case schemas.RouterDefault:
	}
	return verdict{
		agent: r.agent, why: because(schemas.RouteDefault),
		candidates: []schemas.Candidate{{Agent: r.agent, Router: string(r.kind), Rank: 1}},
	}
}

// lose makes losers of all candidates, since the router before decided.
func (v *verdict) lose(kind schemas.RouterKind, before string) {
	unasked := kind == schemas.RouterDefault || kind == schemas.RouterScore || kind == schemas.RouterAgent
	lost := because(schemas.LostLater, "router", before)
	if unasked {
		lost = because(schemas.LostNotAsked, "router", before)
	}
	for i := range v.candidates {
		if c := &v.candidates[i]; unasked || len(c.Lost) == 0 || len(c.Matches) > 0 {
			c.Lost = lost
		}
	}
}

func (r *router) assigned(agent string, known bool) verdict {
	if agent == "" {
		return verdict{}
	}
	candidate := schemas.Candidate{Agent: agent, Router: string(r.kind), Rank: 1}
	if !known {
		candidate.Lost = because(schemas.LostUnknown)
		return verdict{why: because(schemas.RouteAssignedUnknown), candidates: []schemas.Candidate{candidate}}
	}
	return verdict{agent: agent, why: because(schemas.RouteAssigned), candidates: []schemas.Candidate{candidate}}
}

// A contender is a keyword group with a hit.
type contender struct {
	group    int
	distinct int // keywords that count
	own      int // of them not shared
	bonus    int // for where the message comes from (G-26)
	source   string
	found    []occurrence
}

func (r *router) keywords(q *question) verdict {
	f := q.text
	contenders := r.contenders(q.evidence.Found.first(r.matcher, f), f, q.evidence.Source, q.router.complexity)
	var v verdict
	for i := range contenders {
		c := r.candidate(f, &contenders[i])
		if i > 0 {
			c.Lost = []schemas.Reason{r.lost(&contenders[i], &contenders[0])}
			v.ambiguous = v.ambiguous || contenders[i].distinct > 0 && c.Agent != v.candidates[0].Agent
		}
		v.candidates = append(v.candidates, c)
	}
	v.why = because(schemas.RouteNoKeyword)
	if len(contenders) > 0 {
		v.agent = v.candidates[0].Agent
		v.why = r.why(contenders)
	}
	if q.silent {
		v.candidates = append(v.candidates, r.silent(contenders)...)
	}
	return v
}

// contenders groups what was found, the winner first.
func (r *router) contenders(found []occurrence, f *folded, source string, reading *complexity) []contender {
	slices.SortFunc(found, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(r.groupOf(a), r.groupOf(b)), cmp.Compare(a.start, b.start),
			cmp.Compare(a.keyword, b.keyword))
	})
	var contenders []contender
	for at := 0; at < len(found); {
		from := at
		for at < len(found) && r.groupOf(found[at]) == r.groupOf(found[from]) {
			at++
		}
		group := r.groupOf(found[from])
		contenders = append(contenders, contender{group: group, bonus: r.groups[group].bonus[source], source: source, found: found[from:at]})
	}
	limit := len(f.text)
	if len(contenders) > 1 && reading != nil {
		limit = counting(found, reading.outline(f))
	}
	for i := range contenders {
		contenders[i].count(r.matcher, limit)
	}
	slices.SortFunc(contenders, func(a, b contender) int {
		return cmp.Or(cmp.Compare(a.weakness(), b.weakness()), r.compare(&a, &b), cmp.Compare(a.group, b.group))
	})
	return contenders
}

// counting returns the offset from which on keywords do not count: where the
// material of the request begins, unless the request itself holds none.
func counting(found []occurrence, read outline) int {
	request := read.request()
	for _, o := range found {
		if o.start < request {
			return request
		}
	}
	return math.MaxInt
}

func (c *contender) count(m *matcher, limit int) {
	for _, o := range c.found {
		if o.start >= limit {
			continue
		}
		c.distinct++
		if !m.keywords[o.keyword].shared {
			c.own++
		}
	}
}

// weakness says what a group yields to, whatever the mode: shared words to a
// word of one's own, and words of the material to words of the request.
func (c *contender) weakness() int {
	switch {
	case c.own > 0:
		return 0
	case c.distinct > 0:
		return 1
	}
	return 2
}

func (r *router) groupOf(o occurrence) int {
	return r.matcher.keywords[o.keyword].group
}

// compare orders two groups by the router's mode alone; 0 leaves it to the
// configured order.
func (r *router) compare(a, b *contender) int {
	switch r.order {
	case schemas.OrderPriority:
		return cmp.Compare(r.rankOf(a), r.rankOf(b))
	case schemas.OrderScore:
		return cmp.Compare(b.score(), a.score())
	case schemas.OrderConfigured:
	}
	return 0
}

func (r *router) rank(group int) int {
	if r.order == schemas.OrderPriority {
		return r.groups[group].priority
	}
	return group + 1
}

// rankOf is the rank of a group for a message from where it comes.
func (r *router) rankOf(c *contender) int {
	if r.order == schemas.OrderPriority {
		return r.rank(c.group) - c.bonus
	}
	return r.rank(c.group)
}

// score is how much a group has of a message, with what counts for where that comes from.
func (c *contender) score() int { return c.distinct + c.bonus }

func (r *router) lost(loser, winner *contender) schemas.Reason {
	if loser.weakness() > winner.weakness() {
		if loser.distinct == 0 {
			return schemas.Because(schemas.LostMaterial)
		}
		return schemas.Because(schemas.LostShared)
	}
	order, before := loser.group+1, winner.group+1
	switch r.order {
	case schemas.OrderPriority:
		if r.compare(loser, winner) != 0 {
			return schemas.Because(schemas.LostPriority, "priority", strconv.Itoa(r.rankOf(loser)), "before", strconv.Itoa(r.rankOf(winner)))
		}
		return schemas.Because(schemas.LostEqualPriority, "priority", strconv.Itoa(r.rankOf(loser)), "order", strconv.Itoa(order), "before", strconv.Itoa(before))
	case schemas.OrderScore:
		if r.compare(loser, winner) != 0 {
			return schemas.Because(schemas.LostScore, "score", strconv.Itoa(loser.score()), "most", strconv.Itoa(winner.score()))
		}
		return schemas.Because(schemas.LostEqualScore, "score", strconv.Itoa(loser.score()), "order", strconv.Itoa(order), "before", strconv.Itoa(before))
	case schemas.OrderConfigured:
	}
	return schemas.Because(schemas.LostOrder, "order", strconv.Itoa(order), "before", strconv.Itoa(before))
}

func (r *router) candidate(f *folded, c *contender) schemas.Candidate {
	g := &r.groups[c.group]
	candidate := schemas.Candidate{
		Agent: g.agent, Router: string(r.kind), Group: g.name,
		Score: float64(c.distinct), Rank: r.rank(c.group),
	}
	if r.order == schemas.OrderScore {
		candidate.Score = float64(c.score())
	}
	candidate.Matches = make([]schemas.Match, len(c.found))
	for i, o := range c.found {
		candidate.Matches[i] = f.match(r.matcher.keywords[o.keyword].word, o)
	}
	return candidate
}

// silent lists the groups without a hit.
func (r *router) silent(contenders []contender) []schemas.Candidate {
	hit := make([]bool, len(r.groups))
	for i := range contenders {
		hit[contenders[i].group] = true
	}
	var candidates []schemas.Candidate
	for i, g := range r.groups {
		if !hit[i] {
			candidates = append(candidates, schemas.Candidate{
				Agent: g.agent, Router: string(r.kind), Group: g.name,
				Rank: r.rank(i), Lost: because(schemas.LostNoKeyword),
			})
		}
	}
	return candidates
}

// match says where in the source an occurrence is.
func (f *folded) match(word string, o occurrence) schemas.Match {
	m := schemas.Match{Keyword: word, Start: f.start(o.start), End: f.end(o.end)}
	m.Text = strings.ToValidUTF8(f.source[m.Start:min(m.End, m.Start+textLimit)], "")
	return m
}

// textLimit bounds Match.Text, in bytes: the ledger keeps the decision, and what
// a keyword begins may be as long as the text.
const textLimit = 120
