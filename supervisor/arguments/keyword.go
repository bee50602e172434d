package arguments

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"podium/schemas"
	"podium/supervisor/route"
)

// A keywordList is keywords as a profile writes them, ready to be looked for.
type keywordList struct {
	list *route.Keywords
	// expressions are those between slashes, folded; of all others the text is empty.
	expressions []string
}

// keywords reads absag*, *termin, *lager*, buch~, ~invoices, /expressions/ and whole words.
func (f *Filler) keywords(words []string) (*keywordList, error) {
	if len(words) == 0 {
		return nil, nil
	}
	list := make([]schemas.Keyword, len(words))
	k := &keywordList{expressions: make([]string, len(words))}
	for i, word := range words {
		if len(word) > len("//") && strings.HasPrefix(word, "/") && strings.HasSuffix(word, "/") {
			list[i] = schemas.Keyword{Word: word[1 : len(word)-1], Mode: schemas.ModeRegex}
			k.expressions[i] = f.fold(word)
			continue
		}
		if stem, ends := strings.CutSuffix(word, "~"); ends {
			if stem == "" || strings.ContainsAny(stem, "*~") {
				return nil, fmt.Errorf("%q: ~ may only stand behind the beginning of a word, as in buch~", word)
			}
			list[i] = schemas.Keyword{Word: `\b` + regexp.QuoteMeta(f.fold(stem)) + f.endings + `\b`, Mode: schemas.ModeRegex}
			continue
		}
		if near, is := strings.CutPrefix(word, "~"); is {
			list[i] = schemas.Keyword{Word: near, Mode: schemas.ModeNear}
			continue
		}
		bare, prefix := strings.CutSuffix(word, "*")
		bare, suffix := strings.CutPrefix(bare, "*")
		if bare == "" || strings.Contains(bare, "*") {
			return nil, fmt.Errorf("%q: * may only stand at the ends of a word, as in absag* or *termin", word)
		}
		mode := schemas.ModeWord
		switch {
		case prefix && suffix:
			mode = schemas.ModeSubstring
		case prefix:
			mode = schemas.ModePrefix
		case suffix:
			mode = schemas.ModeSuffix
		}
		list[i] = schemas.Keyword{Word: bare, Mode: mode}
	}
	var err error
	k.list, err = route.CompileKeywords(list)
	return k, err
}

// places are where keywords count: outside of negations, and not inside of a longer keyword.
func (s *filling) places(keywords *keywordList) []route.Place {
	kept, _ := s.placesBoth(keywords)
	return kept
}

// placesBoth are the places where keywords count, and those behind a negation.
func (s *filling) placesBoth(keywords *keywordList) (kept, negated []route.Place) {
	reach := route.Place{}
	for _, place := range keywords.list.Places(s.text.text) {
		if _, ok := s.negated(place, keywords.expressions[place.Keyword]); ok {
			negated = append(negated, place)
			continue
		}
		// Sorted by their beginning: one that was kept before may be inside of this one, or this one inside of it.
		for len(kept) > 0 && kept[len(kept)-1].Start == place.Start && kept[len(kept)-1].End < place.End {
			kept = kept[:len(kept)-1]
		}
		if place.Start >= reach.Start && place.End <= reach.End && place.End-place.Start < reach.End-reach.Start {
			continue
		}
		if place.End > reach.End {
			reach = place
		}
		kept = append(kept, place)
	}
	for _, place := range kept {
		s.usePlace(place, keywords.expressions[place.Keyword])
	}
	for _, place := range negated {
		if keywords.expressions[place.Keyword] == "" {
			s.usePlace(place, "")
		}
	}
	return kept, negated
}

// negated returns the negation that stands before a place, right behind it, or in what an expression
// has matched that does not ask for one itself.
func (s *filling) negated(place route.Place, expression string) (span, bool) {
	const farthest, longest = 4, 32
	first, behind := s.tokenAt(place.Start), s.tokenAt(place.End)
	if negation, ok := s.negatedBefore(first); ok {
		return negation, true
	}
	for i := behind; i < behind+farthest; i++ {
		t := s.text.at(i)
		if t.kind == tokenWord && has(s.text.NegatesBackward, t.fold) {
			return span{i, i + 1}, true
		}
		if t.kind != tokenWord || has(s.text.Joiners, t.fold) {
			break
		}
	}
	if expression == "" || slices.ContainsFunc(s.text.Negations, func(word string) bool { return strings.Contains(expression, word) }) {
		return span{}, false
	}
	for i := first; i < min(behind, first+longest); i++ {
		if t := s.text.at(i); t.kind == tokenWord && has(s.text.Negations, t.fold) {
			return span{i, i + 1}, true
		}
	}
	return span{}, false
}

// negatedBefore returns the negation that stands before a token, with what is between.
func (s *filling) negatedBefore(first int) (span, bool) {
	const farthest = 4
	for i := first - 1; i >= first-farthest; i-- {
		t := s.text.at(i)
		if t.kind == tokenWord && has(s.text.Negations, t.fold) {
			return span{i, first}, true
		}
		if t.kind != tokenWord || !has(s.text.NegationFillers, t.fold) {
			break
		}
	}
	return span{}, false
}

// usePlace notes what a keyword has read: of an expression, the words at its ends.
func (s *filling) usePlace(place route.Place, expression string) {
	first, behind := s.tokenAt(place.Start), s.tokenAt(place.End)
	if expression == "" {
		s.text.use(first, behind)
		return
	}
	s.text.use(first, first+1)
	s.text.use(behind-1, behind)
	for i := first; i < behind; i++ {
		if t := s.text.at(i); has(s.text.Negations, t.fold) && strings.Contains(expression, t.fold) {
			s.text.use(i, i+1)
		}
	}
}

// tokenAt is the first token that does not begin before a byte of the text.
func (s *filling) tokenAt(offset int) int {
	at, _ := slices.BinarySearchFunc(s.text.tokens, offset, func(t token, offset int) int { return t.start - offset })
	return at
}

// Chosen are the values that a phrase chooses at a place: by its schema, or by the words of a rule.
func (f *Filler) Chosen(path, phrase string) []string {
	var values []string
	if p, known := f.document.property(path); known {
		for _, value := range f.chosen(p, phrase) {
			values = append(values, unquoted(value))
		}
	}
	for i := range f.rules {
		if r := &f.rules[i]; r.Path == path && r.choices != nil {
			for _, place := range r.choices.list.Places(phrase) {
				values = append(values, r.Map[place.Keyword].Value)
			}
		}
	}
	return values
}
