package route

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// What a score router does that says nothing else (P-06, P-08). An agent that is
// silent counts as unable (P-09): only its words speak for it.
const (
	DefaultSelfWeight    = 0.6
	DefaultKeywordWeight = 0.4
	DefaultFloor         = 0.5
)

// A scorer is a router of kind score, ready to be asked (P-06…P-09).
type scorer struct {
	self, words, silent float64
	floor, least        float64
	deadline            time.Duration
	declared            *declarations
	vocabulary          *vocabulary
}

// scorer makes ready a router of kind score. Weights of zero are the defaults
// when both are zero, and so is a floor of zero.
func (c *compiler) scorer(where string, configured schemas.Router) *scorer {
	s := &scorer{
		self: configured.SelfWeight, words: configured.KeywordWeight, silent: configured.Silent,
		floor: cmp.Or(configured.Floor, DefaultFloor), least: configured.Least,
		deadline:   c.deadline(where, configured.Deadline, DefaultAssessDeadline),
		vocabulary: c.router.folder.vocabulary(c.profile), declared: c.declarations(),
	}
	if s.self == 0 && s.words == 0 {
		s.self, s.words = DefaultSelfWeight, DefaultKeywordWeight
	}
	for _, share := range []struct {
		name  string
		value float64
	}{
		{"self_weight", s.self},
		{"keyword_weight", s.words},
		{"silent", s.silent},
		{"floor", s.floor},
		{"least", s.least},
	} {
		if math.IsNaN(share.value) || share.value < 0 || share.value > 1 {
			c.fault(where, fmt.Sprintf("%s is %v, want 0 to 1", share.name, share.value))
		}
	}
	if len(c.profile.Agents) == 0 {
		c.fault(where, "the profile has no agents to score")
	}
	return s
}

func (c *compiler) deadline(where string, configured schemas.Duration, otherwise time.Duration) time.Duration {
	if configured < 0 {
		c.fault(where, "the deadline is negative")
	}
	return cmp.Or(time.Duration(configured), otherwise)
}

// A rating is the score of one agent, and where it comes from.
type rating struct {
	agent  string
	asked  bool // for its assessment; any other agent declares one, or nothing
	spoken bool // it has assessed itself
	self   float64
	words  float64
	total  float64
	found  []schemas.Match
}

// answer scores every agent (P-07). One that is suggested is taken from the
// floor on, even when another has more (P-08). Else the highest wins: of equals,
// one that has assessed itself before one that was silent, then the first of the
// profile. A total of 0, or below least, wins nothing.
func (s *scorer) answer(q *question) verdict {
	var v verdict
	ratings := s.rate(q, &v)
	slices.SortStableFunc(ratings, func(a, b rating) int {
		switch {
		case a.total != b.total:
			return cmp.Compare(b.total, a.total)
		case a.spoken != b.spoken && a.spoken:
			return -1
		case a.spoken != b.spoken:
			return 1
		}
		return 0
	})
	if ratings[0].total > 0 && ratings[0].total >= s.least {
		v.agent, v.why = ratings[0].agent, because(schemas.RouteHighest)
	} else {
		v.why = because(schemas.RouteNoneHigh)
	}
	v.why = append(v.why, ratings[0].made())
	if q.assigned != "" {
		s.suggest(&v, q.assigned, ratings)
	}
	s.report(&v, ratings)
	return v
}

// rate scores every agent, in the order of the profile. What it still needs to ask
// goes into the verdict, and whether all who were asked were silent.
func (s *scorer) rate(q *question, v *verdict) []rating {
	ratings := make([]rating, 0, len(q.router.agents))
	overlaps, limit := s.vocabulary.overlaps(q)
	found := s.declared.found(q, limit)
	silent, spoken := 0, 0
	for i, o := range overlaps {
		r := rating{agent: o.agent, asked: s.declared.agents[i].asks, words: o.share}
		if !r.asked || fault.Is("nobody is asked for an assessment") {
			s.declared.speak(&r, q, i, found)
		} else {
			said, heard := q.evidence.assessment(o.agent)
			r.spoken, r.self = said.Answered, min(max(said.Score, 0), 1)
			switch {
			case s.self == 0:
			case !heard:
				v.need.Assess, v.need.Deadline = append(v.need.Assess, o.agent), s.deadline
			case !said.Answered:
				silent++
			}
		}
		if r.spoken {
			spoken++
		}
		r.found = append(r.found, o.found...)
		ratings = append(ratings, s.weigh(r))
	}
	v.degraded = silent > 0 && spoken == 0
	return ratings
}

// weigh adds up the two parts of a score. Products are rounded for themselves, so
// that no processor fuses them with the sum, and the total to four decimals:
// deciding again on another machine gives the same.
func (s *scorer) weigh(r rating) rating {
	if !r.spoken {
		r.self = s.silent
	}
	own, words := float64(s.self*r.self), float64(s.words*r.words)
	r.total = rounded(float64(own + words))
	return r
}

func rounded(score float64) float64 { return math.Round(score*1e4) / 1e4 }

// made says what a total is made of.
func (r *rating) made() schemas.Reason {
	switch {
	case r.asked && r.spoken:
		return schemas.Because(schemas.ScoreAssessed, "agent", r.agent, "score", decimal(r.total), "self", decimal(r.self), "words", decimal(r.words))
	case r.asked:
		return schemas.Because(schemas.ScoreUnassessed, "agent", r.agent, "score", decimal(r.total), "self", decimal(r.self), "words", decimal(r.words))
	case r.spoken:
		return schemas.Because(schemas.ScoreDeclared, "agent", r.agent, "score", decimal(r.total), "self", decimal(r.self), "words", decimal(r.words))
	}
	return schemas.Because(schemas.ScoreUndeclared, "agent", r.agent, "score", decimal(r.total), "self", decimal(r.self), "words", decimal(r.words))
}

// suggest lets the plan's suggestion win from the floor on, and says why not
// otherwise. The winner becomes the first of ratings.
func (s *scorer) suggest(v *verdict, agent string, ratings []rating) {
	at := slices.IndexFunc(ratings, func(r rating) bool { return r.agent == agent })
	if at < 0 {
		v.why = append(because(schemas.RouteSuggestedUnknown), v.why...)
		v.candidates = append(v.candidates, schemas.Candidate{
			Agent: agent, Router: string(schemas.RouterScore), Lost: because(schemas.LostUnknown),
		})
		return
	}
	suggested := ratings[at]
	if suggested.total < s.floor {
		v.why = append([]schemas.Reason{schemas.Because(schemas.RouteSuggestedLow, "agent", agent, "floor", decimal(s.floor)), suggested.made()}, v.why...)
		return
	}
	v.agent, v.why = agent, append(because(schemas.RouteSuggested, "agent", agent, "floor", decimal(s.floor)), suggested.made())
	if at > 0 {
		v.why = append(v.why, schemas.Because(schemas.RouteAnotherHigher, "agent", ratings[0].agent, "score", decimal(ratings[0].total)))
	}
	copy(ratings[1:at+1], ratings[:at])
	ratings[0] = suggested
}

// report makes a candidate of every agent, the first of them the winner if
// there is one.
func (s *scorer) report(v *verdict, ratings []rating) {
	for i := range ratings {
		r := &ratings[i]
		c := schemas.Candidate{
			Agent: r.agent, Router: string(schemas.RouterScore), Score: r.total, Rank: i + 1, Matches: r.found,
		}
		switch {
		case v.agent == "":
			c.Lost = because(schemas.LostNotEnough)
		case i > 0 && r.total > ratings[0].total:
			c.Lost = because(schemas.LostSuggested)
		case i > 0 && r.total == ratings[0].total:
			c.Lost = because(schemas.LostEqual, "agent", ratings[0].agent)
		case i > 0:
			c.Lost = because(schemas.LostBelow)
		}
		if len(c.Lost) > 0 {
			c.Lost = append(c.Lost, r.made())
		}
		v.candidates = append(v.candidates, c)
	}
}

// decimal writes a score without an exponent.
func decimal(score float64) string { return strconv.FormatFloat(score, 'f', -1, 64) }
