package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
)

// Why a router decides, or does not. None of the sentences has words of the person in it (G-37).
const (
	whyUnknown     = "the agent that the plan names is none of the profile's"
	whyAssigned    = "the plan names this agent"
	whyKeywordless = "none of its words is a keyword"
	whyDefault     = "the default agent takes it"
	whyUnasked     = "agent %s has not been asked"
	whyChosen      = "agent %s was asked, and has chosen %q"
)

// why names the winner's keywords and the losing groups, in the profile's words.
func (r *router) why(contenders []contender) string {
	winner := &contenders[0]
	var by, also []string
	for _, o := range winner.found {
		by = append(by, r.matcher.keywords[o.keyword].quote())
	}
	for i := range contenders[1:] {
		also = append(also, strconv.Quote(r.groups[contenders[1+i].group].name))
	}
	name := r.groups[winner.group].name
	why := fmt.Sprintf("%s is a keyword of group %q", list(by), name)
	if len(by) > 1 {
		why = fmt.Sprintf("%s are keywords of group %q", list(by), name)
	}
	if len(also) > 0 {
		why += fmt.Sprintf(", which goes by its %s before %s", r.rule(winner), list(also))
	}
	return why
}

// quote returns the keyword in quotation marks, as its configuration has it: a stem has a star.
func (k *keyword) quote() string {
	return strconv.Quote(schemas.Keyword{Word: k.word, Mode: k.mode}.Written())
}

func (r *router) rule(winner *contender) string {
	switch r.order {
	case schemas.OrderPriority:
		return "priority " + strconv.Itoa(r.rankOf(winner)) + winner.weighed()
	case schemas.OrderScore:
		return "score " + strconv.Itoa(winner.score()) + winner.weighed()
	case schemas.OrderConfigured:
	}
	return "order " + strconv.Itoa(winner.group+1)
}

// weighed tells what a group has for where the message comes from.
func (c *contender) weighed() string {
	if c.bonus == 0 {
		return ""
	}
	return fmt.Sprintf(" with %d for %s", c.bonus, c.source)
}

// reasoning is why the routers before one did not decide, and why that one did; nil is that none has.
func reasoning(passed []string, decided *router, why string) string {
	passed = slices.Compact(slices.DeleteFunc(passed, func(reason string) bool { return reason == "" }))
	switch {
	case decided == nil:
		return sentence(append([]string{"nobody takes it"}, passed...))
	case decided.kind == schemas.RouterDefault && len(passed) > 0:
		return sentence([]string{strings.Join(passed, "; ") + ", so that " + why})
	}
	return sentence(append(passed, why))
}

// list names at most five things.
func list(names []string) string {
	const limit = 5
	if len(names) > limit {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
	}
	return strings.Join(names, ", ")
}

func sentence(parts []string) string {
	text := strings.Join(parts, "; ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
