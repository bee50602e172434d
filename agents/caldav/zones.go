package caldav

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/emersion/go-ical"

	"podium/schemas/timezone"
)

// An entry whose zone is unknown may be as far from its stated time, read as UTC, as the zones of the world are from UTC.
const (
	mostBefore = 14 * time.Hour
	mostAfter  = 12 * time.Hour
)

// A timeReader reads the times of one resource.
type timeReader struct {
	home    *time.Location // where times without a zone are meant
	defined map[string][]timezone.Observance
	known   map[string]*time.Location
	// unknown says that a time names a zone that is neither known nor defined in the resource. The time is read as UTC.
	unknown bool
}

// newTimeReader collects the zones that a resource defines.
func (a *Agent) newTimeReader(calendar *ical.Calendar) *timeReader {
	r := &timeReader{home: a.config.Location, defined: map[string][]timezone.Observance{}, known: map[string]*time.Location{}}
	for _, child := range calendar.Children {
		if child.Name != ical.CompTimezone {
			continue
		}
		name := timezone.Clean(valueOf(child, ical.PropTimezoneID))
		if _, again := r.defined[name]; name == "" || again {
			continue
		}
		var all []timezone.Observance
		for _, one := range child.Children {
			if one.Name != ical.CompTimezoneStandard && one.Name != ical.CompTimezoneDaylight {
				continue
			}
			all = append(all, timezone.Observance{
				Start: valueOf(one, ical.PropDateTimeStart), From: valueOf(one, ical.PropTimezoneOffsetFrom), To: valueOf(one, ical.PropTimezoneOffsetTo),
				Rules: valuesOf(one, ical.PropRecurrenceRule), Dates: valuesOf(one, ical.PropRecurrenceDates),
			})
		}
		r.defined[name] = all
	}
	return r
}

func valueOf(component *ical.Component, name string) string {
	if prop := component.Props.Get(name); prop != nil {
		return prop.Value
	}
	return ""
}

func valuesOf(component *ical.Component, name string) (all []string) {
	for _, prop := range component.Props[name] {
		all = append(all, prop.Value)
	}
	return all
}

// zone returns the zone of a name: that of the database, as the resource defines it, or as calendar programs call it. For any
// other name it returns UTC and notes that the zone is unknown.
func (r *timeReader) zone(name string) *time.Location {
	name = timezone.Clean(name)
	if zone := r.known[name]; zone != nil {
		return zone
	}
	zone, err := timezone.Load(name)
	if err != nil {
		zone, err = timezone.Define(name, r.defined[name])
	}
	if err != nil {
		zone = timezone.Find(name)
	}
	if zone == nil {
		r.unknown = true
		return time.UTC
	}
	r.known[name] = zone
	return zone
}

// moment reads a moment or a day.
func (r *timeReader) moment(prop *ical.Prop) (time.Time, error) {
	at, _, err := r.written(prop)
	return at, err
}

// moments reads a property that may stand several times and have several values.
func (r *timeReader) moments(props []ical.Prop) (all []time.Time, err error) {
	for i := range props {
		for value := range strings.SplitSeq(props[i].Value, ",") {
			single := props[i]
			single.Value = value
			at, err := r.moment(&single)
			if err != nil {
				return nil, err
			}
			all = append(all, at)
		}
	}
	return all, nil
}

// written reads a moment in the zone that it names, or a day. What names no zone is meant in the calendar's.
func (r *timeReader) written(prop *ical.Prop) (at time.Time, day bool, err error) {
	value := strings.TrimSpace(prop.Value)
	switch {
	case len(value) == len("20060102"):
		at, err = time.ParseInLocation("20060102", value, r.home)
		day = true
	case strings.HasSuffix(value, "Z"):
		at, err = time.Parse("20060102T150405Z", value)
	default:
		zone := r.home
		if name := strings.Join(prop.Params[ical.ParamTimezoneID], ","); name != "" {
			zone = r.zone(name)
		}
		at, err = time.ParseInLocation("20060102T150405", value, zone)
	}
	if err != nil {
		return time.Time{}, false, errEntry
	}
	return at, day, nil
}

var (
	folds = regexp.MustCompile(`\r?\n[ \t]`)
	// bareZone is a time whose zone has signs that only a quoted parameter may have, such as "(UTC+01:00) Amsterdam, Berlin".
	bareZone = regexp.MustCompile(`(?im)^((?:DTSTART|DTEND|RECURRENCE-ID|RDATE|EXDATE)(?:;[^":\r\n]*)?;TZID=)([^";\r\n]*[:,][^";\r\n]*)((?:;[^":\r\n]*)?:[0-9TZ,]+\r?)$`)
)

// quoteZones joins folded lines and quotes the names of zones that need it and have no quotes.
func quoteZones(body []byte) []byte {
	if !bytes.Contains(bytes.ToUpper(body), []byte("TZID=")) {
		return body
	}
	return bareZone.ReplaceAll(folds.ReplaceAll(body, nil), []byte(`$1"$2"$3`))
}
