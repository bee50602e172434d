package structure

import (
	"regexp"
	"strconv"
	"strings"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/schemas"
	"podium/schemas/timezone"
)

// Bounds of one iCalendar object.
const (
	maxRecurrence = 100    // lines that say how an entry recurs
	maxZones      = 20     // time zones that an object defines
	maxLasting    = 10_000 // days of one entry
)

// readCalendar returns the events, to-dos and free times of an iCalendar object (RFC 5545), at most limit. What it cannot
// read it leaves out and adds to the defects, while go-ical refuses the whole object for one malformed line.
func readCalendar(text string, limit int, found *defect.List) []schemas.CalendarEntry {
	r := calendarReader{limit: limit, defects: found, zones: map[string][]timezone.Observance{}, known: map[string]knownZone{}}
	for line := range strings.SplitSeq(unfoldCalendar(text), "\n") {
		r.line(line)
	}
	return r.finish()
}

// A calendarReader reads an object line by line.
type calendarReader struct {
	limit   int
	defects *defect.List

	method  string
	inside  []string // the components that are open
	whole   bool     // an object has ended
	first   int      // index of the first entry of the object
	entries []calendarEntry
	one     calendarEntry

	zone        string                // whose definition is read
	observance  timezone.Observance   // of it
	observances []timezone.Observance // of it, that have ended
	zones       map[string][]timezone.Observance
	known       map[string]knownZone // by the name that times have
}

// A calendarProperty is a line of an object.
type calendarProperty struct{ name, parameters, value string }

// inZoneOf is the property in the zone of the start where it names none.
func (p calendarProperty) inZoneOf(start calendarProperty) calendarProperty {
	if parameter(p.parameters, "TZID") == "" && parameter(start.parameters, "TZID") != "" {
		p.parameters = start.parameters
	}
	return p
}

// A calendarEntry is an entry as it is written: the zones of times may be defined below it.
type calendarEntry struct {
	schemas.CalendarEntry

	start, end, duration, recurrenceID calendarProperty
	isEvent                            bool
	cut                                bool // its end is missing
}

func (r *calendarReader) line(text string) {
	p := readProperty(text)
	switch {
	case p.name == "BEGIN":
		r.inside = append(r.inside[:min(len(r.inside), 8)], strings.ToUpper(p.value))
		switch {
		case r.isEntry():
			r.one = calendarEntry{isEvent: r.isIn("VEVENT")}
		case r.isObservance():
			r.observance = timezone.Observance{}
		case r.isIn("VTIMEZONE"):
			r.zone, r.observances = "", nil
		}
	case p.name == "END":
		r.end()
	case p.name == "METHOD" && len(r.inside) == 1:
		r.method = strings.ToUpper(header.Short(p.value))
	case r.isEntry():
		r.one.fill(p, r.defects)
	case r.isIn("VTIMEZONE") && p.name == "TZID":
		r.zone = timezone.Clean(p.value)
	case r.isObservance():
		r.fillObservance(p)
	}
}

// end closes the innermost component.
func (r *calendarReader) end() {
	switch {
	case len(r.inside) == 1 && r.inside[0] == "VCALENDAR":
		r.whole = true
		r.endObject()
	case r.isEntry():
		r.keep()
	case r.isObservance() && len(r.observances) <= timezone.MaxObservances:
		r.observances = append(r.observances, r.observance)
	case r.isIn("VTIMEZONE") && len(r.zones) < maxZones:
		r.zones[r.zone] = r.observances
	}
	r.inside = r.inside[:max(0, len(r.inside)-1)]
}

// endObject has the entries of an object know its method.
func (r *calendarReader) endObject() {
	for ; r.first < len(r.entries); r.first++ {
		one := &r.entries[r.first]
		if one.Method = r.method; one.Method != "REPLY" && one.Method != "COUNTER" {
			one.Answer = "" // it is what the sender knows of others
		}
	}
	r.method = ""
}

// keep takes in the entry that has ended.
func (r *calendarReader) keep() {
	if len(r.entries) >= r.limit {
		r.defects.Add(defect.TooManyInvitations)
		return
	}
	r.entries = append(r.entries, r.one)
}

func (r *calendarReader) isIn(name string) bool { return len(r.inside) == 2 && r.inside[1] == name }

func (r *calendarReader) isEntry() bool {
	return r.isIn("VEVENT") || r.isIn("VTODO") || r.isIn("VFREEBUSY")
}

func (r *calendarReader) isObservance() bool {
	return len(r.inside) == 3 && r.inside[1] == "VTIMEZONE" && (r.inside[2] == "STANDARD" || r.inside[2] == "DAYLIGHT")
}

func (r *calendarReader) fillObservance(p calendarProperty) {
	switch p.name {
	case "DTSTART":
		r.observance.Start = p.value
	case "TZOFFSETFROM":
		r.observance.From = p.value
	case "TZOFFSETTO":
		r.observance.To = p.value
	case "RRULE":
		r.observance.Rules = append(r.observance.Rules, p.value)
	case "RDATE":
		r.observance.Dates = append(r.observance.Dates, p.value)
	}
}

// finish reads the times, now that all zones are known.
func (r *calendarReader) finish() []schemas.CalendarEntry {
	if len(r.inside) > 0 || !r.whole {
		r.defects.Add(defect.InvitationCut)
		if len(r.inside) > 1 {
			r.inside = r.inside[:2]
			if r.isEntry() {
				r.one.cut = true
				r.keep()
			}
		}
		r.endObject()
	}
	var all []schemas.CalendarEntry
	for i := range r.entries {
		r.readTimes(&r.entries[i])
		all = append(all, r.entries[i].CalendarEntry)
	}
	return all
}

// readTimes states start, end and occurrence. The end of a day is the day after it, as in the object.
func (r *calendarReader) readTimes(one *calendarEntry) {
	start := r.time(one.start)
	end := r.time(one.end.inZoneOf(one.start))
	switch {
	case one.end.value != "" || one.cut:
	case one.duration.value != "":
		lasts, ok := readDuration(one.duration.value)
		if end = start.after(lasts); !ok || start.text == "" || end.text == "" {
			r.defects.Add(defect.InvitationTime)
			end = calendarMoment{}
		}
	case one.isEvent && start.text != "":
		// An event without an end lasts its day, or no time (RFC 5545, 3.6.1).
		if end = start; start.isDay() {
			end = start.after(duration{days: 1})
		}
	}
	if start.text != "" && end.text != "" && end.isBefore(start) {
		r.defects.Add(defect.InvitationEnds)
	}
	one.Start, one.Zone = start.text, start.zone
	one.End = end.text
	if end.zone != start.zone {
		one.EndZone = end.zone
	}
	occurrence := r.time(one.recurrenceID.inZoneOf(one.start))
	one.RecurrenceID = occurrence.text
	if occurrence.zone != start.zone && occurrence.location != nil && occurrence.layout == localLayout {
		one.RecurrenceID = occurrence.at.UTC().Format(utcLayout)
	}
}

// fill takes in a property of an entry.
func (e *calendarEntry) fill(p calendarProperty, found *defect.List) {
	switch p.name {
	case "UID":
		e.UID = header.Short(p.value)
	case "SUMMARY":
		e.Summary = header.Short(strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(p.value))
	case "SEQUENCE":
		if n, err := strconv.ParseInt(p.value, 10, 32); err == nil {
			e.Sequence = int(n)
		}
	case "STATUS":
		e.Status = strings.ToUpper(header.Short(p.value))
	case "DTSTART":
		e.start = p
	case "DTEND", "DUE":
		e.end = p
	case "DURATION":
		e.duration = p
	case "RECURRENCE-ID":
		e.recurrenceID = p
		e.RecurrenceRange = strings.ToUpper(parameter(p.parameters, "RANGE"))
	case "RRULE", "RDATE", "EXDATE", "EXRULE":
		if len(e.Recurrence) >= maxRecurrence {
			found.Add(defect.InvitationSeries)
			return
		}
		line := p.name + ":" + p.value
		if p.parameters != "" {
			line = p.name + ";" + p.parameters + ":" + p.value
		}
		if short := header.Short(line); short != line {
			found.Add(defect.InvitationSeries)
			line = short
		}
		e.Recurrence = append(e.Recurrence, line)
	case "ATTENDEE":
		if answer := parameter(p.parameters, "PARTSTAT"); answer != "" && e.Answer == "" {
			e.Answer = strings.ToUpper(answer)
		}
	}
}

// zonedTime is what stands behind the last colon of a property whose zone has colons and no quotes.
var zonedTime = regexp.MustCompile(`^[0-9TZ,]+$`)

// unfoldCalendar joins folded lines (RFC 5545, section 3.1).
func unfoldCalendar(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n ", ""), "\n\t", "")
}

// readProperty takes "NAME;PARAMETERS:VALUE" apart.
func readProperty(line string) calendarProperty {
	quoted := false
	for i := range len(line) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case ':':
			if quoted {
				continue
			}
			if last := strings.LastIndexByte(line, ':'); last > i && zonedTime.MatchString(strings.TrimSpace(line[last+1:])) &&
				strings.Contains(strings.ToUpper(line[:i]), ";TZID=(") {
				i = last
			}
			name, parameters, _ := strings.Cut(line[:i], ";")
			return calendarProperty{strings.ToUpper(strings.TrimSpace(name)), parameters, strings.TrimSpace(line[i+1:])}
		}
	}
	return calendarProperty{}
}

// parameter returns a parameter of a property, or "".
func parameter(parameters, name string) string {
	for _, one := range header.SplitQuoted(parameters, ';') {
		if known, value, found := strings.Cut(one, "="); found && strings.EqualFold(strings.TrimSpace(known), name) {
			return header.Short(header.Unquote(value))
		}
	}
	return ""
}
