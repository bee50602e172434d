package header

import (
	"cmp"
	"fmt"
	"net/mail"
	"regexp"
	"strconv"
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
	value = strings.ReplaceAll(strings.Join(strings.Fields(StripComments(value)), " "), " ,", ",")
	value = numericZone(inUsualOrder(strings.ReplaceAll(value, `"`, "")))
	date, err := mail.ParseDate(value)
	for _, layout := range [...]string{time.RFC3339, time.ANSIC, time.UnixDate, "2 Jan 2006 15:04:05", "Mon, 2 Jan 2006 15:04:05"} {
		if err == nil {
			break
		}
		date, err = time.Parse(layout, value)
	}
	if err != nil {
		return parseLooseDate(value)
	}
	return date, err
}

// looseDate matches the fields of a date in the order of RFC 5322, with blanks wherever the obsolete syntax (section 4.3)
// allows them, and without the comma behind the name of the day.
var looseDate = regexp.MustCompile(`^(?:[A-Za-z]{2,9}\.?,?\s*)?(\d{1,2})[ -]?([A-Za-z]{3})[a-z]*\.?[ -]?(\d{2,4}),? ` +
	`(\d{1,2})\s*[:.]\s*(\d{2})(?:\s*[:.]\s*(\d{2}))?\s*(\S.*)?$`)

// otherOrders are the fields of a date in other orders than that of RFC 5322, and how to bring them into that.
var otherOrders = [...]struct { //nolint:gochecknoglobals // a table that nothing changes
	pattern *regexp.Regexp
	order   string
}{
	{regexp.MustCompile(`^(?:[A-Za-z]{2,9}\.?,? )?([A-Za-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),? (?:at )?(\d.*)$`), "$2 $1 $3 $4"},
	{regexp.MustCompile(`^(?:[A-Za-z]{2,9},? )?([A-Za-z]{3}) (\d{1,2}) (\d{1,2}:\d{2}:\d{2}) ([A-Z]{3,5}|[+-]\d{4}) (\d{4})$`), "$2 $1 $5 $3 $4"},
	{regexp.MustCompile(`^(?:[A-Za-z]{2,9},? )?(\d{4})[-/](\d{2})[-/](\d{2})[ T](\d.*)$`), "$3 $2 $1 $4"},
}

// monthNumber matches a day and the number of a month at the beginning of a date.
var monthNumber = regexp.MustCompile(`^(\d{2} )(\d{2})( .*)$`)

// halfOfDay matches a time of twelve hours.
var halfOfDay = regexp.MustCompile(`(?i)\b(\d{1,2})([:.]\d{2}(?:[:.]\d{2})?) ?([ap])\.?m\.?\b`)

// inUsualOrder writes the fields of a date in the order of RFC 5322, and its time in 24 hours.
func inUsualOrder(value string) string {
	for _, other := range otherOrders {
		if other.pattern.MatchString(value) {
			value = other.pattern.ReplaceAllString(value, other.order)
			break
		}
	}
	if numbers := monthNumber.FindStringSubmatch(value); numbers != nil {
		if month, err := strconv.Atoi(numbers[2]); err == nil && month >= 1 && month <= 12 {
			value = numbers[1] + time.Month(month).String() + numbers[3]
		}
	}
	return halfOfDay.ReplaceAllStringFunc(value, func(clock string) string {
		parts := halfOfDay.FindStringSubmatch(clock)
		hour, _ := strconv.Atoi(parts[1])
		if hour < 1 || hour > 12 {
			return clock
		}
		if hour %= 12; strings.EqualFold(parts[3], "p") {
			hour += 12
		}
		return fmt.Sprintf("%02d%s", hour, parts[2])
	})
}

// looseZone matches an offset from UTC, with or without a colon, minutes, and a name before it.
var looseZone = regexp.MustCompile(`^(?:UTC|GMT|UT|Z)?\s*([+-])(\d{1,2}):?(\d{2})?$`)

// parseLooseDate reads a date of the obsolete syntax: years of two and three digits, blanks around colons, second 60 (a
// leap second), and zones such as "+01:00" and "GMT+0100". An unknown zone is UTC.
func parseLooseDate(value string) (time.Time, error) {
	fields := looseDate.FindStringSubmatch(value)
	if fields == nil {
		return time.Time{}, fmt.Errorf("%q is no date", value)
	}
	year, _ := strconv.Atoi(fields[3])
	switch {
	case len(fields[3]) == 2 && year < 50:
		year += 2000
	case len(fields[3]) < 4:
		year += 1900
	}
	second, leap := fields[6], time.Duration(0)
	if second == "60" {
		second, leap = "59", time.Second
	}
	zone := "+0000"
	if offset := looseZone.FindStringSubmatch(fields[7]); offset != nil {
		zone = fmt.Sprintf("%s%02s%02s", offset[1], offset[2], cmp.Or(offset[3], "00"))
	}
	text := fmt.Sprintf("%s %s %04d %s:%s:%02s %s", fields[1], fields[2], year, fields[4], fields[5], cmp.Or(second, "00"), zone)
	date, err := time.Parse("2 Jan 2006 15:04:05 -0700", text)
	return date.Add(leap), err
}

// numericZone writes the zone at the end of a date in numbers where it has a name
// (RFC 5322, section 4.3), and leaves out a name that stands beside a number. Names that mean one
// zone alone are read as well; all others mean nothing that is agreed on, and so UTC.
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
	case "CET", "MET", "MEZ":
		return before + " +0100"
	case "CEST", "MEST", "MESZ", "EET":
		return before + " +0200"
	case "EEST", "MSK":
		return before + " +0300"
	case "JST", "KST":
		return before + " +0900"
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
