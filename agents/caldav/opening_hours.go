package caldav

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Span is a part of a day, as time since its midnight.
type Span struct{ From, Until time.Duration }

// An Opening says when in a week appointments are made.
type Opening struct {
	Week   [7][]Span // by weekday, from Sunday on; in their order, and apart
	Closed []string  // days on which there are none, as in 2026-12-24
}

// IsZero reports whether nothing is said.
func (o *Opening) IsZero() bool {
	return len(o.Closed) == 0 && !slices.ContainsFunc(o.Week[:], func(spans []Span) bool { return len(spans) > 0 })
}

// weekdays are the words of schema.org's openingHours.
func weekdays() []string { return []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"} }

// ParseOpening reads opening hours as schema.org's openingHours has them, such as "Mo-Fr 08:00-12:00" and "Mo,Tu,Th 15:00-18:00", and the days
// that are closed all the same. Its error joins every fault.
func ParseOpening(lines, closed []string) (Opening, error) {
	opening, faults := Opening{Closed: slices.Clone(closed)}, []error{}
	for _, line := range lines {
		if err := opening.add(line); err != nil {
			faults = append(faults, fmt.Errorf("%q: %w", line, err))
		}
	}
	for day := range opening.Week {
		spans := opening.Week[day]
		slices.SortFunc(spans, func(a, b Span) int { return int(a.From - b.From) })
		for i := 1; i < len(spans); i++ {
			if spans[i].From < spans[i-1].Until {
				faults = append(faults, fmt.Errorf("%s is open twice at %s: write each time once", weekdays()[day], clockText(spans[i].From)))
			}
		}
	}
	for _, day := range closed {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			faults = append(faults, fmt.Errorf("closed: %q is no day, such as 2026-12-24", day))
		}
	}
	if len(lines) == 0 && len(closed) > 0 {
		faults = append(faults, errors.New("closed: it goes with opening_hours, which it takes days from"))
	}
	return opening, errors.Join(faults...)
}

func (o *Opening) add(line string) error {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return errors.New("want days and a time, such as Mo-Fr 08:00-12:00")
	}
	days, err := daysOf(fields[0])
	if err != nil {
		return err
	}
	from, until, divided := strings.Cut(fields[1], "-")
	begins, errFrom := sinceMidnight(from)
	ends, errUntil := sinceMidnight(until)
	if !divided || errFrom != nil || errUntil != nil || begins >= ends {
		return fmt.Errorf("%q is no time from and until, such as 08:00-12:00", fields[1])
	}
	for _, day := range days {
		o.Week[day] = append(o.Week[day], Span{From: begins, Until: ends})
	}
	return nil
}

// daysOf reads Mo-Fr and Mo,Tu,Th. A range may go over the end of a week.
func daysOf(text string) ([]int, error) {
	var days []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, until := slices.Index(weekdays(), first), slices.Index(weekdays(), last)
		if from < 0 || until < 0 {
			return nil, fmt.Errorf("%q is no day: they are Mo, Tu, We, Th, Fr, Sa, Su, such as Mo-Fr or Mo,Tu,Th", part)
		}
		for day := from; ; day = (day + 1) % len(weekdays()) {
			if slices.Contains(days, day) {
				return nil, fmt.Errorf("%s stands there twice", weekdays()[day])
			}
			days = append(days, day)
			if day == until {
				break
			}
		}
	}
	return days, nil
}

// sinceMidnight reads a time of a day; 24:00 is its end.
func sinceMidnight(clock string) (time.Duration, error) {
	if clock == "24:00" {
		return 24 * time.Hour, nil
	}
	at, err := time.Parse(clockLayout, clock)
	if err != nil || len(clock) != len(clockLayout) {
		return 0, fmt.Errorf("%q is no time of a day, such as 07:00", clock)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

func clockText(since time.Duration) string {
	return fmt.Sprintf("%02d:%02d", since/time.Hour, since%time.Hour/time.Minute)
}

// daily is open on each day.
func daily(hours Hours) Opening {
	var opening Opening
	for day := range opening.Week {
		opening.Week[day] = []Span{Span(hours)}
	}
	return opening
}

// A stretch is a span of one day.
type stretch struct{ from, until time.Time }

// open are the opening hours of the day of a moment, by the clock.
func (j *job) open(at time.Time) []stretch {
	y, m, d := at.Date()
	if slices.Contains(j.config.Opening.Closed, at.Format(time.DateOnly)) {
		return nil
	}
	clock := func(since time.Duration) time.Time {
		return time.Date(y, m, d, int(since/time.Hour), int(since%time.Hour/time.Minute), 0, 0, j.config.Location)
	}
	var open []stretch
	for _, span := range j.config.Opening.Week[at.Weekday()] {
		open = append(open, stretch{from: clock(span.From), until: clock(span.Until)})
	}
	return open
}

// bounded reports whether there are hours at which nothing is booked. Without any, free time is not told.
func (j *job) bounded() bool {
	whole := []Span{{Until: 24 * time.Hour}}
	return len(j.config.Opening.Closed) > 0 || slices.ContainsFunc(j.config.Opening.Week[:], func(spans []Span) bool { return !slices.Equal(spans, whole) })
}

// bookable refuses times that are over, or outside of the hours.
func (j *job) bookable(start, end time.Time) error {
	if start.Before(j.config.Now()) {
		return refuse("past", "{when}", j.when(start))
	}
	open := j.open(start)
	if slices.ContainsFunc(open, func(s stretch) bool { return !start.Before(s.from) && !end.After(s.until) }) {
		return nil
	}
	return j.closed(start, open)
}

// closed refuses a day without hours, or a time beside them.
func (j *job) closed(at time.Time, open []stretch) error {
	if len(open) == 0 {
		return refuse("closed_day", "{day}", j.weekday(at))
	}
	told := make([]string, len(open))
	for i, s := range open {
		told[i] = s.from.Format(clockLayout) + "–" + clockOf(s.until, s.from)
	}
	return refuse("closed", "{day}", j.weekday(at), "{hours}", j.listed(told))
}

// weekday tells a day with its name.
func (j *job) weekday(at time.Time) string {
	name := strings.Split(j.Say("weekdays"), ",")[at.Weekday()]
	return name + ", " + j.dayOf(at)
}

// listed joins what is told one after the other, the last behind the word for it.
func (j *job) listed(told []string) string {
	if len(told) < 2 {
		return strings.Join(told, "")
	}
	last := len(told) - 1
	return strings.Join(told[:last], ", ") + " " + j.Say("and") + " " + told[last]
}
