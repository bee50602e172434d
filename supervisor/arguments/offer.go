package arguments

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// offered is the value that is offered at a place: the only thing that was read there, if the schema takes it. What would be
// no, and what is a page, is not offered.
func (f *Filler) offered(path string, readings []string) (jsontext.Value, bool) {
	p, known := f.document.property(path)
	if !known || len(readings) != 1 || len(readings[0]) > longestOffer || strings.TrimSpace(readings[0]) == "" {
		return nil, false
	}
	var value jsontext.Value
	switch {
	case p.kind == "string", p.kind == "" && len(p.choices) > 0:
		value = quoted(readings[0])
	case p.kind == "integer", p.kind == "number", p.kind == "boolean" && readings[0] == "true":
		value = jsontext.Value(readings[0])
	default:
		return nil, false
	}
	return value, value.IsValid() && f.accepts(p, value)
}

// Offers reports whether a reading is what an assent takes at a place.
func (f *Filler) Offers(path string, readings []string) bool {
	_, offers := f.offered(path, readings)
	return offers
}

// Told is what people call a value of a place: by the names that its schema gives to choices (enumNames).
func (f *Filler) Told(path, value string) string {
	p, known := f.document.property(path)
	if !known {
		return value
	}
	return cmp.Or(p.told[value], value)
}

// Takes says what a place takes, as far as people write it in their own way: "date" or "boolean", else nothing.
func (f *Filler) Takes(path string) string {
	p, known := f.document.property(path)
	switch {
	case known && p.format == "date":
		return p.format
	case known && p.kind == "boolean":
		return p.kind
	}
	return ""
}

// Fits reports whether the schema has a reading at a place. One that it does not have was read, and is asked about.
func (f *Filler) Fits(path, reading string) bool {
	p, known := f.document.property(path)
	if !known || p.kind == "string" || p.kind == "" {
		return !known || f.accepts(p, quoted(reading))
	}
	value := jsontext.Value(reading)
	return value.IsValid() && f.accepts(p, value)
}

// Read are the values that were read in words and have a name for people: what somebody who agrees to what is offered sees beside it. Texts that are
// all of the words are none.
func (f *Filler) Read(filled *Filled) []Missing {
	values, err := parseObject(filled.Values)
	if err != nil {
		return nil
	}
	var read []Missing
	for _, path := range slices.Sorted(maps.Keys(filled.Sources)) {
		value, there := values.get(strings.Split(path, "."))
		source, all := filled.Sources[path], func(r rule) bool { return r.Path == path && (r.Words || len(r.Message) > 0) }
		if !there || source == SourceGiven || source == SourceDefault || slices.ContainsFunc(f.rules, all) {
			continue
		}
		readings := []string{unquoted(value)}
		if m := f.missing(path, readings); m.Title != "" && f.Offers(path, readings) {
			read = append(read, m)
		}
	}
	f.inOrder(read)
	return read
}

// readAnswer takes what an answer says, and what was offered if it agrees to that. It returns the words that are more than that.
func (s *filling) readAnswer() string {
	words := s.given.Words
	s.offers = object{}
	if s.given.Offers {
		for _, m := range s.given.Before.Filled.Missing {
			if value, offered := s.offered(m.Path, m.Readings); offered {
				s.offers.set(strings.Split(m.Path, "."), value)
			}
		}
	}
	led := s.given.Lead != "" && len(s.offers) > 0
	if led {
		words = s.given.Rest
	}
	s.readWords(words, SourceAnswer)
	s.takeAnswer(words)
	if led && s.given.Lead == LeadAssent && s.understood() {
		s.offers.leaves(nil, func(names []string, value any) {
			if path := strings.Join(names, "."); s.isOpen(path) {
				s.put(names, value, SourceAnswer)
			}
		})
	}
	s.offers = nil
	return words
}

// understood says whether each word of an answer was read, or changes nothing.
func (s *filling) understood() bool {
	s.useLetter(true)
	return !s.declines() && s.text.understands(span{0, len(s.text.tokens)})
}

// declineOffers takes back what was offered and is not so, where nothing else is known: what the schema requires is asked for anew.
func (s *filling) declineOffers() {
	if s.given.Lead != LeadDecline || !s.given.Offers || strings.TrimSpace(s.given.Rest) != "" {
		return
	}
	for _, m := range s.given.Before.Filled.Missing {
		readings := s.unsure[m.Path]
		if _, offered := s.offered(m.Path, m.Readings); offered && slices.Equal(readings, m.Readings) {
			delete(s.unsure, m.Path)
		}
	}
}

// offerAlong offers along what would be taken from the words if what is offered were so, and asks for what would be missing then.
func (f *Filler) offerAlong(given Given, filled *Filled) {
	supposed := object{}
	for i := range filled.Missing {
		if value, offered := f.offered(filled.Missing[i].Path, filled.Missing[i].Readings); offered {
			supposed.set(strings.Split(filled.Missing[i].Path, "."), value)
		}
	}
	if len(supposed) == 0 {
		return
	}
	given.supposed = supposed
	next := f.Fill(given)
	values, err := parseObject(next.Values)
	if err != nil {
		return
	}
	asked := func(path string) bool {
		return slices.ContainsFunc(filled.Missing, func(m Missing) bool { return m.Path == path })
	}
	for _, m := range next.Missing {
		if !asked(m.Path) {
			filled.Missing = append(filled.Missing, m)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(next.Sources)) {
		value, there := values.get(strings.Split(path, "."))
		if filled.Sources[path] != "" || next.Sources[path] == SourceDefault || !there || asked(path) {
			continue
		}
		if readings := []string{unquoted(value)}; f.Offers(path, readings) {
			filled.Missing = append(filled.Missing, f.missing(path, readings))
		}
	}
	f.inOrder(filled.Missing)
}
