package arguments

import (
	"slices"
	"strings"
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
	if r.Received && s.given.Message.From == "" || r.when != nil && len(s.places(r.when)) == 0 {
		return false
	}
	return r.unless == nil || len(r.unless.list.Places(s.text.text)) == 0
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

func (s *filling) matches(r *rule) []string {
	var readings []string
	for _, match := range r.pattern.FindAllStringSubmatch(s.text.text, mostFound) {
		text := strings.TrimSpace(match[r.group])
		if text == "" || has(r.Never, s.fold(text)) || slices.ContainsFunc(readings, func(other string) bool { return s.fold(other) == s.fold(text) }) {
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
