package arguments

import (
	"slices"
	"time"
)

const isoDate = time.DateOnly

// findDates finds the dates of the text, each as it is meant of what is to come.
func (r *reader) findDates() []found {
	var all []found
	for i := 0; i < len(r.tokens); {
		f, ok := r.dateAt(i)
		if !ok {
			i++
			continue
		}
		f.from = i
		f.bound = f.bound || r.ranged(i)
		all = append(all, f)
		i = f.to
	}
	// Of a range, or of two choices, neither is what is meant.
	for i := 1; i < len(all); i++ {
		if all[i].bound && all[i].from-all[i-1].to == 1 {
			all[i-1].bound = true
		}
	}
	return all
}

func (r *reader) dateAt(i int) (found, bool) {
	if n := r.vagueDays.at(r.tokens, i); n > 0 {
		if f, ok := r.weekdayOfWeek(i); ok {
			return f, true
		}
		return found{to: i + n}, true
	}
	for _, read := range []func(int) (found, bool){
		r.calendarDate, r.weekdayDate, r.weekdayOfWeek, r.relativeDay, r.distance, r.dayOfMonth,
	} {
		if f, ok := read(i); ok {
			return f, true
		}
	}
	return found{}, false
}

// calendarDate reads a day and a month, in digits or by name.
func (r *reader) calendarDate(i int) (found, bool) {
	for _, read := range []func(int) (found, bool){r.isoDate, r.dottedDate, r.slashedDate, r.dayThenMonth, r.monthThenDay} {
		if f, ok := read(i); ok {
			return f, true
		}
	}
	return found{}, false
}

func (r *reader) isoDate(i int) (found, bool) {
	if !r.series(i, "-", 3) || len(r.at(i).fold) != 4 {
		return found{}, false
	}
	year, _ := r.at(i).number()
	month, _ := r.at(i + 2).number()
	day, _ := r.at(i + 4).number()
	return r.dated(i+5, year, month, day)
}

// series says whether so many numbers stand there with the mark between them and no space.
func (r *reader) series(i int, mark string, numbers int) bool {
	for n := range numbers {
		t := r.at(i + 2*n)
		if t.kind != tokenNumber || n > 0 && (!t.joined || !r.mark(i+2*n-1, mark) || !r.at(i+2*n-1).joined) {
			return false
		}
	}
	return !(r.at(i).joined && i > 0 && (r.mark(i-1, mark) || r.at(i-1).kind == tokenWord))
}

func (r *reader) dottedDate(i int) (found, bool) {
	if r.at(i).kind != tokenNumber || !r.mark(i+1, ".") || r.at(i+2).kind != tokenNumber {
		return found{}, false
	}
	if i > 0 && r.at(i).joined && (r.mark(i-1, ".") || r.mark(i-1, ",")) {
		return found{}, false
	}
	day, _ := r.at(i).number()
	month, _ := r.at(i + 2).number()
	if len(r.at(i).fold) > 2 || len(r.at(i+2).fold) > 2 {
		return found{}, false
	}
	end := i + 3
	if r.mark(end, ".") && r.at(end).joined {
		end++
		if year, ok := r.year(end); ok {
			f, ok := r.bothOrders(end+1, year, day, month, r.DayFirst)
			return orNone(f, ok, end+1, month, day)
		}
		if next := r.at(end); next.kind == tokenNumber && next.joined {
			return found{}, false
		}
		if r.hourAfter.at(r.tokens, end) > 0 || r.word(i-1, r.HourBefore) && !r.word(i-1, r.Bounds) {
			return found{}, false
		}
		f, ok := r.undated(end, day, month)
		return orNone(f, ok, end, month, day)
	}
	if r.hourAfter.at(r.tokens, end) > 0 || !r.word(i-1, r.DayBefore) || r.mark(end, ",") && r.at(end+1).joined {
		return found{}, false
	}
	return r.undated(end, day, month)
}

// orNone makes a day that its month does not have a date without a reading.
func orNone(f found, ok bool, end, month, day int) (found, bool) {
	const longestMonth = 31
	if !ok && month >= 1 && month <= 12 && day >= 1 && day <= longestMonth {
		return found{to: end, short: -1}, true
	}
	return f, ok
}

func (r *reader) slashedDate(i int) (found, bool) {
	first, _ := r.at(i).number()
	second, _ := r.at(i + 2).number()
	if r.series(i, "/", 3) {
		if year, ok := r.year(i + 4); ok {
			return r.bothOrders(i+5, year, first, second, r.DayFirst)
		}
		return found{}, false
	}
	if !r.series(i, "/", 2) || len(r.at(i).fold) > 2 || len(r.at(i+2).fold) > 2 || r.mark(i+3, "/") {
		return found{}, false
	}
	if !r.word(i-1, r.Fillers) && !r.word(i-1, r.Bounds) && !r.word(i-1, r.DayBefore) {
		return found{}, false
	}
	f, ok := r.undated(i+3, first, second)
	if r.DayFirst {
		return f, ok
	}
	other, otherOK := r.undated(i+3, second, first)
	if !ok || !otherOK || first == second {
		if !ok {
			f = other
		}
		return f, ok || otherOK
	}
	f.readings = append(f.readings, other.readings...)
	f.day, f.month = 0, 0
	return f, true
}

// bothOrders reads a date in digits, whose order may be either.
func (r *reader) bothOrders(end, year, first, second int, dayFirst bool) (found, bool) {
	f, ok := r.yeared(end, year, second, first)
	if dayFirst || first == second {
		return f, ok
	}
	other, otherOK := r.yeared(end, year, first, second)
	if !ok {
		return other, otherOK
	}
	if otherOK {
		f.readings = append(f.readings, other.readings...)
		f.short = -1
	}
	return f, true
}

// year reads a year of four digits, or of two as one below 100.
func (r *reader) year(i int) (int, bool) {
	t := r.at(i)
	n, ok := t.number()
	return n, ok && (len(t.fold) == 4 && n >= 1000 || len(t.fold) == 2 && t.joined)
}

// yeared reads a date whose year may have two digits.
func (r *reader) yeared(end, year, month, day int) (found, bool) {
	short := -1
	if year < 100 {
		short, year = year, year+2000
	}
	f, ok := r.dated(end, year, month, day)
	if short >= 0 {
		f.short, f.day, f.month = short, day, month
	}
	return f, ok
}

func (r *reader) dated(end, year, month, day int) (found, bool) {
	if !exists(year, month, day) {
		return found{}, false
	}
	return found{to: end, readings: []string{civil(year, month, day).Format(isoDate)}, short: -1, named: month}, true
}

// undated reads a date without a year: the next such day.
func (r *reader) undated(end, day, month int) (found, bool) {
	if !exists(2000, month, day) {
		return found{}, false
	}
	f := found{to: end, day: day, month: month, short: -1}
	f.readings = []string{f.nearest(r.today, false)}
	return f, true
}

// nearest is the next or the last day with its day and month. The 29 February comes every eight years.
func (f *found) nearest(today time.Time, past bool) string {
	const farthest = 8
	for distance := range farthest + 1 {
		year := today.Year() + distance
		if past {
			year = today.Year() - distance
		}
		if !exists(year, f.month, f.day) {
			continue
		}
		date := civil(year, f.month, f.day)
		if past && !date.After(today) || !past && !date.Before(today) {
			return date.Format(isoDate)
		}
	}
	return ""
}

// inPast are the readings if what was is meant.
func (f *found) inPast(today time.Time) []string {
	switch {
	case f.day == 0:
		return f.readings
	case f.short >= 0:
		year := f.short + 2000
		if !exists(year, f.month, f.day) || civil(year, f.month, f.day).After(today) {
			year -= 100
		}
		if !exists(year, f.month, f.day) {
			return nil
		}
		return []string{civil(year, f.month, f.day).Format(isoDate)}
	}
	return []string{f.nearest(today, true)}
}

func (r *reader) dayThenMonth(i int) (found, bool) {
	day, ok := r.at(i).number()
	if ordinal := r.Ordinals[r.at(i).fold]; ordinal > 0 {
		day, ok = ordinal, true
	}
	if !ok {
		return found{}, false
	}
	end := r.ordinalEnd(i + 1)
	if r.word(end, r.Of) {
		end++
	}
	month := r.months[r.at(end).fold]
	if month == 0 {
		return found{}, false
	}
	end++
	if r.mark(end, ".") && r.at(end).joined && r.at(end+1).kind == tokenNumber {
		end++
	}
	return r.named(end, month, day)
}

func (r *reader) monthThenDay(i int) (found, bool) {
	month := r.months[r.at(i).fold]
	if month == 0 || r.at(i).kind != tokenWord {
		return found{}, false
	}
	at := i + 1
	if r.mark(at, ".") {
		at++
	}
	if r.word(at, r.DayBefore) {
		at++
	}
	day, ok := r.at(at).number()
	if !ok || len(r.at(at).fold) > 2 {
		if r.word(i-1, r.VagueMonth) {
			return found{to: i + 1}, true
		}
		return found{}, false
	}
	return r.named(r.ordinalEnd(at+1), month, day)
}

// ordinalEnd skips what makes a day of a number.
func (r *reader) ordinalEnd(i int) int {
	if t := r.at(i); t.joined && has(r.OrdinalEnds, t.fold) {
		return i + 1
	}
	return i
}

// named reads the year, if there is one, behind a month that was named.
func (r *reader) named(end, month, day int) (found, bool) {
	at := end
	if r.mark(at, ",") {
		at++
	}
	if year, ok := r.year(at); ok && len(r.at(at).fold) == 4 && !r.mark(at+1, ":") && r.hourAfter.at(r.tokens, at+1) == 0 {
		return r.dated(at+1, year, month, day)
	}
	return r.undated(end, day, month)
}

// dayOfMonth reads a day alone, behind a word that says that it is one: of this month, if it is still to come,
// else of one of the next two.
func (r *reader) dayOfMonth(i int) (found, bool) {
	day, ok := r.at(i).number()
	end := r.ordinalEnd(i + 1)
	if !ok || end == i+1 || !r.word(i-1, r.DayBefore) || day < 1 || day > 31 {
		return found{}, false
	}
	if next := r.at(end); next.kind == tokenNumber || r.mark(i+1, ".") && next.kind == tokenWord && isCapital(r.written(end, end+1)) && !next.newline &&
		!r.word(end, r.HourBefore) && !r.knownWord(next.fold) {
		return found{}, false
	}
	f := found{to: end, short: -1, alone: day, readings: r.coming(day)}
	return f, len(f.readings) > 0
}

// coming are the next days with a number.
func (r *reader) coming(day int) []string {
	var readings []string
	for month := range 3 {
		first := civil(r.today.Year(), int(r.today.Month()), 1).AddDate(0, month, 0)
		year, number := first.Year(), int(first.Month())
		if exists(year, number, day) && !civil(year, number, day).Before(r.today) {
			readings = append(readings, civil(year, number, day).Format(isoDate))
		}
		if month == 0 && len(readings) > 0 {
			break
		}
	}
	return readings
}

func (r *reader) knownWord(word string) bool {
	return slices.Contains(r.Fillers, word) || slices.Contains(r.Afternoon, word) || slices.Contains(r.Forenoon, word)
}

func exists(year, month, day int) bool {
	if month < 1 || month > 12 || day < 1 || year < 1 || year > 9999 {
		return false
	}
	return civil(year, month, day).Day() == day
}

func civil(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}
