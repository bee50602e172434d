package arguments

import (
	"slices"
	"strings"

	"podium/supervisor/route"
)

// applies says whether the conditions of a rule hold.
func (s *filling) applies(r *rule) bool {
	for _, condition := range r.If {
		value, there := s.values.get(strings.Split(condition.Path, "."))
		holds := there && (len(condition.Is) == 0 || slices.Contains(condition.Is, unquoted(value)))
		if holds == condition.Not {
			return false
		}
	}
	if r.when != nil && len(s.places(r.when)) == 0 {
		return false
	}
	return r.unless == nil || !r.unless.Hit(s.text.text)
}

// apply takes what a rule finds. Several things found are asked about.
func (s *filling) apply(r *rule) {
	switch {
	case len(r.Map) > 0:
		s.decide(r, s.choose(r), false)
	case r.pattern != nil:
		s.decide(r, s.matches(r), false)
	case r.Find != "":
		readings, unsure := s.recognized(r)
		if r.property.kind == "array" && !unsure && len(readings) > 0 {
			readings = []string{strings.Join(readings, "\n")}
		}
		s.decide(r, readings, unsure)
	case r.Words:
		if !s.text.object && strings.TrimSpace(s.text.words) != "" {
			s.decide(r, []string{s.text.words}, false)
		}
	case r.Constant != "":
		s.decide(r, []string{r.Constant}, false)
	case r.Same != "":
		if value, ok := s.values.get(strings.Split(r.Same, ".")); ok {
			s.found(r.property, value, s.text.source)
		}
	case r.Entity != "":
		if value := s.given.Entities[r.Entity]; value != "" {
			s.fromOutside(r, value)
		}
	case r.Attachments != "":
		s.attach(r)
	case len(r.Message) > 0:
		s.takeMessage(r)
	}
}

// decide takes the only reading of the texts that were found, or asks.
func (s *filling) decide(r *rule, texts []string, unsure bool) {
	readings, more := s.typedAll(r, texts)
	switch {
	case unsure || more:
		told := []string{}
		for _, one := range readings {
			told = append(told, one.told)
		}
		s.unsure[r.Path] = told
	case len(readings) == 1:
		s.found(r.property, readings[0].value, s.text.source)
	}
}

// choose returns the values of the choices whose words stand in the text.
func (s *filling) choose(r *rule) []string {
	var strong, weak []string
	for _, place := range s.places(r.choices) {
		choice := r.Map[place.Keyword]
		to := &strong
		if choice.Weak {
			to = &weak
		}
		if !slices.Contains(*to, choice.Value) {
			*to = append(*to, choice.Value)
		}
	}
	if len(strong) > 0 {
		return strong
	}
	return weak
}

// places are where keywords count: outside of negations, and not inside of a longer keyword.
func (s *filling) places(keywords *route.Keywords) []route.Place {
	found := keywords.Places(s.text.text)
	var kept []route.Place
	reach := route.Place{}
	for _, place := range found {
		if s.negated(place) {
			continue
		}
		// Sorted by their beginning: one that was kept before may hold this one, or be held by it.
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
	return kept
}

// negated says whether a negation stands before a place, or right behind it.
func (s *filling) negated(place route.Place) bool {
	const farthest = 4
	first := s.tokenAt(place.Start)
	for i := first - 1; i >= 0 && i >= first-farthest; i-- {
		t := s.text.at(i)
		if t.kind == tokenWord && has(s.text.Negations, t.fold) {
			return true
		}
		if t.kind != tokenWord || !has(s.text.NegationFillers, t.fold) {
			break
		}
	}
	behind := s.tokenAt(place.End)
	for i := behind; i < behind+farthest; i++ {
		t := s.text.at(i)
		if t.kind == tokenWord && has(s.text.NegatesBackward, t.fold) {
			return true
		}
		if t.kind != tokenWord || has(s.text.Joiners, t.fold) {
			break
		}
	}
	return false
}

// tokenAt is the first token that does not begin before a byte of the text.
func (s *filling) tokenAt(offset int) int {
	at, _ := slices.BinarySearchFunc(s.text.tokens, offset, func(t token, offset int) int { return t.start - offset })
	return at
}

func (s *filling) matches(r *rule) []string {
	var readings []string
	for _, match := range r.pattern.FindAllStringSubmatch(s.text.text, mostFound) {
		text := strings.TrimSpace(match[r.group])
		if text == "" || slices.ContainsFunc(readings, func(other string) bool { return s.fold(other) == s.fold(text) }) {
			continue
		}
		readings = append(readings, text)
	}
	if r.property.kind == "array" && len(readings) > 0 {
		return []string{strings.Join(readings, "\n")}
	}
	return readings
}

// fromOutside takes what is not from the words: it needs no confirmation.
func (s *filling) fromOutside(r *rule, text string) {
	if readings := s.typed(r.property, text, r.As, s.text.reader); len(readings) == 1 {
		s.put(r.property.names, readings[0], SourceRule)
		return
	}
	s.refused = append(s.refused, Refused{Path: r.Path, Why: "what the session says of it is not what the schema takes there"})
}

func (s *filling) attach(r *rule) {
	var references []string
	for _, file := range s.given.Files {
		if fitsMediaType(file.MediaType, r.Attachments) {
			references = append(references, file.Reference)
		}
	}
	switch {
	case len(references) == 0:
	case r.property.kind == "array":
		s.put(r.property.names, listed(references), SourceRule)
	case len(references) == 1:
		s.put(r.property.names, quoted(references[0]), SourceRule)
	default:
		s.unsure[r.Path] = references
	}
}

func fitsMediaType(mediaType, wanted string) bool {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	if family, any := strings.CutSuffix(strings.ToLower(wanted), "*"); any {
		return strings.HasPrefix(mediaType, family)
	}
	return strings.TrimSpace(mediaType) == strings.ToLower(wanted)
}

// takeMessage takes members of the received message as those of an object, as far as the schema has them.
func (s *filling) takeMessage(r *rule) {
	for _, member := range r.Message {
		text := s.given.Message.Text
		switch member {
		case MemberFrom:
			text = s.given.Message.From
		case MemberSubject:
			text = s.given.Message.Subject
		case MemberText:
			if text == "" {
				text = s.text.words
			}
		}
		if text == "" || member == MemberText && s.text.object {
			continue
		}
		p := r.property
		if p.kind == "object" || len(r.Message) > 1 {
			var ok bool
			if p, ok = s.document.property(r.Path + "." + string(member)); !ok {
				continue
			}
		}
		s.put(p.names, quoted(text), SourceRule)
	}
}
