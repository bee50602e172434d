package arguments

import (
	"math/big"
	"regexp"
	"sort"
	"strings"
)

// findNumbers finds numbers that are no part of a date or time. With units, only those before
// one count, and are multiplied by its factor.
func (r *reader) findNumbers(units []unit) []found {
	var all []found
	for i := 0; i < len(r.tokens); {
		to, readings := r.numberAt(i)
		if to == 0 {
			i++
			continue
		}
		f := found{from: i, to: to, readings: readings, short: -1}
		switch {
		case len(units) > 0:
			u, end, ok := r.unitAt(to, units)
			if !ok {
				i = to
				continue
			}
			f.to = end
			for n, reading := range f.readings {
				f.readings[n] = multiplied(reading, u.factor)
			}
			f.bound = r.ranged(i)
		case r.inside(i):
			i = to
			continue
		}
		all = append(all, f)
		i = f.to
	}
	return all
}

// inside says whether a token belongs to a date or to a time.
func (r *reader) inside(i int) bool {
	for _, spans := range [][]found{r.dates, r.times} {
		at := sort.Search(len(spans), func(n int) bool { return spans[n].to > i })
		if at < len(spans) && spans[at].from <= i {
			return true
		}
	}
	return false
}

// numberAt reads a number in digits, or a word for one.
func (r *reader) numberAt(i int) (int, []string) {
	t := r.at(i)
	if value, ok := r.Numbers[t.fold]; ok && t.kind == tokenWord {
		if r.word(i+1, r.VagueNumbers) {
			return 0, nil
		}
		return i + 1, []string{value}
	}
	if t.kind != tokenNumber || i > 0 && t.joined && r.at(i-1).kind == tokenWord {
		return 0, nil
	}
	const longest = 32
	end := i + 1
	for end < i+longest && (r.mark(end, ".") || r.mark(end, ",")) && r.at(end).joined && r.at(end+1).kind == tokenNumber && r.at(end+1).joined {
		end += 2
	}
	readings := decimals(r.written(i, end), r.Decimal)
	if readings == nil {
		return 0, nil
	}
	if r.mark(i-1, "-") && t.joined && (i < 2 || !r.at(i-1).joined) {
		for n := range readings {
			readings[n] = "-" + readings[n]
		}
	}
	return end, readings
}

// decimals says what digits with points and commas can mean, as JSON numbers. Three digits
// behind the only mark may be thousands, if the language does not write its decimals so.
func decimals(written, decimal string) []string {
	const most = 40
	marks := strings.Count(written, ".") + strings.Count(written, ",")
	if len(written) > most {
		return nil
	}
	last := strings.LastIndexAny(written, ".,")
	switch {
	case marks == 0:
		return []string{plain(written, "")}
	case marks > 1 && strings.ContainsRune(written[:last], rune(written[last])):
		// The same mark twice divides thousands; the other one may come last only.
		if grouped(written) {
			return []string{plain(strings.NewReplacer(".", "", ",", "").Replace(written), "")}
		}
		return nil
	case marks > 1:
		if !grouped(written[:last]) {
			return nil
		}
		return []string{plain(strings.NewReplacer(".", "", ",", "").Replace(written[:last]), written[last+1:])}
	}
	whole, fraction := written[:last], written[last+1:]
	asDecimal := plain(whole, fraction)
	if len(fraction) != 3 || written[last:last+1] == decimal || len(whole) > 3 || strings.HasPrefix(whole, "0") {
		return []string{asDecimal}
	}
	return []string{plain(whole+fraction, ""), asDecimal}
}

// grouped says whether digits stand in threes behind the first mark.
func grouped(written string) bool {
	parts := strings.FieldsFunc(written, func(r rune) bool { return r == '.' || r == ',' })
	for i, part := range parts {
		if i > 0 && len(part) != 3 || len(part) > 3 || part == "" {
			return false
		}
	}
	return true
}

// plain writes a number as JSON does, without zeros that say nothing.
func plain(whole, fraction string) string {
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// A unit is a word behind a number, ready to be compared, and what the number is multiplied by.
type unit struct {
	tokens []string
	factor string
}

// unitAt finds the longest unit that stands there.
func (r *reader) unitAt(i int, units []unit) (unit, int, bool) {
	if r.mark(i, "-") && r.at(i).joined {
		i++
	}
	best, end := unit{}, 0
	for _, u := range units {
		if i+len(u.tokens) > len(r.tokens) || i+len(u.tokens) <= end {
			continue
		}
		fits := true
		for n, word := range u.tokens {
			fits = fits && r.tokens[i+n].fold == word
		}
		if fits {
			best, end = u, i+len(u.tokens)
		}
	}
	// mg is not the unit of what is written mg/kg.
	if end == 0 || r.mark(end, "/") && r.at(end).joined && r.at(end+1).kind == tokenWord {
		return unit{}, 0, false
	}
	return best, end, true
}

// multiplied is the exact decimal product, as far as it has one of twelve places.
func multiplied(number, factor string) string {
	a, okA := new(big.Rat).SetString(number)
	b, okB := new(big.Rat).SetString(factor)
	if !okA || !okB {
		return "0"
	}
	const places = 12
	text := a.Mul(a, b).FloatString(places)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func emailPattern() *regexp.Regexp {
	return regexp.MustCompile(`[\pL\pN.!#$%&'*+/=?^_{|}~-]+@[\pL\pN](?:[\pL\pN-]*[\pL\pN])?(?:\.[\pL\pN](?:[\pL\pN-]*[\pL\pN])?)+`)
}

func (f *Filler) findEmails(text string) []string {
	return f.emails.FindAllString(text, mostFound)
}

// findPhones finds runs of at least six digits that are no date.
func (r *reader) findPhones() []found {
	const fewest, most = 6, 20
	var all []found
	for i := 0; i < len(r.tokens); {
		if r.at(i).kind != tokenNumber || r.inside(i) {
			i++
			continue
		}
		f := found{from: i, to: i, short: -1}
		var digits strings.Builder
		if r.mark(i-1, "+") && r.at(i).joined || r.mark(i-1, "(") && r.mark(i-2, "+") {
			digits.WriteString("+")
			f.from--
		}
		for end := i; end < len(r.tokens) && (end == i || !r.at(end).newline); end++ {
			t := r.at(end)
			if t.kind == tokenNumber {
				digits.WriteString(t.fold)
				f.to = end + 1
			} else if t.kind == tokenWord || !strings.Contains("/-() .", t.fold) {
				break
			}
			if t.fold == "." && !r.at(end+1).joined {
				break
			}
		}
		if count := len(strings.TrimPrefix(digits.String(), "+")); count >= fewest && count <= most {
			// A number that does not begin as phone numbers do may be that of anything.
			if strings.HasPrefix(digits.String(), "+") || strings.HasPrefix(digits.String(), "0") {
				f.readings = []string{digits.String()}
			}
			all = append(all, f)
		}
		i = max(f.to, i+1)
	}
	return all
}
