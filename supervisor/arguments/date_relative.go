package arguments

import (
	"strings"
	"time"
)

const week = 7

// weekdayDate reads a day of the week, and the date behind it that says the same.
func (r *reader) weekdayDate(i int) (found, bool) {
	at, next, coming, this, last := i, false, false, false, false
	switch {
	case r.word(i, r.Next):
		next, at = true, i+1
	case r.word(i, r.Coming):
		coming, at = true, i+1
	case r.word(i, r.This):
		this, at = true, i+1
	case r.word(i, r.Last):
		last, at = true, i+1
	}
	weekday, ok := r.weekdays[r.at(at).fold]
	if !ok || r.at(at).kind != tokenWord {
		return found{}, false
	}
	end := at + 1
	if r.mark(end, ".") && has(r.ShortWeekdays, r.at(at).fold) {
		end++
	}
	if f, ok := r.dateBehind(end, weekday); ok {
		return f, true
	}
	if has(r.ShortWeekdays, r.at(at).fold) {
		return found{}, false
	}
	ahead := (weekday - (int(r.today.Weekday())+6)%week + week) % week
	if f, ok := r.weeksBehind(end, weekday); ok {
		return f, true
	}
	f := found{to: end, short: -1}
	switch {
	case last:
		f.readings = []string{r.day((ahead+6)%week + 1 - week)}
		if ahead == 0 {
			f.readings = []string{r.day(-week)}
		}
	case coming:
		f.readings = []string{r.day(ahead)}
		if ahead == 0 {
			f.readings = []string{r.day(week)}
		}
	case next && weekday > (int(r.today.Weekday())+6)%week:
		f.readings = []string{r.day(ahead), r.day(ahead + week)}
	case next && ahead == 0:
		f.readings = []string{r.day(week)}
	case this && weekday < (int(r.today.Weekday())+6)%week, ahead == 0:
		f.readings = []string{r.day(ahead), r.day(ahead + week)}
	default:
		f.readings = []string{r.day(ahead)}
	}
	return f, true
}

// dateBehind reads the date that follows a day of the week. One that is on another day has
// no sure reading.
func (r *reader) dateBehind(at, weekday int) (found, bool) {
	start := at
	for r.mark(at, ",") || r.word(at, r.DayBefore) || r.mark(at, "(") {
		at++
	}
	f, ok := r.calendarDate(at)
	if !ok && at > start {
		f, ok = r.dayOfMonth(at)
	}
	if !ok {
		return found{}, false
	}
	if r.mark(at-1, "(") && r.mark(f.to, ")") {
		f.to++
	}
	var fitting []string
	for _, reading := range f.readings {
		if date, err := time.Parse(isoDate, reading); err == nil && (int(date.Weekday())+6)%week == weekday {
			fitting = append(fitting, reading)
		}
	}
	if len(fitting) > 0 {
		f.readings, f.day = fitting, 0
		return f, true
	}
	f.bound = true
	return f, true
}

// weekdayOfWeek reads "nächste Woche Dienstag".
func (r *reader) weekdayOfWeek(i int) (found, bool) {
	weeks, ok := r.whichWeek(i)
	if !ok {
		return found{}, false
	}
	at := i + 2
	for r.mark(at, ",") || r.word(at, r.Fillers) && !r.word(at, r.HourBefore) || r.word(at, r.DayBefore) {
		at++
	}
	weekday, ok := r.weekdays[r.at(at).fold]
	if !ok || has(r.ShortWeekdays, r.at(at).fold) {
		return found{}, false
	}
	return found{to: at + 1, short: -1, readings: []string{r.inWeek(weekday, weeks)}}, true
}

// weeksBehind reads what follows a day of the week: "Tuesday next week", "Dienstag in zwei Wochen".
func (r *reader) weeksBehind(at, weekday int) (found, bool) {
	start := at
	if r.word(at, r.DayBefore) || r.word(at, r.Of) {
		at++
	}
	if weeks, ok := r.whichWeek(at); ok {
		return found{to: at + 2, short: -1, readings: []string{r.inWeek(weekday, weeks)}}, true
	}
	if f, ok := r.distance(start); ok && len(f.readings) == 1 {
		// Whether it counts from today or from that day is not sure.
		f.readings = nil
		return f, true
	}
	return found{}, false
}

// whichWeek reads "next week" as 1 and "this week" as 0.
func (r *reader) whichWeek(i int) (int, bool) {
	if !r.word(i+1, r.Week) {
		return 0, false
	}
	switch {
	case r.word(i, r.Next), r.word(i, r.Coming):
		return 1, true
	case r.word(i, r.This):
		return 0, true
	case r.word(i, r.Last):
		return -1, true
	}
	return 0, false
}

func (r *reader) inWeek(weekday, weeks int) string {
	monday := -((int(r.today.Weekday()) + 6) % week)
	return r.day(monday + weekday + weeks*week)
}

func (r *reader) day(offset int) string { return r.today.AddDate(0, 0, offset).Format(isoDate) }

// relativeDay reads today, tomorrow and their like.
func (r *reader) relativeDay(i int) (found, bool) {
	size := r.days.at(r.tokens, i)
	if size == 0 || r.word(i-1, r.NotDayAfter[r.at(i).fold]) {
		return found{}, false
	}
	words := make([]string, size)
	for n := range words {
		words[n] = r.at(i + n).fold
	}
	f := found{to: i + size, short: -1, readings: []string{r.day(r.Days[strings.Join(words, " ")])}}
	start := f.to
	for r.mark(start, ",") || r.mark(start, "(") || r.word(start, r.DayBefore) {
		start++
	}
	if start == f.to {
		return f, true
	}
	// A date or a day of the week behind it has to be the same day.
	for _, read := range []func(int) (found, bool){r.weekdayDate, r.calendarDate} {
		other, ok := read(start)
		if !ok {
			continue
		}
		if !has(other.readings, f.readings[0]) {
			f.bound = true
		}
		f.to = other.to
		if r.mark(start-1, "(") && r.mark(f.to, ")") {
			f.to++
		}
		break
	}
	return f, true
}

// distance reads "in three days" and "two weeks ago".
func (r *reader) distance(i int) (found, bool) {
	sign, at := 1, i
	switch {
	case r.word(i, r.In):
		at = i + 1
	case r.word(i, r.Ago) && r.amount(i+1):
		sign, at = -1, i+1
	case r.amount(i) && r.word(i+2, r.Ago):
		sign = -1
	default:
		return found{}, false
	}
	count, ok := r.spelled(at)
	if !ok || !r.amount(at) || count > 3660 {
		return found{}, false
	}
	end := at + 2
	if at == i {
		end++
	}
	f := found{to: end, short: -1}
	if r.word(at+1, r.MonthPeriods) {
		f.readings = []string{r.monthsAway(sign * count)}
		return f, true
	}
	f.readings = []string{r.day(sign * count * r.Periods[r.at(at+1).fold])}
	return f, true
}

// amount says whether a number of days, weeks or months stands there.
func (r *reader) amount(i int) bool {
	if _, ok := r.spelled(i); !ok {
		return false
	}
	return r.Periods[r.at(i+1).fold] > 0 || r.word(i+1, r.MonthPeriods)
}

// monthsAway is the same day of another month, or its last one.
func (r *reader) monthsAway(months int) string {
	first := civil(r.today.Year(), int(r.today.Month()), 1).AddDate(0, months, 0)
	for day := r.today.Day(); ; day-- {
		if exists(first.Year(), int(first.Month()), day) {
			return civil(first.Year(), int(first.Month()), day).Format(isoDate)
		}
	}
}

// divideDays takes a day of the week and a part of the day that a language writes as one word for two.
func (r *reader) divideDays() {
	var tokens []token
	for i := range r.tokens {
		t := &r.tokens[i]
		day, part := r.dayAndPart(t.fold)
		if t.kind != tokenWord || day == "" || len(day) >= t.end-t.start {
			tokens = append(tokens, *t)
			continue
		}
		first, second := *t, *t
		first.fold, first.end = day, t.start+len(day)
		second.fold, second.start, second.joined, second.newline = part, first.end, true, false
		tokens = append(tokens, first, second)
	}
	if len(tokens) == len(r.tokens) {
		return
	}
	r.tokens = tokens
	r.dates = r.findDates()
	r.times = r.findTimes()
}

// dayAndPart are the day of the week with which a word begins, and the word for the part of it that is all the rest; both are empty where there is none.
// The days are written in ASCII, so that a day is as long in the text.
func (r *reader) dayAndPart(word string) (day, part string) {
	for _, names := range r.Weekdays {
		for _, name := range names {
			if rest, ok := strings.CutPrefix(word, name); ok && r.DayParts[rest] != "" && !has(r.ShortWeekdays, name) {
				return name, r.DayParts[rest]
			}
		}
	}
	return "", ""
}
