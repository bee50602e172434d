package arguments

import (
	"slices"
	"strings"
	"time"
)

// recognized returns what a recognizer finds by a rule, and whether it is not sure.
func (s *filling) recognized(r *rule) ([]string, bool) {
	switch r.Find {
	case KindDate:
		return s.gather(s.text.dates, r)
	case KindTime:
		return s.gather(s.text.times, r)
	case KindNumber:
		return s.gather(s.text.findNumbers(r.units), r)
	case KindPhone:
		return s.gather(s.text.findPhones(), r)
	case KindExpression:
		return s.gather(s.text.findExpressions(), r)
	case KindName:
		return s.names(r)
	case KindEmail:
		emails := s.findEmails(s.text.text)
		for _, at := range s.emails.FindAllStringIndex(s.text.text, mostFound) {
			s.useText(at[0], at[1])
		}
		return emails, len(emails) > 1 && r.property.kind != "array"
	}
	return nil, false
}

// gather brings together what was found where a rule looks.
func (s *filling) gather(all []found, r *rule) ([]string, bool) {
	var readings, vague []string
	unsure := false
	for i := range all {
		f := &all[i]
		if r.Find == KindDate && !r.Past && s.wasRead(f) {
			continue
		}
		governor := s.text.governor(f.from, r.After, r.NotAfter, s.text.Bounds)
		if r.Find == KindNumber || r.Find == KindPhone {
			governor = s.text.at(f.from - 1).fold
		}
		if len(r.After) > 0 && !has(r.After, governor) || has(r.NotAfter, governor) {
			continue
		}
		means := f.readings
		if r.Past && r.Find == KindDate {
			means = s.past(f)
		}
		bound := f.bound || !has(r.After, governor) && has(s.text.Bounds, governor) && r.Find != KindNumber && r.Find != KindPhone
		if len(means) == 0 && !bound {
			vague = append(vague, s.text.written(f.from, f.to))
			s.text.use(f.from, f.to)
			continue
		}
		s.text.use(f.from, f.to)
		if r.Find == KindTime {
			s.text.use(f.aside, f.aside+1)
		}
		if bound {
			s.askAround(f)
		}
		unsure = unsure || bound || len(means) != 1 || f.from >= s.text.behind || s.isOver(r, means)
		for _, one := range means {
			if !slices.Contains(readings, one) && len(readings) < mostFound {
				readings = append(readings, one)
			}
		}
	}
	if len(readings) == 0 && !unsure && len(vague) > 0 {
		return vague, true
	}
	return readings, unsure || len(readings) > 1
}

// wasRead says whether a pattern has read a day as one that was, such as the day of a birth.
func (s *filling) wasRead(f *found) bool {
	return slices.ContainsFunc(s.text.past, func(read span) bool { return read.from <= f.from && f.to <= read.to })
}

// past are the readings of a day that is taken for one that was. The next one may be meant as well if it is nearer than the last one.
func (s *filling) past(f *found) []string {
	means := f.inPast(s.today)
	if len(means) != 1 || len(f.readings) != 1 {
		return means
	}
	last, errLast := time.Parse(isoDate, means[0])
	next, errNext := time.Parse(isoDate, f.readings[0])
	if errLast != nil || errNext != nil || !next.After(s.today) || next.Sub(s.today) >= s.today.Sub(last) {
		return means
	}
	return []string{means[0], f.readings[0]}
}

// askAround notes the words that make a range or a choice of what was found: what they leave open is asked there.
func (s *filling) askAround(f *found) {
	const farthest = 8
	t := &s.text
	for i := f.from - 1; i > f.from-farthest && (t.word(i, t.Bounds) || t.word(i, t.Joiners) || t.word(i, t.Fillers) || t.mark(i, "/") || t.at(i).kind == tokenNumber && t.asked[i+1]); i-- {
		t.use(i, i+1)
		t.asked[i] = true
	}
	if t.word(f.to, t.Joiners) || t.mark(f.to, "/") {
		t.use(f.to, f.to+1)
		t.asked[f.to] = true
	}
}

// isOver says whether a day is one that was, where one that will be is looked for.
func (s *filling) isOver(r *rule, dates []string) bool {
	today := s.today.Format(isoDate)
	return r.Find == KindDate && !r.Past && slices.ContainsFunc(dates, func(date string) bool { return date < today })
}

// names are the persons that are spoken of, or who has written.
func (s *filling) names(r *rule) ([]string, bool) {
	var names []string
	fewest := 2
	if r.Confirm {
		fewest = 1
	}
	others, unsure := s.text.others(), false
	titles := map[string]string{}
	for _, f := range s.text.findNames(r.After, fewest) {
		if r.NoDegrees && f.degree && !s.text.word(f.from-1, r.NotAfter) {
			continue // What somebody with a degree has to do with it is not understood.
		}
		s.text.use(f.from, f.to)
		if s.text.word(f.from-1, s.text.Relations) {
			s.text.use(f.from-1, f.from)
		}
		if s.text.word(f.from-1, r.NotAfter) || f.self && others {
			continue
		}
		unsure = unsure || s.text.word(f.from-1, s.text.Negations) || s.text.word(f.from-2, s.text.Negations) && s.text.plainWords.at(s.text.tokens, f.from-1) > 0
		// Frau Roth and Herr Roth are two.
		if title := s.text.at(f.from).fold; s.text.word(f.from, s.text.Titles) {
			unsure = unsure || titles[f.readings[0]] != "" && titles[f.readings[0]] != title
			titles[f.readings[0]] = title
		}
		names = append(names, f.readings...)
	}
	names = mergeNames(names, s.fold)
	if len(names) == 0 && !others && (!r.Own || s.text.own()) {
		if f, ok := s.text.signature(); ok && !(r.NoDegrees && f.degree) {
			return f.readings, unsure
		}
	}
	// Whoever is spoken of and not named has to be.
	return names, unsure || len(names) > 1 || len(names) == 0 && others
}

// recognize fills a place that no rule names, if its format or its choices say what belongs there.
func (s *filling) recognize(p *property) {
	r := &rule{Rule: Rule{Path: p.path}, property: p}
	switch {
	case len(p.choices) > 0:
		s.recognizeChoice(p)
		return
	case p.format == "date" && s.alone(p):
		r.Find = KindDate
	case p.format == "time" && s.alone(p):
		r.Find = KindTime
	case p.format == "email" && s.alone(p):
		r.Find = KindEmail
	default:
		return
	}
	readings, unsure := s.recognized(r)
	s.decide(r, readings, unsure)
}

// alone says whether no other place has its format.
func (s *filling) alone(p *property) bool {
	return !slices.ContainsFunc(s.document.properties, func(other property) bool { return other.format == p.format && other.path != p.path })
}

// recognizeChoice takes the choice whose own word stands in the text.
func (s *filling) recognizeChoice(p *property) {
	keywords, err := s.keywords(slices.DeleteFunc(slices.Clone(p.choices), func(choice string) bool { return strings.Trim(choice, "* ") == "" || strings.Contains(choice, "*") }))
	if err != nil || keywords == nil {
		return
	}
	var hits []string
	for _, place := range s.places(keywords) {
		if choice := p.choices[place.Keyword]; !slices.Contains(hits, choice) {
			hits = append(hits, choice)
		}
	}
	r := &rule{Rule: Rule{Path: p.path}, property: p}
	s.decide(r, hits, false)
}
