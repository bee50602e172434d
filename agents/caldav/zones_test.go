package caldav_test

import (
	"context"
	"errors"
	"html"
	"strings"
	"testing"

	"podium/agents/caldav"
	"podium/agents/dav/radicale"
)

// definition is the VTIMEZONE of a zone with the rules of central Europe, as Outlook writes it.
func definition(name string) string {
	return strings.Join([]string{
		"BEGIN:VTIMEZONE", "TZID:" + name,
		"BEGIN:STANDARD", "DTSTART:16010101T030000", "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10", "END:STANDARD",
		"BEGIN:DAYLIGHT", "DTSTART:16010101T020000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3", "END:DAYLIGHT",
		"END:VTIMEZONE", "",
	}, "\r\n")
}

// listed is an agent whose calendar holds one resource: what is defined, and an event of these lines.
func listed(tb testing.TB, defined string, lines ...string) *caldav.Agent {
	tb.Helper()
	body := strings.Replace(calendarOf("x", lines...), "BEGIN:VEVENT", defined+"BEGIN:VEVENT", 1)
	return newAgent(tb, listing(tb, `<response><href>`+radicale.Calendar+`x.ics</href><propstat><prop><getetag>"1"</getetag><C:calendar-data>`+
		html.EscapeString(body)+`</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>`))
}

// checkTimes holds the times of a calendar that are taken, and those that are free, to what is wanted.
func checkTimes(t *testing.T, name string, made *caldav.Agent, taken map[string]bool) {
	t.Helper()
	for at, want := range taken {
		day, clock, _ := strings.Cut(at, " ")
		_, err := made.Handle(t.Context(), booking(at, day, clock, "Ann").WithPermit(func(context.Context) error { return errFree }), silent)
		if free := errors.Is(err, errFree); free == want {
			t.Errorf("%s, %s: taken %t, %v", name, at, want, err)
		}
	}
}

// TestZoneOfTheEntryIsRead: an entry is at its time in the zone that its resource defines, or that its name is known for, and
// takes no other time.
func TestZoneOfTheEntryIsRead(t *testing.T) {
	t.Parallel()
	days := map[string]bool{
		"2026-03-30 15:00": true, "2026-03-30 15:30": true, "2026-03-30 14:30": false, "2026-03-30 16:00": false,
		"2026-03-29 10:00": false, "2026-03-30 10:00": false, "2026-03-31 10:00": false,
	}
	for name, c := range map[string]struct{ defined, parameter string }{
		"Outlook, defined":            {definition("W. Europe Standard Time"), ";TZID=W. Europe Standard Time"},
		"Exchange, defined":           {definition("Customized Time Zone"), ";TZID=Customized Time Zone"},
		"a name of its own, defined":  {definition("Praxis"), `;TZID="Praxis"`},
		"defined, with escapes":       {definition(`(UTC+01:00) Middle Earth\, Shire`), `;TZID="(UTC+01:00) Middle Earth, Shire"`},
		"Windows":                     {"", ";TZID=W. Europe Standard Time"},
		"Windows, in lower case":      {"", ";tzid=romance standard time"},
		"shown, quoted":               {"", `;TZID="(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna"`},
		"shown, without quotes":       {"", `;TZID=(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna`},
		"shown, folded":               {"", ";TZID=(UTC+01:00) Amsterdam, Ber\r\n lin, Bern"},
		"of a vendor":                 {"", ";TZID=/vendor/20260101_1/Europe/Berlin"},
		"of a vendor, and defined":    {definition("/vendor/Europe/Berlin"), ";TZID=/vendor/Europe/Berlin"},
		"an offset":                   {"", ";TZID=GMT+0200"},
		"a definition that is broken": {strings.ReplaceAll(definition("Romance Standard Time"), "TZOFFSETTO", "X-TO"), ";TZID=Romance Standard Time"},
		"by the database":             {strings.ReplaceAll(definition("Europe/Berlin"), "+0", "+1"), ";TZID=Europe/Berlin"},
	} {
		checkTimes(t, name, listed(t, c.defined, "DTSTART"+c.parameter+":20260330T150000", "DTEND"+c.parameter+":20260330T160000"), days)
	}
	weekly := listed(t, definition("Praxis"), "DTSTART;TZID=Praxis:20260318T150000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY", "EXDATE;TZID=Praxis:20260408T150000")
	checkTimes(t, "a series over the change of the clock", weekly, map[string]bool{
		"2026-03-18 15:00": true, "2026-03-25 15:00": true, "2026-04-01 15:00": true, "2026-04-01 16:00": false, "2026-04-08 15:00": false, "2026-10-28 15:30": true,
	})
}

// TestUnknownZoneTakesTheTimesThatItMayBe: an entry in a zone that is neither known nor defined takes all times that it may be,
// and no others; a list says which entry that is.
func TestUnknownZoneTakesTheTimesThatItMayBe(t *testing.T) {
	t.Parallel()
	made := listed(t, "", "DTSTART;TZID=Nowhere/Land:20260330T150000", "DTEND;TZID=Nowhere/Land:20260330T160000", "SUMMARY:Inspection")
	checkTimes(t, "unknown", made, map[string]bool{
		"2026-03-29 10:00": false, "2026-03-30 02:00": false, "2026-03-30 02:45": true, "2026-03-30 15:00": true, "2026-03-31 05:30": true, "2026-03-31 06:00": false,
		"2026-03-31 10:00": false, // 1:00 to 4:00 of the next day, UTC
	})
	for day, issues := range map[string]int{"2026-03-29": 0, "2026-03-30": 1, "2026-03-31": 1, "2026-04-01": 0} {
		outcome, result := handled(t, made, asked("q"+day, `{"action":"query","appointment_data":{"date":"`+day+`"}}`))
		if len(outcome.Issues) != issues || len(result.Appointments) != 0 {
			t.Errorf("%s: %+v", day, outcome)
		}
		if issues == 1 && !strings.Contains(outcome.Issues[0].Description, "Inspection, 30.03.2026, 15:00 Uhr nach seiner eigenen Uhr") {
			t.Errorf("%s: %+v", day, outcome.Issues)
		}
	}
	if failure := failed(t, made, asked("c", `{"action":"cancel","appointment_data":{"date":"2026-03-30","person":"Inspection"}}`)); !strings.Contains(failure.Message, "nicht zu lesen") {
		t.Errorf("%+v", failure)
	}
	half := listed(t, "", "DTSTART;TZID=Nowhere/Land:20260330T150000", "DTEND:20260330T120000Z", "SUMMARY:Inspection")
	checkTimes(t, "an end in another zone", half, map[string]bool{"2026-03-30 02:45": true, "2026-03-30 13:00": true, "2026-03-31 10:00": false})
}

// TestRangeOfASeriesIsMoved: an exception for an occurrence and all later ones moves these, shortens or cancels them.
func TestRangeOfASeriesIsMoved(t *testing.T) {
	t.Parallel()
	series := []string{"DTSTART;TZID=Europe/Berlin:20260309T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY"}
	exception := func(lines ...string) []string {
		return append(append(series[:3:3], "END:VEVENT", "BEGIN:VEVENT", "UID:x", "DTSTAMP:20260101T000000Z"), lines...)
	}
	moved := exception("RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260323T090000", "DTSTART;TZID=Europe/Berlin:20260324T140000", "DURATION:PT30M")
	checkTimes(t, "moved", listed(t, "", moved...), map[string]bool{
		"2026-03-16 09:30": true, "2026-03-23 09:00": false, "2026-03-24 14:00": true, "2026-03-24 14:30": false, "2026-03-30 09:00": false, "2026-03-31 14:15": true, "2026-03-31 09:00": false,
	})
	cancelled := exception("RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260323T090000", "DTSTART;TZID=Europe/Berlin:20260323T090000", "STATUS:CANCELLED")
	checkTimes(t, "cancelled", listed(t, "", cancelled...), map[string]bool{"2026-03-16 09:30": true, "2026-03-23 09:00": false, "2026-03-30 09:00": false})
	prior := exception("RECURRENCE-ID;RANGE=THISANDPRIOR;TZID=Europe/Berlin:20260323T090000", "DTSTART;TZID=Europe/Berlin:20260324T140000")
	checkTimes(t, "a range that is no more", listed(t, "", prior...), map[string]bool{"2026-03-30 12:00": true})
}
