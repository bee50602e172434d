package arguments

import "time"

// longestList is how many days of a list are found on each side of one that has its month.
const longestList = 31

// listDays finds the days of a list that stand there without their month, as the 4th in "am 3., 4. oder 5. Dezember".
func (r *reader) listDays() {
	var all []found
	for i := range r.dates {
		f := r.dates[i]
		inMonth := f.alone > 0 || f.inMonth() > 0
		if inMonth {
			all = append(all, r.daysBefore(f.from, all)...)
		}
		all = append(all, f)
		if inMonth {
			all = append(all, r.daysBehind(&f)...)
		}
	}
	r.dates = all
	for i := len(all) - 2; i >= 0; i-- {
		if r.chained(all[i].to, all[i+1].from) {
			r.share(&all[i], &all[i+1], true)
		}
	}
	for i := 1; i < len(all); i++ {
		if r.chained(all[i-1].to, all[i].from) {
			r.share(&all[i], &all[i-1], false)
		}
	}
}

// daysBehind are the days without a month that a list has behind a date.
func (r *reader) daysBehind(f *found) []found {
	var days []found
	at, last, bare := f.to, max(f.day, f.alone), false
	for len(days) < longestList {
		start := at
		for r.joinsDays(start) {
			start++
		}
		day, ok := r.listedDay(start)
		if start == at || !ok {
			break
		}
		plain := day.to == start+1
		if bare = bare || plain; plain && day.alone <= last {
			break
		}
		days = append(days, day)
		at, last = day.to, day.alone
	}
	// A number alone is a day only in a list that has an end: "December 3, 4 or 5".
	if len(days) > 0 && bare && !r.word(days[len(days)-1].from-1, r.Joiners) {
		return nil
	}
	return days
}

// daysBefore are the days without a month that a list has before a date, behind what was found before it.
func (r *reader) daysBefore(from int, before []found) []found {
	var days []found
	first := 0
	if len(before) > 0 {
		first = before[len(before)-1].to
	}
	for at := from; len(days) < longestList; {
		end := at
		for end > first && r.joinsDays(end-1) {
			end--
		}
		start := end - 1
		if start > first && r.ordinalEnd(start) == end {
			start--
		}
		day, ok := r.listedDay(start)
		if end == at || start < first || !ok || day.to != end || day.to == start+1 && !r.word(start-1, r.Fillers) && !r.word(start-1, r.DayBefore) && !r.joinsDays(start-1) {
			break
		}
		days = append([]found{day}, days...)
		at = start
	}
	return days
}

// listedDay reads the number of a day as it stands in a list.
func (r *reader) listedDay(i int) (found, bool) {
	const longestMonth = 31
	day, ok := r.at(i).number()
	if !ok || i >= len(r.tokens) || day < 1 || day > longestMonth || r.at(i).newline || r.inside(i) {
		return found{}, false
	}
	end := r.ordinalEnd(i + 1)
	next := r.at(end)
	switch {
	case next.newline:
	case next.kind == tokenNumber, next.kind == tokenMark && next.joined && r.at(end+1).joined && r.at(end+1).kind == tokenNumber && next.fold != "/" && next.fold != "-":
		return found{}, false // 4.30 and 4,5 are no days
	case next.kind == tokenWord && !r.joinsDays(end) && !r.word(end, r.HourBefore) && !r.knownWord(next.fold) && !r.word(end, r.Of) && r.months[next.fold] == 0 &&
		r.plainWords.at(r.tokens, end) == 0:
		return found{}, false // it is a number of that
	}
	return found{from: i, to: end, short: -1, alone: day, bound: true, readings: r.coming(day)}, true
}

// joinsDays says whether what stands there joins the days of a list.
func (r *reader) joinsDays(i int) bool {
	return !r.at(i).newline && (r.mark(i, ",") || r.mark(i, "/") || r.mark(i, "-") || r.word(i, r.Joiners) || r.word(i, r.List) || r.word(i, r.DayBefore))
}

// chained says whether nothing stands between two places but what joins the days of a list.
func (r *reader) chained(from, to int) bool {
	for i := from; i < to; i++ {
		if !r.joinsDays(i) {
			return false
		}
	}
	return from < to
}

// inMonth is the month of a date; 0 if nobody has named any.
func (f *found) inMonth() int { return max(f.month, f.named) }

// share gives a day alone the month of another one of its list, unless that is over, or the list runs backward.
func (r *reader) share(day, other *found, before bool) {
	month := other.inMonth()
	if day.alone == 0 || day.month > 0 || month == 0 || len(other.readings) != 1 {
		return
	}
	with, err := time.Parse(isoDate, other.readings[0])
	if err != nil || !exists(with.Year(), month, day.alone) {
		return
	}
	if date := civil(with.Year(), month, day.alone); !date.Before(r.today) && date.Before(with) == before {
		day.readings, day.day, day.month = []string{date.Format(isoDate)}, day.alone, month
	}
}

// shareMonths gives a day alone the month of the one that follows it in the same list, as in "am 3. oder 4. Dezember", unless that is over.
func (r *reader) shareMonths() {
	for i := len(r.dates) - 2; i >= 0; i-- {
		day, behind := &r.dates[i], &r.dates[i+1]
		if r.listed(day.to, behind.from) {
			r.share(day, behind, true)
		}
	}
}

// listed reports whether nothing stands between two places but what joins the elements of a list.
func (r *reader) listed(from, to int) bool {
	for i := from; i < to; i++ {
		joins := r.mark(i, ",") || r.word(i, r.Joiners) || r.word(i, r.DayBefore)
		if !joins {
			return false
		}
	}
	return from < to
}
