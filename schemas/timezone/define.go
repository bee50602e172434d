package timezone

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// An Observance is one STANDARD or DAYLIGHT of a VTIMEZONE (RFC 5545, 3.6.5), by the values of its properties.
type Observance struct {
	Start    string   // DTSTART
	From, To string   // TZOFFSETFROM, TZOFFSETTO
	Rules    []string // RRULE
	Dates    []string // RDATE
}

// ErrDefinition reports a VTIMEZONE that cannot be read.
var ErrDefinition = errors.New("the definition of a time zone cannot be read")

const (
	// MaxObservances bounds the observances of one zone.
	MaxObservances = 100
	// maxTransitions bounds the changes of the clock of one zone.
	maxTransitions = 4000
	// The years in which rules of a definition are applied. Before and behind them the clock does not change.
	firstYear, lastYear = 1970, 2100
)

// A transition is a change of the clock.
type transition struct {
	at     int64 // in seconds since 1970
	offset int   // of then on, in seconds
}

// Define returns the zone that a VTIMEZONE of a calendar defines. The error is ErrDefinition.
func Define(name string, observances []Observance) (*time.Location, error) {
	if len(observances) == 0 || len(observances) > MaxObservances {
		return nil, ErrDefinition
	}
	var all []transition
	first, earliest := 0, int64(0)
	for i := range observances {
		found, from, err := observances[i].transitions()
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && (len(all) == 0 || found[0].at < earliest) {
			first, earliest = from, found[0].at
		}
		if all = append(all, found...); len(all) > maxTransitions {
			return nil, ErrDefinition
		}
	}
	if len(all) == 0 {
		return nil, ErrDefinition
	}
	slices.SortStableFunc(all, func(a, b transition) int { return int(min(1, max(-1, a.at-b.at))) })
	location, err := time.LoadLocationFromTZData(name, encodeZone(first, all))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDefinition, err)
	}
	return location, nil
}

// transitions are the moments at which an observance begins, in their order, and the offset before the first.
func (o *Observance) transitions() (all []transition, from int, err error) {
	from, okFrom := readOffset(o.From)
	offset, okTo := readOffset(o.To)
	start, err := time.Parse("20060102T150405", strings.TrimSpace(o.Start))
	if err != nil || !okFrom || !okTo || len(o.Rules) > 1 {
		return nil, 0, ErrDefinition
	}
	onsets := []time.Time{start} // by the clock before the change
	for _, rule := range o.Rules {
		more, err := yearly(rule, start, from)
		if err != nil {
			return nil, 0, err
		}
		onsets = append(onsets, more...)
	}
	for _, dates := range o.Dates {
		for value := range strings.SplitSeq(dates, ",") {
			date, _, _ := strings.Cut(strings.TrimSpace(value), "/") // a period begins with its first moment
			at, err := time.Parse("20060102T150405", date)
			if err != nil {
				return nil, 0, ErrDefinition
			}
			onsets = append(onsets, at)
		}
	}
	slices.SortFunc(onsets, time.Time.Compare)
	for _, at := range slices.Compact(onsets) {
		all = append(all, transition{at.Unix() - int64(from), offset})
	}
	return all, from, nil
}

// yearly expands a rule of a definition. It must be one that changes the clock in some years.
func yearly(rule string, start time.Time, from int) ([]time.Time, error) {
	option, err := rrule.StrToROption(rule)
	if err != nil || option.Freq != rrule.YEARLY || len(option.Byhour)+len(option.Byminute)+len(option.Bysecond) > 0 {
		return nil, ErrDefinition
	}
	until := option.Until // a moment, unlike the rest
	option.Until, option.Dtstart = time.Time{}, start
	if behind := firstYear - start.Year(); behind > 0 && option.Count == 0 {
		// The library ends a rule after 292 years, and Outlook begins in 1601.
		every := max(1, option.Interval)
		option.Dtstart = start.AddDate((behind+every-1)/every*every, 0, 0)
	}
	parsed, err := rrule.NewRRule(*option)
	if err != nil {
		return nil, ErrDefinition
	}
	last := time.Date(lastYear, time.December, 31, 23, 59, 59, 0, time.UTC)
	if !until.IsZero() {
		if ends := until.Add(time.Duration(from) * time.Second); ends.Before(last) {
			last = ends
		}
	}
	var all []time.Time
	next := parsed.Iterator()
	for at, more := next(); more && !at.After(last); at, more = next() {
		if at.Year() < firstYear {
			continue
		}
		if all = append(all, at); len(all) > maxTransitions {
			return nil, ErrDefinition
		}
	}
	return all, nil
}

var writtenOffset = regexp.MustCompile(`^([+-])(\d{2}):?(\d{2}):?(\d{2})?$`)

// readOffset reads TZOFFSETFROM or TZOFFSETTO, in seconds.
func readOffset(value string) (int, bool) {
	parts := writtenOffset.FindStringSubmatch(strings.TrimSpace(value))
	if parts == nil {
		return 0, false
	}
	seconds, ok := offsetOf(parts[1], parts[2], parts[3])
	more, _ := strconv.Atoi(parts[4]) // none is 0
	if parts[1] == "-" {
		more = -more
	}
	return seconds + more, ok
}

// encodeZone writes a zone as the database has them (TZif, RFC 8536), which is what the time package reads.
func encodeZone(first int, all []transition) []byte {
	offsets := []int{first} // the first is that before all transitions
	kinds := make([]byte, 0, len(all))
	for i := range all {
		kind := slices.Index(offsets[1:], all[i].offset) + 1
		if kind == 0 {
			kind = len(offsets)
			offsets = append(offsets, all[i].offset)
		}
		kinds = append(kinds, byte(kind)) // there are no more offsets than observances
	}
	const label = "-00\x00" // a zone of a calendar has no abbreviations that matter
	var out bytes.Buffer
	writeHead := func(transitions, types, characters int) {
		out.WriteString("TZif2" + strings.Repeat("\x00", 15))
		for _, count := range []int{0, 0, 0, transitions, types, characters} {
			_ = binary.Write(&out, binary.BigEndian, uint32(count)) // a buffer takes all
		}
	}
	writeHead(0, 0, 0)
	writeHead(len(all), len(offsets), len(label))
	for i := range all {
		_ = binary.Write(&out, binary.BigEndian, all[i].at)
	}
	out.Write(kinds)
	for _, offset := range offsets {
		_ = binary.Write(&out, binary.BigEndian, int32(offset))
		out.Write([]byte{0, 0})
	}
	out.WriteString(label + "\n\n")
	return out.Bytes()
}
