package arguments

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"podium/schemas"
	"podium/supervisor/route"
)

// mostFound is how much rules find at most.
const mostFound = 16

// A filling is one call of Fill.
type filling struct {
	*Filler
	given   *Given
	values  object
	sources map[string]Source
	unsure  map[string][]string // readings of what has to be asked
	refused []Refused
	today   time.Time
	text    passage // what is read now
	offers  object  // what was offered, by an answer to which conditions hold
}

// A passage is a text that rules read.
type passage struct {
	*reader
	words   string // all of it, as it was written
	object  bool   // its writer has written arguments as JSON: the rest of it is no argument
	source  Source
	used    []bool           // the tokens that a rule has read
	asked   []bool           // those of what is asked about: no doubt of all the rest
	taken   map[string]bool  // the places that a rule has filled by what is written
	matched map[string][]int // by place, the tokens where maps and patterns have found something
	signed  span             // the name of who has written
	behind  int              // where what is under that name begins
	known   phrases
	past    []span // what patterns have read as days that were
}

// Fill fills the arguments of one task.
func (f *Filler) Fill(given Given) Filled {
	moment := given.Moment
	if given.Location != nil {
		moment = moment.In(given.Location)
	}
	s := &filling{
		Filler: f, given: &given, values: object{}, sources: map[string]Source{}, unsure: map[string][]string{},
		today: time.Date(moment.Year(), moment.Month(), moment.Day(), 0, 0, 0, 0, time.UTC),
	}
	s.takeGiven()
	given.supposed.leaves(nil, func(names []string, value any) { s.put(names, value, SourceAnswer) })
	if f.input != InputWords {
		if given.Before != nil {
			s.takeBefore(given.Before)
			words := s.readAnswer()
			s.unsure = map[string][]string{}
			s.readWords(given.Before.Words+"\n\n"+words, SourceRule)
			s.declineOffers()
		} else {
			s.readWords(given.Words, SourceRule)
		}
	}
	filled := s.finish()
	if given.Offers && given.supposed == nil {
		f.offerAlong(given, &filled)
	}
	return filled
}

func (s *filling) takeGiven() {
	given, err := parseObject(s.given.Arguments)
	if err != nil {
		refused := Refused{Reason: schemas.Because(schemas.ArgumentsNoObject)}
		if errors.Is(err, errTooLong) {
			refused.Reason = schemas.Because(schemas.ArgumentsTooLong, "limit", strconv.Itoa(maxData))
		}
		s.refused = append(s.refused, refused)
		return
	}
	s.values = given
	given.leaves(nil, func(names []string, _ any) { s.sources[strings.Join(names, ".")] = SourceGiven })
}

// takeBefore keeps what was known before the questions, with its sources.
func (s *filling) takeBefore(before *Before) {
	known, err := parseObject(before.Filled.Values)
	if err != nil {
		return
	}
	known.leaves(nil, func(names []string, value any) {
		path := strings.Join(names, ".")
		if source := before.Filled.Sources[path]; source != SourceDefault {
			s.put(names, value, source)
		}
	})
}

// put sets a value where there is none.
func (s *filling) put(names []string, value any, source Source) {
	if _, there := s.values.get(names); there {
		return
	}
	if s.values.set(names, value) && source != "" {
		s.sources[strings.Join(names, ".")] = source
	}
}

// readWords fills what is still open from a text: by an object in it, then path by path.
func (s *filling) readWords(words string, source Source) {
	written := s.objectIn(words)
	head := nfc(route.Excerpt(written.rest))
	s.text = passage{
		reader: s.read(head, s.languageOf(s.given.Language), s.today), words: words, object: written.object != nil, source: source,
		known: s.Filler.known, taken: map[string]bool{}, matched: map[string][]int{},
	}
	s.text.degrees = true
	s.text.divideDays()
	s.text.listDays()
	s.text.shareMonths()
	s.text.used, s.text.asked = make([]bool, len(s.text.tokens)), make([]bool, len(s.text.tokens))
	s.text.behind = len(s.text.tokens)
	if f, ok := s.text.signature(); ok {
		s.text.signed, s.text.behind = span{f.from, f.to}, f.to
	}
	before := map[string]bool{}
	s.values.leaves(nil, func(names []string, _ any) { before[strings.Join(names, ".")] = true })
	for _, clash := range written.clash {
		if p, ok := s.known(clash.names); ok && s.isOpen(p.path) {
			s.unsure[p.path] = clash.readings
		}
	}
	s.takeObject(written.object, SourceJSON)
	extracted, err := parseObject(s.given.Extracted)
	if err != nil {
		extracted = object{}
	}
	for _, path := range s.order {
		s.fillPath(path, extracted)
	}
	for i := range s.rules {
		// What it is the same as, or depends on, may have been filled after it.
		if r := &s.rules[i]; (r.Same != "" || r.onlyAsks()) && s.isOpen(r.Path) && s.applies(r) {
			s.apply(r)
		}
	}
	s.takeObject(extracted, SourceExtractor)
	for i := range s.document.properties {
		if p := &s.document.properties[i]; s.isOpen(p.path) && !slices.Contains(s.order, p.path) && s.document.isLeaf(p) {
			s.recognize(p)
		}
	}
	s.holdBack(before)
}

func (s *filling) isOpen(path string) bool {
	_, unsure := s.unsure[path]
	_, there := s.values.get(strings.Split(path, "."))
	return !there && !unsure
}

// takeObject takes what the schema knows of an object, value by value. What it would refuse is left out.
func (s *filling) takeObject(from object, source Source) {
	from.leaves(nil, func(names []string, value any) {
		p, ok := s.known(names)
		if !ok || !s.isOpen(p.path) {
			return
		}
		raw, isValue := value.(jsontext.Value)
		if isValue && !s.accepts(p, raw) {
			readings := s.typed(p, unquoted(raw), "", s.text.reader)
			if len(readings) != 1 {
				s.unsure[p.path] = []string{unquoted(raw)}
				return
			}
			value = readings[0]
		}
		if s.text.source == SourceAnswer && source == SourceJSON {
			source = SourceAnswer
		}
		s.found(p, value, source)
	})
}

// known is the place that the names mean. Their case makes no difference. Below a place that may
// hold any object, every name is known.
func (s *filling) known(names []string) (*property, bool) {
	for size := len(names); size > 0; size-- {
		path := strings.Join(names[:size], ".")
		at := slices.IndexFunc(s.document.properties, func(p property) bool { return p.path == path })
		if at < 0 {
			at = slices.IndexFunc(s.document.properties, func(p property) bool { return strings.EqualFold(p.path, path) })
		}
		if at < 0 {
			continue
		}
		p := &s.document.properties[at]
		if size == len(names) {
			return p, true
		}
		if !p.open && !s.document.isLeaf(p) || p.kind != "object" && p.kind != "" {
			return nil, false
		}
		inner := append(slices.Clone(p.names), names[size:]...)
		return &property{path: strings.Join(inner, "."), names: inner, plain: true}, true
	}
	return nil, false
}

// found takes a value that was found. From tainted words it is asked about where only trusted ones may stand.
func (s *filling) found(p *property, value any, source Source) {
	if s.given.Tainted && slices.Contains(s.trusted, p.path) && (source == SourceJSON || source == SourceRule || source == SourceExtractor) {
		s.unsure[p.path] = []string{unquoted(value)}
		return
	}
	s.text.taken[p.path] = true
	s.put(p.names, value, source)
}

// fillPath tries the rules of a path in their order, then the extractor, then the default.
func (s *filling) fillPath(path string, extracted object) {
	if !s.isOpen(path) {
		return
	}
	for i := range s.rules {
		r := &s.rules[i]
		if r.Path != path || r.onlyAsks() || !s.applies(r) {
			continue
		}
		s.apply(r)
		if !s.isOpen(path) {
			s.contradicted(r)
			return
		}
	}
	if value, ok := extracted.get(strings.Split(path, ".")); ok {
		if raw, isValue := value.(jsontext.Value); isValue {
			only := object{}
			only.set(strings.Split(path, "."), raw)
			s.takeObject(only, SourceExtractor)
		}
	}
	if s.text.source == SourceAnswer || !s.isOpen(path) {
		return
	}
	for i := range s.rules {
		if r := &s.rules[i]; r.Path == path && r.Default != "" && s.applies(r) {
			s.put(r.property.names, s.typed(r.property, r.Default, r.As, nil)[0], SourceDefault)
			return
		}
	}
}

// contradicted asks about what a rule has read if the session is about something else there. An answer says which of the two is meant.
func (s *filling) contradicted(by *rule) {
	value, there := s.values.get(by.property.names)
	if !there || s.text.source == SourceAnswer {
		return
	}
	for i := range s.rules {
		r := &s.rules[i]
		about := s.given.Entities[r.Entity]
		if r.Path != by.Path || r.Entity == "" || about == "" || s.fold(about) == s.fold(unquoted(value)) {
			continue
		}
		s.doubt(by.Path)
		s.unsure[by.Path] = append(s.unsure[by.Path], about)
		return
	}
}

// takeAnswer takes a whole answer of one line as the one plain text that was asked for.
func (s *filling) takeAnswer(words string) {
	if s.declines() {
		return
	}
	s.takeChoices(words)
	missing := s.given.Before.Filled.Missing
	answer := strings.TrimSpace(words)
	const longest = 200
	if len(s.offers) > 0 { // what is offered was not asked for, and an answer to that is none to the rest
		if s.given.Lead != "" || len(s.text.taken) > 0 {
			return
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(m Missing) bool { _, offered := s.offered(m.Path, m.Readings); return offered })
	}
	if len(missing) != 1 || answer == "" || len(answer) > longest || strings.ContainsAny(answer, "\n\r?") {
		return
	}
	p, ok := s.document.property(missing[0].Path)
	if !ok || !s.isOpen(p.path) || p.kind != "string" || !p.plain {
		return
	}
	var as Kind
	for i := range s.rules {
		if r := &s.rules[i]; r.Path == p.path && as == "" {
			as = r.As + r.Find
		}
	}
	if as != "" && as != KindName {
		return
	}
	if readings := s.typed(p, answer, as, s.text.reader); len(readings) == 1 {
		s.put(p.names, readings[0], SourceAnswer)
	}
}

// declines reports whether an answer holds a negation or a word of doubt: then it may be that it says nothing of
// what was asked.
func (s *filling) declines() bool {
	if s.intents && s.text.takesBack(span{0, len(s.text.tokens)}) {
		return true
	}
	for i, t := range s.text.tokens {
		if t.kind == tokenWord && (has(s.text.Negations, t.fold) || has(s.text.NegatesBackward, t.fold)) || s.text.doubtWords.at(s.text.tokens, i) > 0 {
			return true
		}
	}
	return false
}

// takeChoices takes the choice that an answer begins with, for what it was asked.
func (s *filling) takeChoices(answer string) {
	words := strings.FieldsFunc(answer, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' })
	for i := range s.given.Before.Filled.Missing {
		p, ok := s.document.property(s.given.Before.Filled.Missing[i].Path)
		if !ok || p.kind != "string" || len(words) == 0 || !s.isOpen(p.path) {
			continue
		}
		said := map[string]bool{}
		for _, choice := range p.choices {
			if slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, choice) }) {
				said[choice] = true
			}
		}
		for _, choice := range p.choices {
			if said[choice] && len(said) == 1 && strings.EqualFold(words[0], choice) {
				s.put(p.names, quoted(choice), SourceAnswer)
			}
		}
	}
}

// copied keeps a result apart from what made it.
func copied(sources map[string]Source) map[string]Source {
	if len(sources) == 0 {
		return nil
	}
	return maps.Clone(sources)
}

// nfc composes letters with their marks, so that an umlaut is one letter.
func nfc(text string) string { return norm.NFC.String(text) }
