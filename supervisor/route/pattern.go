package route

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
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
	expression, err := regexp.Compile(f.foldPattern(parsed).String())
	if err != nil {
		return nil, fmt.Errorf("not a regular expression when folded: %w", err)
	}
	return expression, nil
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
	var size rune
	for i := 0; i < len(p.Rune); i += 2 {
		if size += p.Rune[i+1] - p.Rune[i] + 1; size > classLimit {
			return p
		}
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
