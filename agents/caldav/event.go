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
	// stated is the start by the clock of a zone that is unknown; zero is none. Then start and end are as far apart as the zones
	// of the world allow.
	stated time.Time
}

// isUncertain reports whether its zone is unknown.
func (a *appointment) isUncertain() bool { return !a.stated.IsZero() }

// widen takes in all times that it may have when its zone is unknown.
func (a *appointment) widen() {
	a.stated = a.start.UTC()
	a.start, a.end = a.start.Add(-mostBefore), a.end.Add(mostAfter)
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
	if calendar, err = ical.NewDecoder(bytes.NewReader(quoteZones(resource.Body))).Decode(); err != nil {
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
	times := a.newTimeReader(calendar)
	changed, err := a.exceptions(times, events)
	if err != nil {
		return nil, err
	}
	var all []appointment
	for i := range events {
		// The times of an unknown zone are widened below, so they are looked for in as much more time.
		found, err := a.occurrences(times, &events[i], changed, from.Add(-mostAfter), until.Add(mostBefore))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	seen := all[:0]
	for i := range all {
		one := &all[i]
		if one.resource = resource; times.unknown && !one.allDay {
			one.widen()
		}
		if one.overlaps(from, until) {
			seen = append(seen, *one)
		}
	}
	return seen, nil
}

// A span is when an entry that cannot be read may be. Zero is no bound.
type span struct{ from, until time.Time }

func (s span) touches(from, until time.Time) bool {
	return (s.until.IsZero() || from.Before(s.until)) && (s.from.IsZero() || s.from.Before(until))
}

// spansOf are when the events of a resource may be that cannot be read: from the first moment on that they name as
// their start, their end or their place in a series. An event without a start may be at any time before its end; one
// without any of these is at no time (RFC 4791, section 9.9). What cannot be read at all may be at any time.
func (a *Agent) spansOf(resource *dav.Resource) []span {
	calendar, err := decode(resource)
	if err != nil || len(calendar.Events()) == 0 {
		return []span{{}}
	}
	var all []span
	times := a.newTimeReader(calendar)
	for _, event := range calendar.Events() {
		if one, isAtATime := times.spanOf(&event); isAtATime {
			all = append(all, one)
		}
	}
	return all
}

// spanOf is that of one event. It has none without a time.
func (r *timeReader) spanOf(event *ical.Event) (one span, isAtATime bool) {
	var named []time.Time
	for _, name := range [...]string{ical.PropDateTimeStart, ical.PropDateTimeEnd, ical.PropRecurrenceID} {
		prop := event.Props.Get(name)
		if prop == nil {
			continue
		}
		at, _, err := r.written(prop)
		if err != nil {
			return span{}, true
		}
		named = append(named, at)
	}
	recurs := event.Props.Get(ical.PropRecurrenceRule) != nil
	before, after := time.Duration(0), time.Duration(0)
	if r.unknown {
		before, after = mostBefore, mostAfter
	}
	switch begins := event.Props.Get(ical.PropDateTimeStart) != nil; {
	case event.Props.Get(ical.PropRecurrenceDates) != nil:
		return span{}, true
	case len(named) == 0:
		return span{}, recurs
	case !begins && event.Props.Get(ical.PropRecurrenceID) == nil:
		if !recurs {
			one.until = named[0].Add(after)
		}
		return one, true
	}
	return span{from: slices.MinFunc(named, time.Time.Compare).Add(-before)}, true
}

// Exceptions are the occurrences of a series that have an entry of their own.
type exceptions struct {
	moved  map[int64]bool // by the moment at which the series has them
	ranges []rangeChange  // in the order of their moments
}

// A rangeChange is how an occurrence and all later ones differ from their series (RANGE=THISANDFUTURE).
type rangeChange struct {
	from  time.Time
	shift time.Duration // by the clock
	lasts length
	one   appointment
	left  bool // they are cancelled
}

// maxShift bounds how far a range is moved.
const maxShift = 366 * 24 * time.Hour

// exceptions reads those of a resource.
func (a *Agent) exceptions(times *timeReader, events []ical.Event) (exceptions, error) {
	changed := exceptions{moved: map[int64]bool{}}
	for i := range events {
		own := events[i].Props.Get(ical.PropRecurrenceID)
		if own == nil {
			continue
		}
		at, err := times.moment(own)
		if err != nil {
			return exceptions{}, err
		}
		changed.moved[at.Unix()] = true
		switch reach := own.Params.Get(ical.ParamRange); {
		case reach == "":
		case strings.EqualFold(reach, "THISANDFUTURE"):
			one, start, lasts, err := a.single(times, &events[i])
			if err != nil {
				return exceptions{}, err
			}
			shift := byTheClock(start).Sub(byTheClock(at.In(start.Location())))
			if shift.Abs() > maxShift {
				return exceptions{}, errEntry
			}
			changed.ranges = append(changed.ranges, rangeChange{at, shift, lasts, one, isCancelled(&events[i])})
		default:
			return exceptions{}, errEntry
		}
	}
	slices.SortFunc(changed.ranges, func(a, b rangeChange) int { return a.from.Compare(b.from) })
	return changed, nil
}

// byTheClock is what the clock shows, as a moment of UTC.
func byTheClock(at time.Time) time.Time {
	y, m, d := at.Date()
	return time.Date(y, m, d, at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

func isCancelled(event *ical.Event) bool {
	return strings.EqualFold(textOf(event, ical.PropStatus), string(ical.EventCancelled))
}

// single reads one event as if it happened once.
func (a *Agent) single(times *timeReader, event *ical.Event) (one appointment, start time.Time, lasts length, err error) {
	begins := event.Props.Get(ical.PropDateTimeStart)
	if begins == nil {
		return appointment{}, time.Time{}, length{}, errEntry
	}
	one = appointment{summary: textOf(event, ical.PropSummary), effect: textOf(event, propEffect)}
	if start, one.allDay, err = times.written(begins); err != nil {
		return appointment{}, time.Time{}, length{}, err
	}
	if lasts, err = times.lengthOf(event, start, one.allDay); err != nil {
		return appointment{}, time.Time{}, length{}, err
	}
	one.at(start, lasts, a.config.Location)
	one.free = strings.EqualFold(textOf(event, ical.PropTransparency), "TRANSPARENT")
	return one, start, lasts, nil
}

// occurrences are the times of one event.
func (a *Agent) occurrences(times *timeReader, event *ical.Event, changed exceptions, from, until time.Time) ([]appointment, error) {
	one, start, lasts, err := a.single(times, event)
	if err != nil {
		return nil, err
	}
	one.recurring = event.Props.Get(ical.PropRecurrenceID) != nil
	switch {
	case isCancelled(event):
		return nil, nil
	case one.recurring || event.Props.Get(ical.PropRecurrenceRule) == nil && event.Props.Get(ical.PropRecurrenceDates) == nil:
		return []appointment{one}, nil
	}
	one.recurring = true
	return a.series(times, event, &one, series{start, lasts, changed}, from, until)
}

// mostADay is how often a rule may have an appointment on one day: to expand one of seconds would take minutes.
const mostADay = 8

func tooOften(rule *rrule.ROption) bool {
	byTheHour := rule.Freq == rrule.HOURLY || rule.Freq == rrule.MINUTELY || rule.Freq == rrule.SECONDLY
	return byTheHour || max(1, len(rule.Byhour))*max(1, len(rule.Byminute))*max(1, len(rule.Bysecond)) > mostADay
}

// A series is what recurs: the first of it, by the clock of its own zone.
type series struct {
	start   time.Time
	lasts   length
	changed exceptions
}

// series expands a recurring event.
func (a *Agent) series(times *timeReader, event *ical.Event, one *appointment, of series, from, until time.Time) ([]appointment, error) {
	set, err := times.recurrence(event, of.start, one.allDay)
	if err != nil {
		return nil, err
	}
	before, after := of.lasts.most(), time.Duration(0)
	for i := range of.changed.ranges {
		changed := &of.changed.ranges[i]
		before, after = max(before, changed.lasts.most()+changed.shift.Abs()), max(after, changed.shift.Abs()+24*time.Hour)
	}
	var all []appointment
	for _, at := range set.Between(from.Add(-before), until.Add(after), true) {
		if of.changed.moved[at.Unix()] {
			continue
		}
		next, is := of.occurrence(one, at, a.config.Location)
		if !is || slices.ContainsFunc(all, func(other appointment) bool { return other.start.Equal(next.start) }) {
			continue
		}
		all = append(all, next)
	}
	return all, nil
}

// occurrence is that of a moment of the series, as the last range before it says; there is none where that is cancelled.
func (s *series) occurrence(one *appointment, at time.Time, zone *time.Location) (appointment, bool) {
	at = at.In(s.start.Location())
	next, lasts := *one, s.lasts
	for i := len(s.changed.ranges) - 1; i >= 0; i-- {
		changed := &s.changed.ranges[i]
		if changed.from.After(at) {
			continue
		}
		if changed.left {
			return appointment{}, false
		}
		y, m, d := at.Date()
		at = time.Date(y, m, d, at.Hour(), at.Minute(), at.Second()+int(changed.shift/time.Second), 0, at.Location())
		next, lasts = changed.one, changed.lasts
		next.recurring = true
		break
	}
	next.at(at, lasts, zone)
	return next, true
}

// recurrence reads the rules, dates and exceptions of a series.
func (r *timeReader) recurrence(event *ical.Event, start time.Time, allDay bool) (*rrule.Set, error) {
	set := &rrule.Set{}
	for _, rule := range event.Props[ical.PropRecurrenceRule] {
		option, err := rrule.StrToROptionInLocation(rule.Value, start.Location())
		if err != nil || tooOften(option) {
			return nil, errEntry
		}
		if !allDay && endsWithDay(rule.Value) {
			option.Until = option.Until.AddDate(0, 0, 1).Add(-time.Second)
		}
		option.Dtstart = start
		parsed, err := rrule.NewRRule(*option)
		if err != nil {
			return nil, errEntry
		}
		set.RRule(parsed)
	}
	further, err := r.moments(event.Props[ical.PropRecurrenceDates])
	if err != nil {
		return nil, err
	}
	for _, at := range append(further, start) {
		set.RDate(at)
	}
	left, err := r.moments(event.Props[ical.PropExceptionDates])
	if err != nil {
		return nil, err
	}
	for _, at := range left {
		set.ExDate(at)
	}
	return set, nil
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
func (r *timeReader) lengthOf(event *ical.Event, start time.Time, allDay bool) (length, error) {
	if ends := event.Props.Get(ical.PropDateTimeEnd); ends != nil {
		end, _, err := r.written(ends)
		lasts := end.Sub(start)
		if r.unknown {
			lasts = max(0, lasts) // the two may be in zones of which one is unknown
		}
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
