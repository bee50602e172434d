package arguments

import "fmt"

const hoursOfDay = 24

// An hour, and how it was written.
type hour struct {
	hour, minute int
	clock        bool // as a clock shows it: with a colon, or the word for it
	exact        bool // nothing else can be meant
}

// ClockHours are those in which times are meant, in minutes of the day.
type clockHours struct{ from, until int }

func (h clockHours) holds(minutes int) bool { return h.from <= minutes && minutes < h.until }

// findTimes finds the times of day that are not a part of a date.
func (r *reader) findTimes() []found {
	var all []found
	date := 0
	for i := 0; i < len(r.tokens); {
		for date < len(r.dates) && r.dates[date].to <= i {
			date++
		}
		if date < len(r.dates) && r.dates[date].from <= i {
			i = r.dates[date].to
			continue
		}
		h, end, ok := r.hourAt(i)
		if !ok {
			if n := r.partAlone(i, all); n > 0 {
				all = append(all, found{from: i, to: i + n, short: -1, aside: i})
				i += n
				continue
			}
			i++
			continue
		}
		end, aside, h := r.partOfDay(i, end, h)
		if last := len(all) - 1; last >= 0 && aside < i && all[last].from == aside {
			all = all[:last]
		}
		f := found{from: i, to: end, readings: r.readHour(h), short: -1, aside: aside}
		f.bound = r.ranged(i) || r.rangedAfter(end)
		all = append(all, f)
		i = end
	}
	return all
}

// rangedAfter says whether a range goes on behind a time.
func (r *reader) rangedAfter(end int) bool {
	joint := r.mark(end, "-") || r.word(end, r.Joiners)
	next := r.at(end + 1)
	_, after, ok := r.hourAt(end + 1)
	return joint && next.kind == tokenNumber && (ok || r.hourAfter.at(r.tokens, after+1) > 0)
}

func (r *reader) hourAt(i int) (hour, int, bool) {
	for _, read := range []func(int) (hour, int, bool){r.clockTime, r.spokenHour, r.fraction, r.bareHour} {
		if h, end, ok := read(i); ok {
			return h, end, true
		}
	}
	switch {
	case r.word(i, r.Noon):
		return hour{hour: 12, exact: true}, i + 1, true
	case r.word(i, r.Midnight):
		return hour{exact: true}, i + 1, true
	}
	return hour{}, 0, false
}

// clockTime reads 14:30, and 14.30 before the word for it.
func (r *reader) clockTime(i int) (hour, int, bool) {
	first, second := r.at(i), r.at(i+2)
	if first.kind != tokenNumber || second.kind != tokenNumber || len(second.fold) != 2 || len(first.fold) > 2 {
		return hour{}, 0, false
	}
	between := r.at(i + 1)
	if !between.joined || !second.joined || between.fold != ":" && between.fold != "." || r.mark(i-1, ":") && first.joined {
		return hour{}, 0, false
	}
	end := i + 3
	if r.mark(end, ":") && r.at(end).joined && r.at(end+1).kind == tokenNumber {
		end += 2
	}
	word := r.hourAfter.at(r.tokens, end)
	if between.fold == "." && word == 0 && r.forenoon.at(r.tokens, end) == 0 && r.afternoon.at(r.tokens, end) == 0 &&
		!r.word(i-1, r.HourBefore) {
		return hour{}, 0, false
	}
	h, _ := first.number()
	m, _ := second.number()
	return hour{hour: h, minute: m, clock: true, exact: len(first.fold) == 2 && first.fold[0] == '0'}, end + word, h < hoursOfDay && m < 60
}

// spokenHour reads 14 Uhr, 14 Uhr 30 and 2 pm.
func (r *reader) spokenHour(i int) (hour, int, bool) {
	h, ok := r.spelled(i)
	if !ok || h > hoursOfDay || r.at(i).joined && (r.mark(i-1, ".") || r.mark(i-1, ",") || r.mark(i-1, ":")) {
		return hour{}, 0, false
	}
	if n := r.hourAfter.at(r.tokens, i+1); n > 0 {
		end := i + 1 + n
		read := hour{hour: h % hoursOfDay, clock: true}
		if m, ok := r.at(end).number(); ok && m < 60 && !r.at(end).newline && len(r.at(end).fold) == 2 && !r.mark(end+1, ".") && !r.mark(end+1, ":") {
			read.minute = m
			end++
		}
		return read, end, true
	}
	if r.at(i).kind == tokenNumber && !r.mark(i-1, "-") && (r.forenoon.at(r.tokens, i+1) > 0 || r.afternoon.at(r.tokens, i+1) > 0) && h <= 12 {
		return hour{hour: h}, i + 1, true
	}
	return hour{}, 0, false
}

// fraction reads halb drei, viertel nach drei, half past two.
func (r *reader) fraction(i int) (hour, int, bool) {
	if r.word(i, r.Half) || r.word(i, r.ThreeQuarters) {
		if h, ok := r.spelled(i + 1); ok && h >= 1 && h <= 12 && r.HalfTo {
			minute := 30
			if r.word(i, r.ThreeQuarters) {
				minute = 45
			}
			return r.spokenFraction(i+2, (h+11)%12, minute)
		}
	}
	minute := 30
	if r.word(i, r.Quarter) {
		minute = 15
	} else if !r.word(i, r.Half) {
		return hour{}, 0, false
	}
	h, ok := r.spelled(i + 2)
	if !ok || h < 1 || h > hoursOfDay {
		return hour{}, 0, false
	}
	switch {
	case r.word(i+1, r.Past):
		return r.spokenFraction(i+3, h%hoursOfDay, minute)
	case r.word(i+1, r.To) && minute == 15:
		return r.spokenFraction(i+3, (h+hoursOfDay-1)%hoursOfDay, 45)
	}
	return hour{}, 0, false
}

func (r *reader) spokenFraction(end, h, minute int) (hour, int, bool) {
	return hour{hour: h, minute: minute}, end + r.hourAfter.at(r.tokens, end), true
}

// bareHour reads the number behind "at", if nothing that is counted follows.
func (r *reader) bareHour(i int) (hour, int, bool) {
	h, ok := r.spelled(i)
	if !ok || h < 1 || h > hoursOfDay || !r.word(i-1, r.HourBefore) || len(r.at(i).fold) > 2 && r.at(i).kind == tokenNumber {
		return hour{}, 0, false
	}
	next := r.at(i + 1)
	joined := next.kind == tokenMark && next.joined && r.at(i+2).joined && r.at(i+2).kind == tokenNumber
	_, weekday := r.weekdays[next.fold]
	_, day := r.Days[next.fold]
	counted := next.kind == tokenNumber || r.Periods[next.fold] > 0 || has(r.Spans, next.fold) || has(r.MonthPeriods, next.fold) ||
		r.mark(i+1, "%") || r.mark(i+1, "/") || r.months[next.fold] > 0 ||
		next.kind == tokenWord && !next.newline && isCapital(r.written(i+1, i+2)) && !weekday && !day
	if joined || counted || r.mark(i+1, ".") && r.at(i+2).kind == tokenNumber || has(r.OrdinalEnds, next.fold) && next.joined && next.kind == tokenWord {
		return hour{}, 0, false
	}
	// Alone behind a bound, a number may be anything.
	if r.word(i-1, r.Bounds) && !r.mark(i+1, "-") && !r.word(i+1, r.Joiners) {
		return hour{}, 0, false
	}
	return hour{hour: h % hoursOfDay}, i + 1, true
}

// partOfDay makes an hour exact by the part of the day that is said near it.
func (r *reader) partOfDay(from, end int, h hour) (int, int, hour) {
	const near = 4
	for i := end; i < end+near; i++ {
		if n := r.forenoon.at(r.tokens, i); n > 0 {
			return r.partEnd(i, end, n), i, h.in(false)
		}
		if n := r.afternoon.at(r.tokens, i); n > 0 {
			return r.partEnd(i, end, n), i, h.in(true)
		}
		if t := r.at(i); t.kind == tokenMark || t.newline && i > end || t.kind == tokenNumber {
			break
		}
	}
	for i := from - 1; i >= from-near && i >= 0; i-- {
		if t := r.at(i); t.kind == tokenMark && t.fold != "," {
			break
		}
		if r.word(i-1, r.Greetings) {
			break
		}
		if r.forenoon.at(r.tokens, i) == 1 {
			return end, i, h.in(false)
		}
		if r.afternoon.at(r.tokens, i) == 1 {
			return end, i, h.in(true)
		}
	}
	return end, from, h
}

// partAlone is the length of a word for a part of the day that stands without an hour, and is no greeting.
func (r *reader) partAlone(i int, before []found) int {
	n := max(r.forenoon.at(r.tokens, i), r.afternoon.at(r.tokens, i))
	if n == 0 || r.plainWords.at(r.tokens, i) > 0 || r.word(i-1, r.Greetings) || r.at(i).newline && (r.at(i+n).kind == tokenMark || r.at(i+n).newline) {
		return 0
	}
	const near = 4
	if last := len(before) - 1; last >= 0 && (before[last].aside == i || i-before[last].to < near && len(before[last].readings) > 0) {
		return 0
	}
	return n
}

// partEnd takes in the part of the day when it stands right behind the time.
func (r *reader) partEnd(at, end, tokens int) int {
	if at == end {
		return end + tokens
	}
	return end
}

func (h hour) in(afternoon bool) hour {
	switch {
	case h.exact || h.hour > 12 || h.hour == 0:
		return h
	case afternoon && h.hour < 12:
		h.hour += 12
	case !afternoon && h.hour == 12:
		h.hour = 0
	}
	h.exact = true
	return h
}

// readHour says which times of day can be meant.
func (r *reader) readHour(h hour) []string {
	written := h.hour*60 + h.minute
	if h.exact || h.hour > 12 || h.hour == 0 {
		return []string{timeOfDay(written)}
	}
	other := (written + 12*60) % (hoursOfDay * 60)
	configured := r.hours.until > 0
	switch {
	case configured && r.hours.holds(written) && !r.hours.holds(other):
		return []string{timeOfDay(written)}
	case configured && r.hours.holds(other) && !r.hours.holds(written):
		return []string{timeOfDay(other)}
	case r.Clock24 && h.clock:
		return []string{timeOfDay(written)}
	}
	return []string{timeOfDay(written), timeOfDay(other)}
}

func timeOfDay(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }
