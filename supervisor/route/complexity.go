package route

import (
	"strconv"

	"podium/schemas"
)

// A complexity is the complexity check of one profile, ready to be asked.
type complexity struct {
	verbs      *matcher
	separators *matcher
	patterns   []pattern
}

// AssessComplexity says whether a text asks for more than one step: it names two distinct
// action verbs, or a pattern matches (O-17…O-20). What the person quotes and the
// material behind a colon do not count. Verbs lists each verb where it is first
// found. A profile without a complexity check has no complex texts.
func (r *Router) AssessComplexity(text string) schemas.Complexity {
	if r.complexity == nil {
		return schemas.Complexity{Reasons: because(schemas.ComplexityOff)}
	}
	f := r.folder.foldMessage(text)
	o := r.complexity.outline(f)
	return r.complexity.assess(f, &o)
}

func (c *complexity) assess(f *folded, read *outline) schemas.Complexity {
	var assessed schemas.Complexity
	for _, p := range c.patterns {
		if p.expression.Match(f.text[:read.material]) {
			assessed.Pattern = p.source
			break
		}
	}
	seen := make([]bool, len(c.verbs.keywords))
	var verbs []string
	for _, o := range read.verbs {
		if seen[o.keyword] {
			continue
		}
		seen[o.keyword] = true
		verb := &c.verbs.keywords[o.keyword]
		verbs = append(verbs, verb.written())
		assessed.Verbs = append(assessed.Verbs, f.match(verb.word, o))
	}
	assessed.Complex = len(verbs) > 1 || assessed.Pattern != ""
	assessed.Reasons = complexityReasons(verbs, assessed.Pattern)
	return assessed
}

func complexityReasons(verbs []string, pattern string) []schemas.Reason {
	var reasons []schemas.Reason
	switch len(verbs) {
	case 0:
		reasons = because(schemas.ComplexityNoVerb)
	case 1:
		reasons = because(schemas.ComplexityOneVerb, "verb", verbs[0])
	default:
		reasons = because(schemas.ComplexityVerbs, "count", strconv.Itoa(len(verbs)), "verbs", list(verbs))
	}
	if pattern != "" {
		reasons = append(reasons, schemas.Because(schemas.ComplexityPattern, "pattern", pattern))
	}
	return reasons
}
