package calculator

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A notation says how numbers are written where they can be read in two ways:
// a single "." or "," followed by exactly three digits. Every other number reads
// the same everywhere.
type notation struct {
	grouping     byte // '.' or ',' groups thousands; 0: such a number is ambiguous if it has a comma
	colonDivides bool // "10 : 2" is a division
}

// notationOf returns how people write numbers in a language.
func notationOf(language string) notation {
	if language == "de" {
		return notation{grouping: '.', colonDivides: true}
	}
	return notation{grouping: ','}
}

// reading says how sure a number is.
type reading int

const (
	readingClear reading = iota
	readingAmbiguous
	readingNone // not a number
)

var grouped = regexp.MustCompile(`^[1-9]\d{0,2}(?:[.,'’\x{a0}\x{202f}]\d{3})+$`)

// read turns figures with separators into the form that strconv reads.
func (n notation) read(figures string) (plain string, r reading) {
	head, decimals := figures, ""
	dot, comma := strings.Count(figures, "."), strings.Count(figures, ",")
	switch last := strings.LastIndexAny(figures, ".,"); {
	case last < 0:
	case dot > 0 && comma > 0:
		// The last kind is the decimal one and stands only once.
		if strings.Count(figures, figures[last:last+1]) > 1 {
			return "", readingNone
		}
		head, decimals = figures[:last], figures[last+1:]
	case dot+comma == 1:
		head, decimals = figures[:last], figures[last+1:]
		if grouped.MatchString(figures) {
			switch {
			case n.grouping == figures[last]:
				head, decimals = figures, ""
			case n.grouping == 0 && figures[last] == ',':
				return "", readingAmbiguous
			}
		}
	}
	if strings.Trim(head, "0123456789") != "" {
		separators := strings.FieldsFunc(head, isDigit)
		if !grouped.MatchString(head) || len(slices.Compact(separators)) > 1 { // groups are separated by one sign throughout
			return "", readingNone
		}
		head = strings.Join(strings.FieldsFunc(head, func(r rune) bool { return !isDigit(r) }), "")
	}
	if strings.Trim(decimals, "0123456789") != "" {
		return "", readingNone
	}
	if decimals != "" {
		decimals = "." + decimals
	}
	return cmp.Or(head, "0") + decimals, readingClear
}

// parseFloat reads a number that the scanner has checked; one that is too large is infinite.
func parseFloat(plain string) float64 {
	value, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		return math.Inf(1)
	}
	return value
}

// digits is how many significant digits an answer has: as many as a float64
// always holds, so that 0.1 + 0.2 is 0.3.
const digits = 15

// rounded returns the value that an answer states.
func rounded(value float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', digits, 64), 64)
	if err != nil || short == 0 {
		return 0 // never "-0"
	}
	return short
}

// format writes a number in the shortest form; very large and very small ones
// with an exponent.
func format(value float64, decimal string) string {
	value = rounded(value)
	form := byte('f')
	if size := math.Abs(value); size != 0 && (size >= 1e15 || size < 1e-6) {
		form = 'e'
	}
	text := strconv.FormatFloat(value, form, -1, 64)
	if decimal != "." {
		text = strings.Replace(text, ".", decimal, 1)
	}
	return text
}
