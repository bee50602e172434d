// Package timezone finds the time zones that configurations, invitations and calendar entries name. Its database comes with
// the program: that of the machine could have the same name mean another moment elsewhere.
package timezone

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrUnknown reports a name that is no IANA time zone.
var ErrUnknown = errors.New("it is no time zone such as Europe/Berlin")

// database is the IANA database in the form of Go's lib/time/zoneinfo.zip.
//
//go:embed zoneinfo.zip
var database []byte

// windowsNames are the zones of Windows by CLDR's windowsZones, as Go's time package lists them, and two that Windows
// has kept longer than CLDR.
//
//go:embed windows.json
var windowsNames []byte

// A finder looks for zones in the embedded database.
type finder struct{ archive *zip.Reader }

func openDatabase() finder {
	archive, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		panic(fmt.Sprintf("timezone: the embedded database: %v", err)) // it is part of the program
	}
	return finder{archive}
}

// Load returns a zone by its IANA name; UTC when that is empty. The error is ErrUnknown.
func Load(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if zone := openDatabase().load(name); zone != nil {
		return zone, nil
	}
	return nil, fmt.Errorf("%q: %w", name, ErrUnknown)
}

// load returns a zone by its IANA name; nil is none.
func (f finder) load(name string) *time.Location {
	data, err := fs.ReadFile(f.archive, name)
	if err != nil || len(data) == 0 {
		return nil
	}
	location, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil
	}
	return location
}

// maxName bounds the name of a zone, in bytes.
const maxName = 200

// Clean returns the name of a zone as two spellings of it compare: without quotes, escapes and outer blanks.
func Clean(name string) string {
	return strings.TrimSpace(strings.NewReplacer(`\`, "", `"`, "").Replace(name))
}

// Find returns the zone that a calendar program names: by its IANA name in any case or behind the path of a vendor, by the
// name of Windows, by an offset from UTC ("GMT+0100"), or as Outlook shows it ("(UTC+01:00) Amsterdam, Berlin"). It
// returns nil for any other name.
func Find(name string) *time.Location {
	name = Clean(name)
	if name == "" || len(name) > maxName {
		return nil
	}
	f := openDatabase()
	if zone := f.find(name); zone != nil {
		return zone
	}
	for _, rest, more := strings.Cut(name, "/"); more; _, rest, more = strings.Cut(rest, "/") {
		if zone := f.find(rest); zone != nil {
			return zone
		}
	}
	if zone := fixedOffset(name); zone != nil {
		return zone
	}
	if zone := f.findByOffsets(name); zone != nil {
		return zone
	}
	return f.findShown(name)
}

// find returns a zone by its name in the database or in Windows; nil is none.
func (f finder) find(name string) *time.Location {
	if name == "" {
		return nil
	}
	if strings.EqualFold(name, "UTC") || strings.EqualFold(name, "Z") {
		return time.UTC
	}
	if zone := f.load(name); zone != nil {
		return zone
	}
	if zone := f.load(ofWindows(name)); zone != nil {
		return zone
	}
	for _, file := range f.archive.File {
		if strings.EqualFold(file.Name, name) {
			return f.load(file.Name)
		}
	}
	return nil
}

// ofWindows returns the IANA name of a zone of Windows, or "".
func ofWindows(name string) string {
	if !strings.ContainsAny(name, " -+") {
		return "" // all names of Windows have one of these but UTC
	}
	var names map[string]string
	if err := json.Unmarshal(windowsNames, &names); err != nil {
		panic(fmt.Sprintf("timezone: the embedded names of Windows: %v", err)) // they are part of the program
	}
	if summer, is := strings.CutSuffix(name, " Daylight Time"); is {
		name = summer + " Standard Time"
	}
	for known, zone := range names {
		if strings.EqualFold(known, name) {
			return zone
		}
	}
	return ""
}

var offsetName = regexp.MustCompile(`^(?i:GMT|UTC)?\s*([+-])(\d{1,2})(?::?(\d{2}))?$`)

// fixedOffset reads a name that is an offset from UTC; nil is none.
func fixedOffset(name string) *time.Location {
	parts := offsetName.FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	seconds, ok := offsetOf(parts[1], parts[2], parts[3])
	if !ok {
		return nil
	}
	return time.FixedZone(name, seconds)
}

// offsetOf returns an offset in seconds from its sign, hours and minutes, which may be missing.
func offsetOf(sign, hours, minutes string) (seconds int, ok bool) {
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	if h > 14 || m > 59 {
		return 0, false
	}
	seconds = h*3600 + m*60
	if sign == "-" {
		seconds = -seconds
	}
	return seconds, true
}

var shownName = regexp.MustCompile(`^\((?i:GMT|UTC)(?:([+-])(\d{2})[:.]?(\d{2}))?\)\s*(.+)$`)

// findShown reads a zone as Outlook shows it: the offset in winter and cities, or a name that Windows knows. The offset has
// to be that of the zone; nil is none. Between cities there are commas, or slashes.
func (f finder) findShown(name string) *time.Location {
	parts := shownName.FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	offset, ok := offsetOf(parts[1], parts[2], parts[3])
	if !ok {
		return nil
	}
	what := parts[4]
	if strings.EqualFold(what, "Coordinated Universal Time") {
		return time.UTC
	}
	if before, _, _ := strings.Cut(what, " Time"); before != what {
		if zone := f.find(before + " Standard Time"); zone != nil && standardOffset(zone) == offset {
			return zone
		}
	}
	for _, city := range strings.FieldsFunc(what, func(r rune) bool { return r == ',' || r == '/' || r == ';' }) {
		city = strings.ReplaceAll(strings.TrimSpace(city), " ", "_")
		for _, file := range f.archive.File {
			if !strings.EqualFold(path.Base(file.Name), city) {
				continue
			}
			if zone := f.load(file.Name); zone != nil && standardOffset(zone) == offset {
				return zone
			}
		}
	}
	return nil
}

var twoOffsets = regexp.MustCompile(`^(?i:GMT|UTC)\s*([+-])(\d{2}):?(\d{2})\s*\((?i:standard)\)\s*/\s*` +
	`(?i:GMT|UTC)\s*([+-])(\d{2}):?(\d{2})\s*\((?i:daylight)\)$`)

// findByOffsets reads a zone that is named by its two offsets. All zones of the database that have these have to change
// them at the same moments; nil is none.
func (f finder) findByOffsets(name string) *time.Location {
	parts := twoOffsets.FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	standard, okStandard := offsetOf(parts[1], parts[2], parts[3])
	daylight, okDaylight := offsetOf(parts[4], parts[5], parts[6])
	if !okStandard || !okDaylight || standard >= daylight {
		return nil
	}
	var found *time.Location
	for _, file := range f.archive.File {
		zone := f.load(file.Name)
		if zone == nil || standardOffset(zone) != standard || !hasOffset(zone, daylight) {
			continue
		}
		if found != nil && !changesWith(zone, found) {
			return nil
		}
		found = zone
	}
	return found
}

// hasOffset reports whether a zone has an offset in January or in July.
func hasOffset(zone *time.Location, offset int) bool {
	for _, month := range [...]time.Month{time.January, time.July} {
		if _, has := time.Date(sampleYear, month, 1, 0, 0, 0, 0, time.UTC).In(zone).Zone(); has == offset {
			return true
		}
	}
	return false
}

// changesWith reports whether two zones have the same offsets from the same moments on, in a year.
func changesWith(one, other *time.Location) bool {
	at, end := time.Date(sampleYear, time.January, 1, 0, 0, 0, 0, time.UTC), time.Date(sampleYear+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	for at.Before(end) {
		_, offset := at.In(one).Zone()
		_, has := at.In(other).Zone()
		_, next := at.In(one).ZoneBounds()
		_, otherNext := at.In(other).ZoneBounds()
		if offset != has || !next.Equal(otherNext) {
			return false
		}
		if next.IsZero() {
			return true
		}
		at = next
	}
	return true
}

// sampleYear is the year in which zones are compared.
const sampleYear = 2026

// standardOffset is the smaller offset of a year, in seconds: the one that Outlook shows.
func standardOffset(zone *time.Location) int {
	_, january := time.Date(sampleYear, time.January, 1, 0, 0, 0, 0, time.UTC).In(zone).Zone()
	_, july := time.Date(sampleYear, time.July, 1, 0, 0, 0, 0, time.UTC).In(zone).Zone()
	return min(january, july)
}
