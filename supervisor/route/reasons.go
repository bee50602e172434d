package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
)

// because returns one reason. No value of a reason has words of the person, or of an answer, in it (G-37).
func because(code schemas.ReasonCode, values ...string) []schemas.Reason {
	return []schemas.Reason{schemas.Because(code, values...)}
}

// why names the winner's keywords and the losing groups, in the profile's words.
func (r *router) why(contenders []contender) []schemas.Reason {
	winner := &contenders[0]
	var by, also []string
	for _, o := range winner.found {
		by = append(by, r.matcher.keywords[o.keyword].written())
	}
	for i := range contenders[1:] {
		also = append(also, r.groups[contenders[1+i].group].name)
	}
	name := r.groups[winner.group].name
	why := because(schemas.RouteKeywords, "keywords", list(by), "group", name)
	if len(by) == 1 {
		why = because(schemas.RouteKeyword, "keyword", by[0], "group", name)
	}
	if len(also) > 0 {
		why = append(why, r.rule(winner, list(also)))
		if winner.bonus != 0 {
			why = append(why, schemas.Because(schemas.RouteSourceBonus, "bonus", strconv.Itoa(winner.bonus), "source", winner.source))
		}
	}
	return why
}

// written returns the keyword as its configuration has it: a stem has a star.
func (k *keyword) written() string {
	return schemas.Keyword{Word: k.word, Mode: k.mode}.Written()
}

// rule says by what the winner goes before other groups.
func (r *router) rule(winner *contender, others string) schemas.Reason {
	switch r.order {
	case schemas.OrderPriority:
		return schemas.Because(schemas.RouteByPriority, "priority", strconv.Itoa(r.rankOf(winner)), "groups", others)
	case schemas.OrderScore:
		return schemas.Because(schemas.RouteByScore, "score", strconv.Itoa(winner.score()), "groups", others)
	case schemas.OrderConfigured:
	}
	return schemas.Because(schemas.RouteByOrder, "order", strconv.Itoa(winner.group+1), "groups", others)
}

// reasons is why the routers before one did not decide, and why that one did. What several say alike is said once.
func reasons(passed [][]schemas.Reason, why []schemas.Reason) []schemas.Reason {
	passed = slices.CompactFunc(passed, func(a, b []schemas.Reason) bool { return slices.EqualFunc(a, b, schemas.Reason.Same) })
	return append(slices.Concat(passed...), why...)
}

// list names at most five things, each in quotation marks, and how many more there are.
func list(names []string) string {
	const limit = 5
	quoted := make([]string, min(len(names), limit))
	for i := range quoted {
		quoted[i] = strconv.Quote(names[i])
	}
	named := strings.Join(quoted, ", ")
	if len(names) > limit {
		named += fmt.Sprintf(" (+%d)", len(names)-limit)
	}
	return named
}
