package timezone_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"podium/schemas/timezone"
)

// offset returns how far a zone is ahead of UTC at noon of a day, in hours.
func offset(zone *time.Location, month time.Month) float64 {
	_, seconds := time.Date(2026, month, 15, 12, 0, 0, 0, time.UTC).In(zone).Zone()
	return float64(seconds) / 3600
}

// TestLoad: a zone is known by its name alone, and is that of the database that comes along.
func TestLoad(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"": 0, "UTC": 0, "Europe/Berlin": 2, "America/New_York": -4} {
		zone, err := timezone.Load(name)
		if err != nil {
			t.Fatal(name, err)
		}
		if found := offset(zone, time.July); found != want {
			t.Errorf("%q is %v h ahead", name, found)
		}
	}
	for _, name := range []string{"Berlin", "Europe", "../etc/passwd", "Local", "/Europe/Berlin"} {
		if zone, err := timezone.Load(name); !errors.Is(err, timezone.ErrUnknown) {
			t.Errorf("%q is %v, %v", name, zone, err)
		}
	}
}

// TestFindReadsTheNamesOfCalendarPrograms: by IANA, Windows, vendors, offsets and as Outlook shows them.
func TestFindReadsTheNamesOfCalendarPrograms(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]float64{ // in winter and in summer
		"Europe/Berlin": {1, 2}, "europe/berlin": {1, 2}, `"Europe/Berlin"`: {1, 2}, "UTC": {0, 0}, "utc": {0, 0}, "Z": {0, 0}, "GMT": {0, 0},
		"W. Europe Standard Time": {1, 2}, "w. europe standard time": {1, 2}, "Romance Standard Time": {1, 2}, "W. Europe Daylight Time": {1, 2},
		"Pacific Standard Time": {-8, -7}, "India Standard Time": {5.5, 5.5}, "UTC-11": {-11, -11}, "Kamchatka Standard Time": {12, 12},
		"/vendor/20260101_1/Europe/Berlin": {1, 2}, "/freeassociation.sourceforge.net/Tzfile/America/New_York": {-5, -4},
		"/mozilla.org/20050126_1/America/Argentina/Buenos_Aires": {-3, -3}, "tzone://Microsoft/Utc": {0, 0},
		"GMT+0100": {1, 1}, "GMT-05:30": {-5.5, -5.5}, "UTC+2": {2, 2}, "+01:00": {1, 1}, "Etc/GMT+5": {-5, -5},
		"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna":      {1, 2},
		`(UTC+01:00) Amsterdam\, Berlin\, Bern`:                             {1, 2},
		"(GMT+01.00) Brussels, Copenhagen, Madrid, Paris":                   {1, 2},
		"(GMT+01:00) Amsterdam / Berlin / Bern / Rome / Stockholm / Vienna": {1, 2},
		"GMT +0100 (Standard) / GMT +0200 (Daylight)":                       {1, 2},
		"UTC+00:00 (Standard)/UTC+01:00 (Daylight)":                         {0, 1},
		"(UTC+02:00) Athens/Bucharest":                                      {2, 3},
		"(UTC-05:00) Eastern Time (US & Canada)":                            {-5, -4},
		"(UTC) Dublin, Edinburgh, Lisbon, London":                           {0, 1},
		"(UTC) Coordinated Universal Time":                                  {0, 0},
		"(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi":                   {5.5, 5.5},
		"(UTC+09:00) Osaka, Sapporo, Tokyo":                                 {9, 9},
		"(UTC+02:00) Helsinki, Kyiv, Riga, Sofia, Tallinn, Vilnius":         {2, 3},
	} {
		zone := timezone.Find(name)
		if zone == nil {
			t.Errorf("%q is unknown", name)
			continue
		}
		if winter, summer := offset(zone, time.January), offset(zone, time.July); winter != want[0] || summer != want[1] {
			t.Errorf("%q is %v and %v h ahead, want %v", name, winter, summer, want)
		}
	}
	for _, name := range []string{
		"", "Customized Time Zone", "Nowhere/Else", "(UTC+03:00) Berlin", "(UTC+01:00) Mittelerde", "GMT+25", "Time", "GMT -0500 (Standard) / GMT -0400 (Daylight)", "GMT +0200 (Standard) / GMT +0100 (Daylight)", "/", "../../etc/passwd",
		strings.Repeat("/Europe", 1000) + "/Berlin", "Europe", "Berlin",
	} {
		if zone := timezone.Find(name); zone != nil {
			t.Errorf("%.40q is %v", name, zone)
		}
	}
}

// TestWindowsZonesAreInTheDatabase: each name of Windows leads to a zone.
func TestWindowsZonesAreInTheDatabase(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("windows.json")
	if err != nil {
		t.Fatal(err)
	}
	var names map[string]string
	if err := json.Unmarshal(content, &names); err != nil {
		t.Fatal(err)
	}
	if len(names) < 130 {
		t.Errorf("only %d names", len(names))
	}
	for name, zone := range names {
		if _, err := timezone.Load(zone); err != nil || timezone.Find(name) == nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestDefineReadsVTIMEZONE: a definition tells the offset at each moment, by rules, dates, or once for all.
func TestDefineReadsVTIMEZONE(t *testing.T) {
	t.Parallel()
	outlook := []timezone.Observance{
		{Start: "16010101T030000", From: "+0200", To: "+0100", Rules: []string{"FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10"}},
		{Start: "16010101T020000", From: "+0100", To: "+0200", Rules: []string{"FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3"}},
	}
	dated := []timezone.Observance{
		{Start: "20251026T030000", From: "+0200", To: "+0100", Dates: []string{"20251026T030000,20261025T030000"}},
		{Start: "20260329T020000", From: "+0100", To: "+0200"},
	}
	ended := []timezone.Observance{
		{Start: "20000402T020000", From: "-0500", To: "-0400", Rules: []string{"FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20250406T070000Z"}},
		{Start: "20001029T020000", From: "-0400", To: "-0500", Rules: []string{"FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU"}},
	}
	for name, c := range map[string]struct {
		observances []timezone.Observance
		local, want string
	}{
		"winter":                      {outlook, "2026-12-23T15:00:00", "2026-12-23T14:00:00Z"},
		"summer":                      {outlook, "2026-07-23T15:00:00", "2026-07-23T13:00:00Z"},
		"a year far ahead":            {outlook, "2090-07-23T15:00:00", "2090-07-23T13:00:00Z"},
		"before the clock is changed": {outlook, "2026-03-29T01:59:00", "2026-03-29T00:59:00Z"},
		"after the clock is changed":  {outlook, "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"},
		"one offset":                  {[]timezone.Observance{{Start: "16010101T000000", From: "+0545", To: "+0545"}}, "2026-03-29T03:00:00", "2026-03-28T21:15:00Z"},
		"dates, in summer":            {dated, "2026-08-01T12:00:00", "2026-08-01T10:00:00Z"},
		"dates, after the last":       {dated, "2026-12-01T12:00:00", "2026-12-01T11:00:00Z"},
		"dates, before the first":     {dated, "2025-08-01T12:00:00", "2025-08-01T10:00:00Z"},
		"the last summer of a rule":   {ended, "2025-07-01T12:00:00", "2025-07-01T16:00:00Z"},
		"a rule that has ended":       {ended, "2026-07-01T12:00:00", "2026-07-01T17:00:00Z"},
		"seconds":                     {[]timezone.Observance{{Start: "19000101T000000", From: "-000115", To: "-000115"}}, "2026-03-29T03:00:00", "2026-03-29T03:01:15Z"},
	} {
		zone, err := timezone.Define("Customized Time Zone", c.observances)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		at, err := time.ParseInLocation("2006-01-02T15:04:05", c.local, zone)
		if found := at.UTC().Format(time.RFC3339); err != nil || found != c.want {
			t.Errorf("%s: %s, %v; want %s", name, found, err, c.want)
		}
	}
	sound := outlook[0]
	for name, change := range map[string]func(*timezone.Observance){
		"no start":              func(o *timezone.Observance) { o.Start = "" },
		"no offset":             func(o *timezone.Observance) { o.To = "" },
		"an offset of a day":    func(o *timezone.Observance) { o.From = "+2400" },
		"a rule by the hour":    func(o *timezone.Observance) { o.Rules = []string{"FREQ=HOURLY"} },
		"a rule of each second": func(o *timezone.Observance) { o.Rules = []string{"FREQ=YEARLY;BYSECOND=1,2,3"} },
		"a rule of each day":    func(o *timezone.Observance) { o.Rules = []string{"FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"} },
		"no rule":               func(o *timezone.Observance) { o.Rules = []string{"every year"} },
		"a date that is none":   func(o *timezone.Observance) { o.Dates = []string{"tomorrow"} },
	} {
		broken := sound
		change(&broken)
		if zone, err := timezone.Define("x", []timezone.Observance{broken}); !errors.Is(err, timezone.ErrDefinition) {
			t.Errorf("%s: %v, %v", name, zone, err)
		}
	}
	for _, count := range []int{0, 1000} {
		if _, err := timezone.Define("x", make([]timezone.Observance, count)); !errors.Is(err, timezone.ErrDefinition) {
			t.Errorf("%d observances: %v", count, err)
		}
	}
}
