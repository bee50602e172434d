package arguments

import (
	"maps"
	"slices"
	"strings"
)

// use notes that a rule has read the tokens from one to before another.
func (p *passage) use(from, to int) {
	for i := max(from, 0); i < min(to, len(p.used)); i++ {
		p.used[i] = true
	}
}

// useText notes that a rule has read the bytes from one to before another.
func (s *filling) useText(start, end int) { s.text.use(s.tokenAt(start), s.tokenAt(end)) }

// holdBack asks about all that was read in a text of which something was not understood, if one of
// the rules wants it understood. What was known before stays, and what no rule has read in it.
func (s *filling) holdBack(before map[string]bool) {
	for _, path := range s.order {
		for i := range s.rules {
			r := &s.rules[i]
			if r.Path != path || r.Understood == "" || before[path] || !s.applies(r) || !s.doubts(r) {
				continue
			}
			for _, taken := range slices.Sorted(maps.Keys(s.text.taken)) {
				if r.Understood == UnderstoodIntent && s.leaveOut(taken) {
					continue
				}
				if taken == path || r.Understood != UnderstoodSentence || s.depends(taken, path) {
					s.doubt(taken)
				}
			}
			if s.isOpen(path) && r.choices != nil {
				s.unsure[path] = nil
			}
			break
		}
	}
}

// doubt asks about what was read for a place.
func (s *filling) doubt(path string) {
	names := strings.Split(path, ".")
	value, there := s.values.get(names)
	if _, isObject := value.(object); !there || isObject {
		return
	}
	s.unsure[path] = []string{unquoted(value)}
	s.values.remove(names)
	delete(s.sources, path)
}

// depends says whether a rule of one path has a condition on another.
func (s *filling) depends(path, on string) bool {
	return slices.ContainsFunc(s.rules, func(r rule) bool {
		return r.Path == path && slices.ContainsFunc(r.If, func(c Condition) bool { return c.Path == on })
	})
}

// doubts says whether what a rule has chosen may be meant otherwise.
func (s *filling) doubts(r *rule) bool {
	if r.Understood == UnderstoodIntent {
		return s.unmeant(r)
	}
	value, there := s.values.get(r.property.names)
	if there && !s.text.taken[r.Path] || len(s.text.tokens) == 0 {
		return false
	}
	s.useLetter(r.Understood == UnderstoodSentence)
	hits := s.hits(r)
	harmless := there && has(r.Harmless, unquoted(value))
	if harmless && r.Understood == UnderstoodSentence {
		return false
	}
	said := s.said(r.Path, r.Whole)
	for _, of := range s.text.sentences(r.Whole) {
		touched := slices.ContainsFunc(hits, func(hit int) bool { return of.from <= hit && hit < of.to })
		if r.Understood == UnderstoodSentence && !touched {
			if r.Whole && !s.text.accounted(of, said) {
				return true
			}
			continue
		}
		question, request := s.text.mark(of.to-1, "?"), s.text.requests(of)
		if harmless && question && !request && !s.text.doubtful(of) {
			continue
		}
		until := min(of.to, max(said, of.from))
		if r.Whole {
			until = s.text.untilSaid(of, said)
			if slices.ContainsFunc(hits, func(hit int) bool { return until <= hit && hit < of.to }) {
				until = of.to
			}
		}
		if question && touched && !request && !harmless || !s.text.understands(span{of.from, until}) {
			return true
		}
	}
	return false
}

// unmeant says whether it is not clear that somebody wants what the rules of a path have read: the sentence that names it has a word that
// nobody knows, or what stands beside it may take it back. What was only called off takes along what was said of it.
func (s *filling) unmeant(r *rule) bool {
	value, there := s.values.get(r.property.names)
	if there && (!s.text.taken[r.Path] || has(r.Harmless, unquoted(value))) || len(s.text.tokens) == 0 {
		return false
	}
	matched := s.text.matched[r.Path]
	if !there {
		_, asked := s.unsure[r.Path]
		return len(matched) > 0 && !asked
	}
	s.useLetter(true)
	said := s.said(r.Path, r.Whole)
	for _, of := range s.text.sentences(r.Whole) {
		named := of.from // an object or an extractor may have it from any sentence
		if len(matched) > 0 {
			at := slices.IndexFunc(matched, func(at int) bool { return of.from <= at && at < of.to })
			if at < 0 {
				if s.text.takesBack(of) || r.Whole && !s.text.accounted(of, said) {
					return true
				}
				continue
			}
			named = matched[at]
		}
		until := of.to
		if named < said && said < of.to {
			until = said
		}
		question := s.text.mark(of.to-1, "?") && !s.text.requests(of)
		if question || len(matched) > 0 && s.text.tells(named, until) || !s.text.wants(span{of.from, until}) || s.text.takesBack(span{until, of.to}) {
			return true
		}
	}
	return false
}

// match notes where a rule has found something, be it negated.
func (s *filling) match(r *rule, at int) {
	s.text.matched[r.Path] = append(s.text.matched[r.Path], at)
}

// leaveOut takes out what is no more than all of the words: with an answer they are taken anew, and nobody is asked for them.
func (s *filling) leaveOut(path string) bool {
	names := strings.Split(path, ".")
	value, there := s.values.get(names)
	if !there || unquoted(value) != s.text.words {
		return false
	}
	s.values.remove(names)
	delete(s.sources, path)
	return true
}

// leftOut says whether the words of an answer are not those that a place takes: it was left out, and nobody has asked for it.
func (s *filling) leftOut(path string) bool {
	return s.intents && s.text.source == SourceAnswer &&
		!slices.ContainsFunc(s.given.Before.Filled.Missing, func(m Missing) bool { return m.Path == path })
}

// hits are the tokens at which the keywords of a rule begin.
func (s *filling) hits(r *rule) []int {
	var hits []int
	for _, keywords := range []*keywordList{r.choices, r.when} {
		if keywords == nil {
			continue
		}
		for _, place := range s.places(keywords) {
			hits = append(hits, s.tokenAt(place.Start))
		}
	}
	return hits
}

// said is the token from which on all is taken as it was written, by a rule that depends on a path. Whole, it is of any rule, and where its
// keyword goes on to a colon, what stands before that is no part of it.
func (s *filling) said(path string, whole bool) int {
	first := len(s.text.tokens)
	for i := range s.rules {
		r := &s.rules[i]
		if !r.Words || r.when == nil || !slices.ContainsFunc(r.If, func(c Condition) bool { return c.Path == path }) && !(whole && s.meets(r)) {
			continue
		}
		kept, negated := s.placesBoth(r.when)
		if whole {
			kept = append(kept, negated...) // a negation behind the keyword is one of what it tells
		}
		for _, place := range kept {
			at := s.tokenAt(place.Start)
			for i := at; whole && i < s.tokenAt(place.End); i++ {
				if s.text.mark(i, ":") {
					at = i
					break
				}
			}
			first = min(first, at)
		}
	}
	return first
}

// useLetter notes what belongs to a letter and not to its matter: whom it greets, and who signs it. With
// titled, whoever has a title is no more than mentioned.
func (s *filling) useLetter(titled bool) {
	t := &s.text
	for i := range t.tokens {
		if n := t.closings.at(t.tokens, i); n > 0 && (t.at(i).newline || t.signed.from > i) {
			t.use(i, i+n)
		}
		if t.word(i, t.Salutations) && (t.at(i).newline || t.at(i-1).newline || t.word(i-1, t.Greetings)) {
			end, _ := t.titles(i + 1)
			if f, ok := t.nameFrom(i+1, 1, false); ok {
				end = f.to
			}
			t.use(i, end)
		}
		if end, ok := t.titles(i); ok && titled {
			if f, ok := t.nameFrom(end, 1, true); ok {
				t.use(i, f.to)
			}
		}
	}
	t.use(t.signed.from, t.signed.to)
}

// A span of tokens.
type span struct{ from, to int }

// sentences takes a text to pieces behind the marks that end one. Joined, a small letter behind the point of a number goes on with its sentence.
func (p *passage) sentences(joined bool) []span {
	var all []span
	from := 0
	for i := range p.tokens {
		t := p.at(i)
		if t.kind != tokenMark || t.fold != "." && t.fold != "!" && t.fold != "?" {
			continue
		}
		next := p.at(i + 1)
		if next.joined && next.kind != tokenMark || t.fold == "." && p.used[i] && p.at(i-1).kind == tokenNumber && !next.newline || p.word(i-1, p.Titles) || p.word(i-1, p.Degrees) {
			continue
		}
		if joined && t.fold == "." && p.at(i-1).kind == tokenNumber && next.kind == tokenWord && !next.newline && !isCapital(p.written(i+1, i+2)) {
			continue
		}
		all = append(all, span{from, i + 1})
		from = i + 1
	}
	if from < len(p.tokens) {
		all = append(all, span{from, len(p.tokens)})
	}
	return all
}

// clause is what stands around a token between two marks.
func (p *passage) clause(at int) span {
	of := span{at, at + 1}
	for of.from > 0 && p.at(of.from-1).kind != tokenMark {
		of.from--
	}
	for of.to < len(p.tokens) && p.at(of.to).kind != tokenMark {
		of.to++
	}
	return of
}

// requests says whether one of the words stands there by which a question asks to do something.
func (p *passage) requests(of span) bool {
	for i := of.from; i < of.to; i++ {
		if p.requestWords.at(p.tokens, i) > 0 {
			return true
		}
	}
	return false
}

// doubtful says whether a word stands there by which all the rest may be meant otherwise.
func (p *passage) doubtful(of span) bool {
	negated := false
	for i := of.from; i < of.to; i++ {
		if p.mark(i, ",") {
			negated = false
		}
		// Two negations may take each other back.
		if p.word(i, p.Negations) {
			if negated {
				return true
			}
			negated = true
		}
		if p.doubtWords.at(p.tokens, i) > 0 && !p.asked[i] {
			return true
		}
	}
	return false
}

// understands says whether each word there was read by a rule, or changes nothing.
func (p *passage) understands(of span) bool {
	if p.doubtful(of) {
		return false
	}
	for i := of.from; i < of.to; {
		n := p.grasps(i)
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// grasps is how many tokens that begin there were read by a rule, or change nothing.
func (p *passage) grasps(i int) int {
	t := p.at(i)
	n := max(p.plainWords.at(p.tokens, i), p.known.at(p.tokens, i))
	switch {
	case n > 1:
		return n
	case n == 1, p.used[i], p.plainMark(i):
		return 1
	case t.kind == tokenWord && (has(p.Fillers, t.fold) || has(p.DayBefore, t.fold)) && !has(p.Bounds, t.fold) && !has(p.Negations, t.fold):
		return 1
	}
	return 0
}

// tells says whether the clause around what was named asks for nothing: it says what is, or what somebody does, as in "I will write the letter",
// or it has a thing that is there already, and nobody is to make it, as in "thank you for the letter".
func (p *passage) tells(named, until int) bool {
	told, made := false, false
	for of := p.clause(named); of.from < min(of.to, until); of.from++ {
		if p.word(of.from, p.Wishes) || p.requestWords.at(p.tokens, of.from) > 0 {
			return false
		}
		told = told || p.word(of.from, p.Tells)
		made = made || p.word(of.from, p.Makes)
	}
	if p.source == SourceAnswer {
		return told // it is the thing of the question
	}
	there := p.word(named-1, p.Definite) || p.at(named-1).kind == tokenWord && p.word(named-2, p.Definite)
	return told || there && !made
}

// wants says whether each word there is understood. A day or a time does not say whether something is wanted.
func (p *passage) wants(of span) bool {
	if p.doubtful(of) {
		return false
	}
	for i := of.from; i < of.to; {
		n := p.grasps(i)
		if n == 0 && p.inside(i) {
			n = 1
		}
		// What a pattern takes may reach too far: "about his knee if the insurer asks".
		if n == 0 || n == 1 && p.reserves(i) && p.known.at(p.tokens, i) == 0 {
			return false
		}
		i += n
	}
	return true
}

// accounted says whether a sentence that does not name what is wanted cannot change it: each word of it is understood, up to where words begin that
// are taken as they were written. These may say anything, up to the end of their sentence: what is said of them stands in another.
func (p *passage) accounted(of span, said int) bool {
	question := p.mark(of.to-1, "?") && !p.requests(of)
	return !question && p.wants(span{of.from, p.untilSaid(of, said)})
}

// untilSaid is where a sentence ends, or the words begin in it that are taken as they were written.
func (p *passage) untilSaid(of span, said int) int {
	if of.from <= said && said < of.to {
		return said
	}
	return of.to
}

// takesBack says whether words may take back what others ask for, or bind it to something. A negation does, unless it says what else it denies.
func (p *passage) takesBack(of span) bool {
	negated, matter := false, false
	for i := of.from; i < of.to; {
		n := p.grasps(i)
		switch {
		case n > 1:
		case p.doubtWords.at(p.tokens, i) > 0 && !p.asked[i], p.reserves(i):
			return true
		case p.word(i, p.Negations), p.word(i, p.NegatesBackward):
			negated = true
		default:
			matter = matter || n == 0 && !p.inside(i)
		}
		i += max(n, 1)
	}
	return negated && !matter
}

// reserves says whether a reservation begins there. Before a day it only says by when something is wanted.
func (p *passage) reserves(i int) bool {
	n := p.reservations.at(p.tokens, i)
	return n > 0 && !p.inside(i+n)
}

// plainMark says whether a mark divides words and does nothing else.
func (p *passage) plainMark(i int) bool {
	const dividing = ".,;:!?-`'"
	t := p.at(i)
	if t.kind != tokenMark {
		return false
	}
	for _, r := range dividing {
		if t.fold == string(r) {
			return true
		}
	}
	return false
}
