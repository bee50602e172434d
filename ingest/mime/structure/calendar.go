package structure

import (
	"strconv"
	"strings"
	"time"

	"podium/ingest/mime/header"
	"podium/schemas"
)

// readCalendar returns the events, to-dos and free times of an iCalendar object
// (RFC 5545), at most limit. What it cannot read it leaves out, while go-ical
// refuses the whole object for one malformed line.
func readCalendar(text string, limit int) []schemas.CalendarEntry {
	var entries []schemas.CalendarEntry
	method := ""
	var inside []string
	var one schemas.CalendarEntry
	for line := range strings.SplitSeq(unfoldCalendar(text), "\n") {
		name, parameters, value := calendarLine(line)
		switch {
		case name == "BEGIN":
			inside = append(inside[:min(len(inside), 8)], strings.ToUpper(value))
			if isEntry(inside) {
				one = schemas.CalendarEntry{}
			}
		case name == "END":
			if isEntry(inside) && len(entries) < limit {
				entries = append(entries, one)
			}
			inside = inside[:max(0, len(inside)-1)]
		case name == "METHOD" && len(inside) == 1:
			method = strings.ToUpper(header.Short(value))
		case isEntry(inside):
			fillEntry(&one, name, parameters, value)
		}
	}
	for i := range entries {
		entries[i].Method = method
	}
	return entries
}

func isEntry(inside []string) bool {
	return len(inside) == 2 && (inside[1] == "VEVENT" || inside[1] == "VTODO" || inside[1] == "VFREEBUSY")
}

func fillEntry(one *schemas.CalendarEntry, name, parameters, value string) {
	switch name {
	case "UID":
		one.UID = header.Short(value)
	case "SUMMARY":
		one.Summary = header.Short(strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(value))
	case "SEQUENCE":
		if n, err := strconv.ParseInt(value, 10, 32); err == nil {
			one.Sequence = int(n)
		}
	case "DTSTART":
		one.Start, one.Zone = calendarTime(value), zone(parameters)
	case "DTEND", "DUE":
		one.End = calendarTime(value)
	}
}

// unfoldCalendar joins folded lines (RFC 5545, section 3.1).
func unfoldCalendar(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n ", ""), "\n\t", "")
}

// calendarLine takes "NAME;PARAMETERS:VALUE" apart.
func calendarLine(line string) (name, parameters, value string) {
	quoted := false
	for i := range len(line) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case ':':
			if !quoted {
				name, parameters, _ = strings.Cut(line[:i], ";")
				return strings.ToUpper(strings.TrimSpace(name)), parameters, strings.TrimSpace(line[i+1:])
			}
		}
	}
	return "", "", ""
}

// calendarTime returns a date or a time in the form of RFC 3339, without an
// offset when it is local, or "".
func calendarTime(value string) string {
	for _, known := range [...]struct{ layout, form string }{
		{"20060102T150405Z", "2006-01-02T15:04:05Z"}, {"20060102T150405", "2006-01-02T15:04:05"}, {"20060102", time.DateOnly},
	} {
		if moment, err := time.Parse(known.layout, value); err == nil {
			return moment.Format(known.form)
		}
	}
	return ""
}

func zone(parameters string) string {
	for _, parameter := range header.SplitQuoted(parameters, ';') {
		if name, value, found := strings.Cut(parameter, "="); found && strings.EqualFold(name, "TZID") {
			return header.Short(header.Unquote(value))
		}
	}
	return ""
}
