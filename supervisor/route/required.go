package route

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A sieve finds which expressions may match a text by letters that each match of one has, so that the others need not be tried. All are found in one pass.
type sieve struct {
	automaton *automaton
	of        []int // the expression that letters belong to, by their own index
	always    []int // expressions of which no such letters are known
	count     int
}

// newSieve makes one of expressions as they were compiled.
func newSieve(expressions []string) sieve {
	s := sieve{count: len(expressions)}
	var words []string
	for i, source := range expressions {
		parsed, err := syntax.Parse(source, syntax.Perl)
		var letters []string
		if err == nil {
			letters = required(parsed)
		}
		if len(letters) == 0 {
			s.always = append(s.always, i)
			continue
		}
		for _, word := range letters {
			words, s.of = append(words, word), append(s.of, i)
		}
	}
	s.automaton = newAutomaton(words)
	return s
}

// may says which expressions may match the text.
func (s *sieve) may(text []byte) []bool {
	if s.count == 0 {
		return nil
	}
	may := make([]bool, s.count)
	for _, i := range s.always {
		may[i] = true
	}
	if len(s.of) > 0 {
		s.automaton.scan(text, func(word, _ int) { may[s.of[word]] = true })
	}
	return may
}

// required returns texts of which every match of an expression holds one; none when they are not known.
func required(expression *syntax.Regexp) []string {
	switch expression.Op {
	case syntax.OpLiteral:
		if expression.Flags&syntax.FoldCase == 0 && len(expression.Rune) > 1 && !slices.Contains(expression.Rune, utf8.RuneError) {
			return []string{string(expression.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(expression.Sub[0])
	case syntax.OpRepeat:
		if expression.Min > 0 {
			return required(expression.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, part := range expression.Sub {
			if found := required(part); len(found) > 0 && (best == nil || shortest(found) > shortest(best)) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, part := range expression.Sub {
			found := required(part)
			if len(found) == 0 {
				return nil
			}
			all = append(all, found...)
		}
		return all
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpCharClass, syntax.OpAnyCharNotNL, syntax.OpAnyChar, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
	}
	return nil
}

func shortest(texts []string) int {
	length := len(texts[0])
	for _, text := range texts {
		length = min(length, len(text))
	}
	return length
}
