package caldav

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"

	"podium/agents/dav"
)

// propEffect marks an appointment with the effect that has made or moved it, so that a repeated request knows its own.
const propEffect = "X-PODIUM-EFFECT"

// errEntry reports an entry that cannot be read, so that nobody knows when it is.
var errEntry = errors.New("an entry of the calendar cannot be read")

// An appointment is one entry of the calendar at one time.
type appointment struct {
	resource   *dav.Resource
	start, end time.Time // in the calendar's zone
	summary    string
	effect     string // that has made or moved it
	allDay     bool
	recurring  bool // one of a series
	free       bool // it takes no time: transparent
}

// at sets when it is, from a start in its own zone.
func (a *appointment) at(start time.Time, lasts length, zone *time.Location) {
	a.start, a.end = start.In(zone), start.AddDate(0, 0, lasts.days).Add(lasts.time).In(zone)
}

func (a *appointment) overlaps(from, until time.Time) bool {
	return a.start.Before(until) && from.Before(a.end)
}

// endsLater reports whether it goes on after the midnight that ends its first day.
func (a *appointment) endsLater() bool {
	y, m, d := a.start.Date()
	return a.end.After(time.Date(y, m, d+1, 0, 0, 0, 0, a.start.Location()))
}

func (a *appointment) blocks(from, until time.Time) bool { return !a.free && a.overlaps(from, until) }

// decode reads a resource. Broken content may make the library panic, which is no reason to lose the day.
func decode(resource *dav.Resource) (calendar *ical.Calendar, err error) {
	defer func() {
		if recover() != nil {
			err = errEntry
		}
	}()
	if calendar, err = ical.NewDecoder(bytes.NewReader(resource.Body)).Decode(); err != nil {
		return nil, errEntry
	}
	return calendar, nil
}

// appointments are those of a resource between two moments.
func (a *Agent) appointments(resource *dav.Resource, from, until time.Time) ([]appointment, error) {
	calendar, err := decode(resource)
	if err != nil {
		return nil, err
	}
	events := calendar.Events()
	moved := map[int64]bool{} // moments of a series that have an entry of their own
	for i := range events {
		if own := events[i].Props.Get(ical.PropRecurrenceID); own != nil {
			at, err := a.moment(own)
			if err != nil || own.Params.Get(ical.ParamRange) != "" {
				return nil, errEntry
			}
			moved[at.Unix()] = true
		}
	}
	var all []appointment
	for i := range events {
		found, err := a.occurrences(&events[i], moved, from, until)
		if err != nil {
			return nil, err
		}
		for j := range found {
			if found[j].resource = resource; found[j].overlaps(from, until) {
				all = append(all, found[j])
			}
		}
	}
	return all, nil
}

// occurrences are the times of one event.
func (a *Agent) occurrences(event *ical.Event, moved map[int64]bool, from, until time.Time) ([]appointment, error) {
	begins := event.Props.Get(ical.PropDateTimeStart)
	if begins == nil {
		return nil, errEntry
	}
	one := appointment{summary: textOf(event, ical.PropSummary), effect: textOf(event, propEffect)}
	start, allDay, err := a.written(begins)
	if err != nil {
		return nil, err
	}
	lasts, err := a.lengthOf(event, start, allDay)
	if err != nil {
		return nil, err
	}
	one.allDay = allDay
	one.at(start, lasts, a.config.Location)
	one.free = strings.EqualFold(textOf(event, ical.PropTransparency), "TRANSPARENT")
	one.recurring = event.Props.Get(ical.PropRecurrenceID) != nil
	switch {
	case strings.EqualFold(textOf(event, ical.PropStatus), string(ical.EventCancelled)):
		return nil, nil
	case one.recurring || event.Props.Get(ical.PropRecurrenceRule) == nil && event.Props.Get(ical.PropRecurrenceDates) == nil:
		return []appointment{one}, nil
	}
	one.recurring = true
	return a.series(event, &one, series{start, lasts, moved}, from, until)
}

// mostADay is how often a rule may have an appointment on one day: to expand one of seconds would take minutes.
const mostADay = 8

func tooOften(rule *rrule.ROption) bool {
	byTheHour := rule.Freq == rrule.HOURLY || rule.Freq == rrule.MINUTELY || rule.Freq == rrule.SECONDLY
	return byTheHour || max(1, len(rule.Byhour))*max(1, len(rule.Byminute))*max(1, len(rule.Bysecond)) > mostADay
}

// A series is what recurs: the first of it, by the clock of its own zone.
type series struct {
	start time.Time
	lasts length
	moved map[int64]bool // moments that have an entry of their own
}

// series expands a recurring event.
func (a *Agent) series(event *ical.Event, one *appointment, of series, from, until time.Time) ([]appointment, error) {
	var set rrule.Set
	for _, rule := range event.Props[ical.PropRecurrenceRule] {
		option, err := rrule.StrToROptionInLocation(rule.Value, of.start.Location())
		if err != nil || tooOften(option) {
			return nil, errEntry
		}
		if !one.allDay && endsWithDay(rule.Value) {
			option.Until = option.Until.AddDate(0, 0, 1).Add(-time.Second)
		}
		option.Dtstart = of.start
		parsed, err := rrule.NewRRule(*option)
		if err != nil {
			return nil, errEntry
		}
		set.RRule(parsed)
	}
	further, err := a.moments(event.Props[ical.PropRecurrenceDates])
	if err != nil {
		return nil, err
	}
	for _, at := range append(further, of.start) {
		set.RDate(at)
	}
	left, err := a.moments(event.Props[ical.PropExceptionDates])
	if err != nil {
		return nil, err
	}
	for _, at := range left {
		set.ExDate(at)
	}
	var all []appointment
	for _, at := range set.Between(from.Add(-of.lasts.most()), until, true) {
		if of.moved[at.Unix()] || slices.ContainsFunc(all, func(other appointment) bool { return other.start.Equal(at) }) {
			continue
		}
		next := *one
		next.at(at.In(of.start.Location()), of.lasts, a.config.Location)
		all = append(all, next)
	}
	return all, nil
}

// endsWithDay reports whether a rule names its last day without a time: all of that day is meant.
func endsWithDay(rule string) bool {
	for part := range strings.SplitSeq(rule, ";") {
		if name, value, _ := strings.Cut(part, "="); strings.EqualFold(name, "UNTIL") {
			return len(value) == len("20060102")
		}
	}
	return false
}

// A length is how long something lasts: days by the calendar, which a change of the clock makes longer or shorter, and a time.
type length struct {
	days int
	time time.Duration
}

// most is no shorter than any time of that length.
func (l length) most() time.Duration { return time.Duration(l.days+1)*24*time.Hour + l.time }

// maxDays bounds the days of one appointment.
const maxDays = 10_000

var nominal = regexp.MustCompile(`^\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T.*)?$`)

// lengthOf reads how long an event lasts from its start, which is in its own zone. What ends before it begins cannot be read.
func (a *Agent) lengthOf(event *ical.Event, start time.Time, allDay bool) (length, error) {
	if ends := event.Props.Get(ical.PropDateTimeEnd); ends != nil {
		end, _, err := a.written(ends)
		lasts := end.Sub(start)
		if err != nil || lasts < 0 || lasts > maxDays*24*time.Hour {
			return length{}, errEntry
		}
		if allDay {
			return length{days: max(1, int((lasts+12*time.Hour)/(24*time.Hour)))}, nil
		}
		return length{time: lasts}, nil
	}
	if says := event.Props.Get(ical.PropDuration); says != nil {
		lasts, err := says.Duration()
		parts := nominal.FindStringSubmatch(strings.TrimSpace(says.Value))
		if err != nil || parts == nil || lasts < 0 || lasts > maxDays*24*time.Hour {
			return length{}, errEntry
		}
		weeks, _ := strconv.Atoi(parts[1]) // none is 0
		days, _ := strconv.Atoi(parts[2])
		days += 7 * weeks
		return length{days, lasts - time.Duration(days)*24*time.Hour}, nil
	}
	if allDay {
		return length{days: 1}, nil
	}
	return length{}, nil
}

// moments reads a property that may stand several times and have several values.
func (a *Agent) moments(props []ical.Prop) (all []time.Time, err error) {
	for i := range props {
		for value := range strings.SplitSeq(props[i].Value, ",") {
			single := props[i]
			single.Value = value
			at, err := a.moment(&single)
			if err != nil {
				return nil, err
			}
			all = append(all, at)
		}
	}
	return all, nil
}

// moment reads a moment or a day, in the calendar's zone.
func (a *Agent) moment(prop *ical.Prop) (time.Time, error) {
	at, _, err := a.written(prop)
	return at.In(a.config.Location), err
}

// written reads a moment in the zone that it names, or a day. What names no zone is meant in the calendar's.
func (a *Agent) written(prop *ical.Prop) (at time.Time, day bool, err error) {
	zone := a.config.Location
	if name := prop.Params.Get(ical.ParamTimezoneID); name != "" {
		if zone, err = a.zone(name); err != nil {
			return time.Time{}, false, errEntry
		}
	}
	value := strings.TrimSpace(prop.Value)
	switch {
	case len(value) == len("20060102"):
		at, err = time.ParseInLocation("20060102", value, a.config.Location)
		day = true
	case strings.HasSuffix(value, "Z"):
		at, err = time.Parse("20060102T150405Z", value)
	default:
		at, err = time.ParseInLocation("20060102T150405", value, zone)
	}
	if err != nil {
		return time.Time{}, false, errEntry
	}
	return at, day, nil
}

func (a *Agent) zone(name string) (*time.Location, error) {
	switch {
	case name == a.config.Location.String():
		return a.config.Location, nil
	case a.config.Zone != nil:
		return a.config.Zone(name)
	}
	return nil, errEntry
}

func textOf(event *ical.Event, name string) string {
	prop := event.Props.Get(name)
	if prop == nil {
		return ""
	}
	text, err := prop.Text()
	if err != nil {
		text = prop.Value
	}
	return dav.Plain(text, maxText)
}

const maxText = 1000 // characters of a text

// newEvent is the appointment that a request makes.
func (j *job) newEvent(start time.Time, lasts time.Duration) ([]byte, error) {
	event := ical.NewEvent()
	name := dav.Name(j.Request)
	event.Props.SetText(ical.PropUID, name)
	event.Props.SetText(propEffect, name)
	event.Props.SetText(ical.PropSummary, j.wanted.summary())
	if j.wanted.Data.Reason != "" {
		event.Props.SetText(ical.PropDescription, j.wanted.Data.Reason)
	}
	event.Props.SetDateTime(ical.PropCreated, j.config.Now().UTC())
	j.setTime(event, start, lasts)
	calendar := ical.NewCalendar()
	calendar.Props.SetText(ical.PropVersion, "2.0")
	calendar.Props.SetText(ical.PropProductID, "-//podium//caldav//EN")
	calendar.Children = append(calendar.Children, event.Component)
	return encode(calendar)
}

// movedEvent is a resource with its only event at another time.
func (j *job) movedEvent(resource *dav.Resource, start time.Time, lasts time.Duration) ([]byte, error) {
	calendar, err := decode(resource)
	if err != nil {
		return nil, err
	}
	events := calendar.Events()
	if len(events) != 1 {
		return nil, errEntry
	}
	event := &events[0]
	version := 0
	if prop := event.Props.Get(ical.PropSequence); prop != nil {
		version, _ = strconv.Atoi(strings.TrimSpace(prop.Value)) // what is no number counts as none
	}
	next := ical.NewProp(ical.PropSequence)
	next.Value = strconv.Itoa(version + 1)
	event.Props.Set(next)
	event.Props.Del(ical.PropDuration)
	event.Props.SetText(propEffect, dav.Name(j.Request))
	j.setTime(event, start, lasts)
	return encode(calendar)
}

func (j *job) setTime(event *ical.Event, start time.Time, lasts time.Duration) {
	event.Props.SetDateTime(ical.PropDateTimeStamp, j.config.Now().UTC())
	event.Props.SetDateTime(ical.PropLastModified, j.config.Now().UTC())
	event.Props.SetDateTime(ical.PropDateTimeStart, start.UTC())
	event.Props.SetDateTime(ical.PropDateTimeEnd, start.Add(lasts).UTC())
}

func encode(calendar *ical.Calendar) ([]byte, error) {
	var body bytes.Buffer
	if err := ical.NewEncoder(&body).Encode(calendar); err != nil {
		return nil, errEntry
	}
	return body.Bytes(), nil
}
