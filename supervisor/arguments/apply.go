package arguments

import (
	"slices"
	"strings"

	"podium/schemas"
	"podium/supervisor/route"
)

// applies says whether a rule counts.
func (s *filling) applies(r *rule) bool {
	if !s.meets(r) || r.Received && s.given.Message.From == "" || r.when != nil && len(s.places(r.when)) == 0 {
		return false
	}
	return r.unless == nil || len(r.unless.list.Places(s.text.text)) == 0
}

// meets says whether the conditions of a rule hold.
func (s *filling) meets(r *rule) bool {
	for _, condition := range r.If {
		names := strings.Split(condition.Path, ".")
		value, there := s.values.get(names)
		if !there {
			value, there = s.offers.get(names)
		}
		holds := there && (len(condition.Is) == 0 || slices.Contains(condition.Is, unquoted(value)))
		if holds == condition.Not {
			return false
		}
	}
	return true
}

// onlyAsks says whether a rule has no source.
func (r *rule) onlyAsks() bool {
	return r.Confirm && len(r.Map) == 0 && r.pattern == nil && r.Find == "" && !r.Words && r.Constant == "" && r.Same == "" && r.Entity == "" &&
		r.Attachments == "" && len(r.Message) == 0
}

// apply takes what a rule finds. Several things found are asked about.
func (s *filling) apply(r *rule) {
	switch {
	case len(r.Map) > 0:
		values, unsure := s.choose(r)
		s.decide(r, values, unsure)
	case r.pattern != nil:
		texts, unsure := s.matches(r)
		s.decide(r, texts, unsure)
	case r.Find != "":
		readings, unsure := s.recognized(r)
		if r.property.kind == "array" && !unsure && len(readings) > 0 {
			readings = []string{strings.Join(readings, "\n")}
		}
		s.decide(r, readings, unsure)
	case r.Words:
		if !s.text.object && strings.TrimSpace(s.text.words) != "" && !s.leftOut(r.Path) {
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
	case r.Confirm:
		s.unsure[r.Path] = nil
	}
}

// decide takes the only reading of the texts that were found, or asks.
func (s *filling) decide(r *rule, texts []string, unsure bool) {
	readings, more := s.typedAll(r, texts)
	switch {
	case unsure || more || r.Confirm && len(readings) > 0:
		told := []string{}
		for _, one := range readings {
			told = append(told, one.told)
		}
		s.unsure[r.Path] = told
	case len(readings) == 1:
		s.found(r.property, readings[0].value, s.text.source)
	}
}

// choose returns the values of the choices whose words stand in the text, and whether one of them is not sure.
func (s *filling) choose(r *rule) ([]string, bool) {
	var strong, weak []string
	unsure := [2]bool{}
	places, negated := s.placesBoth(r.choices)
	for _, place := range places {
		choice := r.Map[place.Keyword]
		s.match(r, s.tokenAt(place.Start))
		to, at := &strong, 0
		if choice.Weak {
			to, at = &weak, 1
		}
		unsure[at] = unsure[at] || choice.Confirm
		if !slices.Contains(*to, choice.Value) {
			*to = append(*to, choice.Value)
		}
	}
	at := 0
	if len(strong) == 0 {
		strong, at = weak, 1
	}
	// What is both asked for and not wanted is not sure.
	for _, place := range negated {
		choice := r.Map[place.Keyword]
		s.match(r, s.tokenAt(place.Start))
		s.useNegation(place, r, places)
		unsure[at] = unsure[at] || !choice.Confirm && has(strong, choice.Value)
	}
	return strong, unsure[at]
}

// useNegation notes that a negation was read with the choice that it takes back. One before a weak word may be
// meant for the rest of its clause, if something is chosen there.
func (s *filling) useNegation(place route.Place, r *rule, chosen []route.Place) {
	negation, ok := s.negated(place, r.choices.expressions[place.Keyword])
	if !ok {
		return
	}
	if r.Map[place.Keyword].Weak {
		clause := s.text.clause(negation.from)
		for _, other := range chosen {
			if at := s.tokenAt(other.Start); clause.from <= at && at < clause.to {
				return
			}
		}
	}
	s.text.use(negation.from, negation.to)
}

// matches returns what a pattern finds, and whether a word in it says that it is not that.
func (s *filling) matches(r *rule) ([]string, bool) {
	var readings []string
	unsure := false
	for _, match := range r.pattern.FindAllStringSubmatchIndex(s.text.text, mostFound) {
		if match[2*r.group] < 0 {
			continue
		}
		text := strings.TrimSpace(s.text.text[match[2*r.group]:match[2*r.group+1]])
		if text == "" || has(r.Never, s.fold(text)) {
			continue
		}
		s.match(r, s.tokenAt(match[2*r.group]))
		if slices.ContainsFunc(readings, func(other string) bool { return s.fold(other) == s.fold(text) }) {
			continue
		}
		if negation, ok := s.negatedBefore(s.tokenAt(match[2*r.group])); ok {
			s.text.use(negation.from, negation.to)
			s.useText(match[0], match[1])
			continue
		}
		if s.cutsNumber(match[2*r.group], match[2*r.group+1]) || s.contrary(r, s.tokenAt(match[2*r.group]), s.tokenAt(match[2*r.group+1])) {
			unsure = true
		} else {
			s.useMatch(match[0], match[1], match[2*r.group], match[2*r.group+1])
		}
		if days, more := s.typedAll(r, []string{text}); r.As == KindDate && r.Past && len(days) == 1 && !more {
			s.text.past = append(s.text.past, span{s.tokenAt(match[2*r.group]), s.tokenAt(match[2*r.group+1])})
		}
		readings = append(readings, text)
	}
	if r.property.kind == "array" && len(readings) > 0 {
		return []string{strings.Join(readings, "\n")}, unsure
	}
	return readings, unsure
}

// useMatch notes what a pattern has read, up to the end of its value. Numbers count beside that only if
// another rule reads them.
func (s *filling) useMatch(start, end, from, to int) {
	for i := s.tokenAt(start); i < s.tokenAt(end); i++ {
		if t := s.text.at(i); t.kind == tokenMark || t.end <= to && (t.kind != tokenNumber || from <= t.start) {
			s.text.use(i, i+1)
		}
	}
}

// cutsNumber says whether a span of the text begins or ends inside of a number: 500 in 1 500, or 1 in 1.200.
func (s *filling) cutsNumber(start, end int) bool {
	first, behind := s.tokenAt(start), s.tokenAt(end)
	last := behind - 1
	if t := s.text.at(first); t.kind == tokenNumber {
		before := s.text.at(first - 1)
		if t.joined && before.fold == "-" {
			return true
		}
		const thousands = 3
		if before.kind == tokenNumber && !t.newline && len(t.fold) == thousands || t.joined && before.kind == tokenMark && before.joined && s.text.at(first-2).kind == tokenNumber {
			return true
		}
	}
	return s.text.at(last).kind == tokenNumber && (s.text.mark(behind, ".") || s.text.mark(behind, ",")) && s.text.at(behind).joined &&
		s.text.at(behind+1).kind == tokenNumber && s.text.at(behind+1).joined
}

// contrary says whether what a pattern took has a word in it, or right before it, that takes it back.
func (s *filling) contrary(r *rule, from, to int) bool {
	if from >= s.text.behind || s.text.known.at(s.text.tokens, from) > 0 {
		return true
	}
	if last := s.text.at(to - 1); r.Phrase && s.text.CapitalNouns && last.kind == tokenWord && !isCapital(s.text.written(to-1, to)) && s.text.at(to-2).kind != tokenNumber {
		return true
	}
	const longest = 64
	for i := from; i < min(to, from+longest); i++ {
		t := s.text.at(i)
		if has(s.text.Negations, t.fold) || s.text.doubtWords.at(s.text.tokens, i) > 0 {
			return true
		}
		if r.Phrase && t.kind == tokenWord && !has(s.text.List, t.fold) && !has(s.text.Of, t.fold) &&
			(s.text.plainWords.at(s.text.tokens, i) > 0 || s.text.Numbers[t.fold] != "" || has(s.text.NotInPhrases, t.fold) || s.text.inside(i)) {
			return true
		}
	}
	return false
}

// fromOutside takes what is not from the words: it needs no confirmation.
func (s *filling) fromOutside(r *rule, text string) {
	if readings := s.typed(r.property, text, r.As, s.text.reader); len(readings) == 1 {
		s.put(r.property.names, readings[0], SourceRule)
		return
	}
	s.refused = append(s.refused, Refused{Path: r.Path, Reason: schemas.Because(schemas.ArgumentFromSession, "path", r.Path)})
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
	if family, whole := strings.CutSuffix(strings.ToLower(wanted), "*"); whole {
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
		if text == "" || has(r.Never, s.fold(text)) || member == MemberText && s.text.object {
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
