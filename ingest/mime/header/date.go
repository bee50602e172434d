package header

import (
	"net/mail"
	"strings"
	"time"

	"podium/ingest/mime/charset"
)

// parseDate reads a date of RFC 5322 and the deviations that are common. A date
// outside the years 1900 to 9999 is none (section 3.3).
func parseDate(value string) (time.Time, bool) {
	date, err := time.Parse("Mon, 2 Jan 2006 15:04:05 -0700", value) // nearly all
	if err != nil {
		date, err = parseIrregularDate(value)
	}
	if err != nil {
		return time.Time{}, false
	}
	if date = date.UTC(); date.Year() < 1900 || date.Year() > 9999 {
		return time.Time{}, false
	}
	return date, true
}

func parseIrregularDate(value string) (time.Time, error) {
	value = numericZone(strings.ReplaceAll(strings.Join(strings.Fields(StripComments(value)), " "), " ,", ","))
	date, err := mail.ParseDate(value)
	for _, layout := range [...]string{time.RFC3339, time.ANSIC, time.UnixDate, "2 Jan 2006 15:04:05", "Mon, 2 Jan 2006 15:04:05"} {
		if err == nil {
			break
		}
		date, err = time.Parse(layout, value)
	}
	return date, err
}

// numericZone writes the zone at the end of a date in numbers where it has a name
// (RFC 5322, section 4.3), and leaves out a name that stands beside a number. All
// other names mean nothing that is agreed on, and so UTC.
func numericZone(value string) string {
	before, zone, found := cutLast(value)
	if !found {
		return value
	}
	if zone[0] == '+' || zone[0] == '-' {
		if rest, name, found := cutLast(before); found && isName(name) {
			return rest + " " + zone
		}
		return value
	}
	rest, number, found := cutLast(before)
	if isName(zone) && found && (number[0] == '+' || number[0] == '-') {
		return rest + " " + number
	}
	switch strings.ToUpper(zone) {
	case "UT", "GMT", "UTC", "Z":
		return before + " +0000"
	case "EDT":
		return before + " -0400"
	case "EST", "CDT":
		return before + " -0500"
	case "CST", "MDT":
		return before + " -0600"
	case "MST", "PDT":
		return before + " -0700"
	case "PST":
		return before + " -0800"
	}
	return value
}

// isName tells whether a word is letters only.
func isName(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !charset.IsLetter(r) })
}

// cutLast cuts around the last blank.
func cutLast(text string) (before, after string, found bool) {
	if at := strings.LastIndexByte(text, ' '); at >= 0 {
		return text[:at], text[at+1:], true
	}
	return text, "", false
}
