package arguments

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A reading is one value that a text can mean.
type reading struct {
	value jsontext.Value
	told  string
}

// typedAll reads texts as a place takes them, and says whether it is not sure. What the place cannot take
// is told as it is, so that it is asked about and not passed over.
func (s *filling) typedAll(r *rule, texts []string) ([]reading, bool) {
	var readings []reading
	unsure := false
	for _, text := range texts {
		values := s.typedBy(r, text)
		if len(values) == 0 {
			readings = append(readings, reading{told: text})
			unsure = true
		}
		for _, value := range values {
			if !slices.ContainsFunc(readings, func(other reading) bool { return s.same(other.value, value) }) {
				readings = append(readings, reading{value: value, told: unquoted(value)})
			}
		}
	}
	return readings, unsure || len(readings) > 1
}

func (s *filling) same(a, b jsontext.Value) bool {
	return string(a) == string(b) || len(a) > 0 && a.Kind() == '"' && s.fold(unquoted(a)) == s.fold(unquoted(b))
}

func (s *filling) typedBy(r *rule, text string) []jsontext.Value {
	if r.Past && (r.As == KindDate || r.property.format == "date") {
		return s.accepted(r.property, s.dateReadings(text, true, s.text.reader))
	}
	by := s.text.reader
	if len(r.Map) > 0 || r.Constant != "" {
		by = nil // the profile's words, and not the person's
	}
	return s.typed(r.property, text, r.As, by)
}

// typed reads a text as a place takes it: no value if it cannot, several if it is not sure. What a profile
// says is read by nobody's language.
func (f *Filler) typed(p *property, text string, as Kind, by *reader) []jsontext.Value {
	if by == nil {
		by = f.read("", f.neutral, time.Time{})
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(p.choices) > 0 {
		return f.chosen(p, text)
	}
	switch p.kind {
	case "boolean":
		return truth(f.fold(strings.Trim(text, " .!")), by)
	case "integer", "number":
		return f.accepted(p, f.numberReadings(text, by))
	case "array":
		return f.accepted(p, []string{string(f.list(p, text, by))})
	case "object":
		return nil
	}
	var readings []string
	switch {
	case as == KindDate || p.format == "date":
		readings = f.dateReadings(text, false, by)
	case as == KindTime || p.format == "time":
		readings = quotedAll(f.timeReadings(text, by))
	case as == KindName:
		readings = quotedAll([]string{by.plainName(text)})
	case as == KindPhone:
		readings = quotedAll([]string{digits(text)})
	case as == KindEmail || p.format == "email":
		readings = quotedAll(f.findEmails(text))
	case as == KindNumber || as == KindExpression:
		readings = quotedAll([]string{text})
	default:
		readings = quotedAll([]string{text})
	}
	return f.accepted(p, readings)
}

// accepted are the values that the schema takes at a place.
func (f *Filler) accepted(p *property, values []string) []jsontext.Value {
	var taken []jsontext.Value
	for _, value := range values {
		raw := jsontext.Value(value)
		if len(raw) > 0 && f.accepts(p, raw) && !slices.ContainsFunc(taken, func(other jsontext.Value) bool { return string(other) == value }) {
			taken = append(taken, raw)
		}
	}
	return taken
}

// accepts says whether the schema has nothing against a value at a place.
func (f *Filler) accepts(p *property, value jsontext.Value) bool {
	alone := object{}
	alone.set(p.names, value)
	body, err := alone.encode()
	if err != nil || len(body) > maxData {
		return false
	}
	problems, err := f.schema.Problems(body)
	if err != nil {
		return false
	}
	var at jsontext.Pointer
	for _, name := range p.names {
		at = at.AppendToken(name)
	}
	for _, problem := range problems {
		if !problem.Missing && (problem.Pointer == string(at) || strings.HasPrefix(problem.Pointer, string(at)+"/")) {
			return false
		}
	}
	return true
}

func (f *Filler) chosen(p *property, text string) []jsontext.Value {
	folded := f.fold(strings.TrimSpace(text))
	for _, choice := range p.choices {
		if f.fold(choice) == folded {
			return []jsontext.Value{quoted(choice)}
		}
	}
	return nil
}

func truth(folded string, by *reader) []jsontext.Value {
	switch {
	case folded == "true" || has(by.True, folded):
		return []jsontext.Value{jsontext.Value("true")}
	case folded == "false" || has(by.False, folded):
		return []jsontext.Value{jsontext.Value("false")}
	}
	return nil
}

func (f *Filler) numberReadings(text string, by *reader) []string {
	of := reader{lexicon: by.lexicon, text: text, tokens: tokenize(text, f.fold), fold: f.fold}
	start := 0
	if of.mark(0, "-") || of.mark(0, "+") {
		start = 1
	}
	to, readings := of.numberAt(start)
	if to == 0 || to < len(of.tokens) {
		return nil
	}
	if by.Tag != "" && len(readings) == 1 {
		// Who writes 1.500 of things may write in another language than that of their numbers.
		for _, mark := range []string{".", ","} {
			if other := decimals(of.written(start, to), mark); len(other) > 1 {
				return other
			}
		}
	}
	return readings
}

// list reads the elements of an array, which stand on lines, between commas, or behind #.
func (f *Filler) list(p *property, text string, by *reader) jsontext.Value {
	var elements []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' || r == ';' || r == '#' }) {
		if part = strings.Trim(part, " \t\r.#"); part != "" {
			elements = append(elements, part)
		}
	}
	// "a, b und c"
	if last := len(elements) - 1; last >= 0 {
		words := strings.Fields(elements[last])
		for i := 1; i < len(words)-1; i++ {
			if has(by.List, f.fold(words[i])) {
				elements = append(elements[:last], strings.Join(words[:i], " "), strings.Join(words[i+1:], " "))
				break
			}
		}
	}
	if p.items == "" || p.items == "string" {
		return listed(elements)
	}
	var values []jsontext.Value
	for _, element := range elements {
		inner := property{kind: p.items}
		var readings []jsontext.Value
		switch p.items {
		case "boolean":
			readings = truth(f.fold(element), by)
		case "integer", "number":
			for _, number := range f.numberReadings(element, by) {
				readings = append(readings, jsontext.Value(number))
			}
		default:
			readings = f.chosen(&inner, element)
		}
		if len(readings) != 1 {
			return nil
		}
		values = append(values, readings[0])
	}
	body, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return body
}

func listed(elements []string) jsontext.Value {
	values := make([]jsontext.Value, len(elements))
	for i, element := range elements {
		values[i] = quoted(element)
	}
	body, err := json.Marshal(values)
	if err != nil {
		return jsontext.Value("[]")
	}
	return body
}

// dateReadings are the dates that a text can mean, as JSON.
func (f *Filler) dateReadings(text string, past bool, by *reader) []string {
	of := f.read(text, by.lexicon, by.today)
	if !of.only(of.dates) {
		return nil
	}
	var readings []string
	for _, one := range of.dates {
		if one.bound {
			return nil
		}
		dates := one.readings
		if past {
			dates = one.inPast(by.today)
		}
		readings = append(readings, quotedAll(dates)...)
	}
	return readings
}

// timeReadings are the times that a text can mean, in each form that a schema may want.
func (f *Filler) timeReadings(text string, by *reader) []string {
	of := f.read(text, by.lexicon, by.today)
	if !of.only(of.times) {
		return nil
	}
	var readings []string
	for _, one := range of.times {
		if one.bound {
			return nil
		}
		readings = append(readings, one.readings...)
	}
	return readings
}

// only says whether beside what was found there is nothing but words that change nothing.
func (r *reader) only(all []found) bool {
	at := 0
	for i := 0; i < len(r.tokens); {
		for at < len(all) && all[at].to <= i {
			at++
		}
		n := r.plainWords.at(r.tokens, i)
		switch t := r.at(i); {
		case at < len(all) && all[at].from <= i:
			i = all[at].to
		case n > 0:
			i += n
		case t.kind == tokenMark, has(r.Fillers, t.fold), has(r.DayBefore, t.fold), has(r.HourBefore, t.fold) && !has(r.Bounds, t.fold):
			i++
		default:
			return false
		}
	}
	return true
}

func quotedAll(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = string(quoted(text))
	}
	return all
}

// digits keeps the digits of a telephone number, and the + before them.
func digits(text string) string {
	plus := strings.HasPrefix(strings.TrimLeft(text, " ("), "+")
	number := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	if plus && number != "" {
		return "+" + number
	}
	return number
}
