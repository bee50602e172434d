package structure

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"podium/ingest/mime/defect"
	"podium/schemas/timezone"
)

const (
	utcLayout    = "2006-01-02T15:04:05Z"
	localLayout  = "2006-01-02T15:04:05"
	offsetLayout = "2006-01-02T15:04:05-07:00"
)

// A calendarMoment is a day, a local time, one with its offset, or one in UTC.
type calendarMoment struct {
	text string
	zone string // as it is told; "" for a day, a floating time and UTC
	// at is the moment, in its zone where that is known.
	at time.Time
	// location is the zone; nil is unknown, or none.
	location *time.Location
	layout   string
}

func (m *calendarMoment) isDay() bool { return m.layout == time.DateOnly }

// isBefore tells whether a moment is before another. What cannot be compared is not.
func (m *calendarMoment) isBefore(other calendarMoment) bool {
	canCompare := m.zone == other.zone && m.layout == other.layout || m.location != nil && other.location != nil
	return canCompare && m.at.Before(other.at)
}

// after is the moment that is later by a duration, in the same form. It has no text where a day is moved by less than one.
func (m *calendarMoment) after(lasts duration) calendarMoment {
	next := *m
	if m.text == "" || m.isDay() && lasts.time%(24*time.Hour) != 0 {
		return calendarMoment{}
	}
	if m.isDay() {
		next.at = m.at.AddDate(0, 0, lasts.days+int(lasts.time/(24*time.Hour)))
	} else {
		next.at = m.at.AddDate(0, 0, lasts.days).Add(lasts.time)
	}
	next.text = next.at.Format(m.layout)
	return next
}

// time reads a time, and notes where it or its zone cannot be read. One in a zone that only the object defines has its offset.
func (r *calendarReader) time(p calendarProperty) calendarMoment {
	if p.name == "" {
		return calendarMoment{}
	}
	value := strings.ToUpper(p.value)
	if at, err := time.Parse("20060102", value); err == nil {
		return calendarMoment{text: at.Format(time.DateOnly), at: at, layout: time.DateOnly}
	}
	if at, err := time.Parse("20060102T150405Z", value); err == nil {
		return calendarMoment{text: at.Format(utcLayout), at: at, location: time.UTC, layout: utcLayout}
	}
	at, err := time.Parse("20060102T150405", value)
	if err != nil {
		r.defects.Add(defect.InvitationTime)
		return calendarMoment{}
	}
	named := timezone.Clean(parameter(p.parameters, "TZID"))
	if named == "" {
		return calendarMoment{text: at.Format(localLayout), at: at, layout: localLayout}
	}
	zone := r.zoneOf(named)
	if zone.location == nil {
		r.defects.Add(defect.InvitationZone)
		return calendarMoment{text: at.Format(localLayout), zone: named, at: at, layout: localLayout}
	}
	y, m, d := at.Date()
	at = time.Date(y, m, d, at.Hour(), at.Minute(), at.Second(), 0, zone.location)
	return calendarMoment{text: at.Format(zone.layout), zone: zone.name, at: at, location: zone.location, layout: zone.layout}
}

// A knownZone is a zone, what it is called in the database, and how its times are told. Without a location it is unknown.
type knownZone struct {
	location     *time.Location
	name, layout string
}

// zoneOf returns the zone of a name, which is looked for once.
func (r *calendarReader) zoneOf(named string) knownZone {
	zone, known := r.known[named]
	if !known {
		zone = r.findZone(named)
		r.known[named] = zone
	}
	return zone
}

// findZone looks for a zone in the database, among those that the object defines, and among what calendar programs call one.
func (r *calendarReader) findZone(named string) knownZone {
	location, err := timezone.Load(named)
	if err != nil {
		if location, err = timezone.Define(named, r.zones[named]); err == nil {
			return knownZone{location, named, offsetLayout}
		}
		location = timezone.Find(named)
	}
	switch {
	case location == nil:
		return knownZone{}
	case location == time.UTC:
		return knownZone{location, "", utcLayout}
	}
	if _, err := timezone.Load(location.String()); err != nil { // an offset
		return knownZone{location, named, offsetLayout}
	}
	return knownZone{location, location.String(), localLayout}
}

// A duration is days by the calendar, and a time.
type duration struct {
	days int
	time time.Duration
}

var writtenDuration = regexp.MustCompile(`^\+?P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$`)

// readDuration reads how long an entry lasts. That is not less than nothing.
func readDuration(value string) (duration, bool) {
	parts := writtenDuration.FindStringSubmatch(strings.ToUpper(value))
	if parts == nil {
		return duration{}, false
	}
	var numbers [5]int
	said := false
	for i, part := range parts[1:] {
		numbers[i], _ = strconv.Atoi(part) // none is 0
		said = said || part != ""
	}
	lasts := duration{
		days: 7*numbers[0] + numbers[1],
		time: time.Duration(numbers[2])*time.Hour + time.Duration(numbers[3])*time.Minute + time.Duration(numbers[4])*time.Second,
	}
	return lasts, said && lasts.days <= maxLasting && lasts.time <= maxLasting*24*time.Hour
}
