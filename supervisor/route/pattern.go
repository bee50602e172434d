package route

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// A pattern is a configured expression that the folded text is matched against.
type pattern struct {
	source     string
	expression *regexp.Regexp
}

// pattern compiles an RE2 expression. Its literal text is folded like any other,
// so that a pattern may be written as people write.
func (f *folder) pattern(source string) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("not a regular expression: %w", err)
	}
	expression, err := regexp.Compile(textOf(f.foldPattern(parsed)))
	if err != nil {
		return nil, fmt.Errorf("not a regular expression when folded: %w", err)
	}
	return expression, nil
}

// Runes that stand for large classes while an expression is written down: the last of private use, which no expression has that people write.
const (
	firstPlace = '\U00100000'
	lastPlace  = '\U0010FFFD'
)

// textOf is what String returns of an expression, or another text of the same meaning. String looks at each rune of a class for
// how it is folded, which takes a thousand times as long as all else where a class is a complement or a script.
func textOf(p *syntax.Regexp) string {
	if has(p, func(sub *syntax.Regexp) bool {
		return sub.Op == syntax.OpLiteral && len(sub.Rune) > 0 && slices.Max(sub.Rune) >= firstPlace
	}) {
		return p.String()
	}
	var places []string
	places = takeClasses(p, places)
	return strings.NewReplacer(places...).Replace(p.String())
}

// takeClasses puts a place for each large class, and returns the texts of places, each with that of its class behind it.
func takeClasses(p *syntax.Regexp, places []string) []string {
	if place := firstPlace + rune(len(places)/2); p.Op == syntax.OpCharClass && sizeOf(p) > classLimit && place <= lastPlace {
		class := []byte("(?-i:[") // a group around it may fold, which the class has done already where it was to
		for i := 0; i < len(p.Rune); i += 2 {
			class = fmt.Appendf(class, `\x{%x}-\x{%x}`, p.Rune[i], p.Rune[i+1])
		}
		places = append(places, fmt.Sprintf(`\x{%x}`, place), string(append(class, "])"...)))
		*p = syntax.Regexp{Op: syntax.OpLiteral, Flags: p.Flags &^ syntax.FoldCase, Rune: []rune{place}}
	}
	for _, sub := range p.Sub {
		places = takeClasses(sub, places)
	}
	return places
}

func has(p *syntax.Regexp, is func(*syntax.Regexp) bool) bool {
	return is(p) || slices.ContainsFunc(p.Sub, func(sub *syntax.Regexp) bool { return has(sub, is) })
}

// foldPattern folds the literal text of a parsed expression in place.
func (f *folder) foldPattern(p *syntax.Regexp) *syntax.Regexp {
	if p.Op == syntax.OpCharClass {
		return f.foldClass(p)
	}
	if p.Op == syntax.OpLiteral {
		p.Rune = []rune(string(f.fold(string(p.Rune)).text))
		if len(p.Rune) == 0 {
			p.Op = syntax.OpEmptyMatch
		}
	}
	for i, sub := range p.Sub {
		p.Sub[i] = f.foldPattern(sub)
	}
	return p
}

// classLimit bounds the runes of a class that are folded one by one. A larger
// class is a complement or a whole script and stays as it is.
const classLimit = 512

// foldClass replaces the runes of a class by what they are folded to, which may
// be more than one rune.
func (f *folder) foldClass(p *syntax.Regexp) *syntax.Regexp {
	if sizeOf(p) > classLimit {
		return p
	}
	var single []rune
	alternatives := []*syntax.Regexp{nil} // the first is for the single runes
	for i := 0; i < len(p.Rune); i += 2 {
		for r := p.Rune[i]; r <= p.Rune[i+1]; r++ {
			if isSeparator(r) {
				single = append(single, ' ', r) // a blank line stays what it is
				continue
			}
			switch to := []rune(string(f.fold(string(r)).text)); len(to) {
			case 0:
			case 1:
				single = append(single, to[0])
			default:
				alternatives = append(alternatives, &syntax.Regexp{Op: syntax.OpLiteral, Flags: p.Flags, Rune: to})
			}
		}
	}
	slices.Sort(single)
	class := &syntax.Regexp{Op: syntax.OpCharClass, Flags: p.Flags}
	for _, r := range slices.Compact(single) {
		class.Rune = append(class.Rune, r, r)
	}
	alternatives[0] = class
	if len(alternatives) == 1 {
		return class
	}
	return &syntax.Regexp{Op: syntax.OpAlternate, Flags: p.Flags, Sub: alternatives}
}

// sizeOf is how many runes a class has.
func sizeOf(class *syntax.Regexp) (size rune) {
	for i := 0; i < len(class.Rune); i += 2 {
		size += class.Rune[i+1] - class.Rune[i] + 1
	}
	return size
}
