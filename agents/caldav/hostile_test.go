package caldav_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"podium/agents/dav/radicale"
)

// TestTimeIsThatOfTheEntry: a series runs by the clock of its own zone, and a duration of days ends at the same time of another day, also
// where the clock is changed in between.
func TestTimeIsThatOfTheEntry(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	entry(t, server, "utc", "DTSTART:20260105T080000Z", "DTEND:20260105T083000Z", "RRULE:FREQ=WEEKLY")
	entry(t, server, "newyork", "DTSTART;TZID=America/New_York:20260105T200000", "DURATION:PT30M", "RRULE:FREQ=WEEKLY;BYDAY=MO", "EXDATE;TZID=America/New_York:20260406T200000")
	entry(t, server, "nominal", "DTSTART;TZID=Europe/Berlin:20261024T090000", "DURATION:P1D")
	entry(t, server, "day", "DTSTART;VALUE=DATE:20271031", "DURATION:P1D")
	entry(t, server, "until", "DTSTART;TZID=Europe/Berlin:20260415T110000", "DTEND;TZID=Europe/Berlin:20260415T113000", "RRULE:FREQ=DAILY;UNTIL=20260416")
	for at, taken := range map[string]bool{
		"2026-03-09 09:00": true, "2026-03-09 10:00": false, "2026-04-06 10:00": true, "2026-04-06 09:00": false, // 8 UTC in winter and in summer
		"2026-03-17 01:00": true, "2026-03-17 02:00": false, "2026-03-31 02:00": true, "2026-03-16 01:00": false, "2026-04-07 02:00": false,
		"2026-10-25 08:15": true, "2026-10-25 09:00": false, "2027-10-31 23:15": true, "2027-11-01 00:00": false,
		"2026-04-16 11:00": true, "2026-04-17 11:00": false,
	} {
		day, clock, _ := strings.Cut(at, " ")
		_, err := made.Handle(t.Context(), booking(at, day, clock, "Ann").WithPermit(func(context.Context) error { return errFree }), silent)
		if free := errors.Is(err, errFree); free == taken {
			t.Errorf("%s: taken %t, %v", at, taken, err)
		}
	}
}

// listing is a server with one calendar that answers every question about it with the same words.
func listing(tb testing.TB, said string) string {
	tb.Helper()
	const begin = `<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case "PROPFIND":
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = io.WriteString(w, begin+`<response><href>`+radicale.Calendar+`</href><propstat><prop><resourcetype><C:calendar/></resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`)
		case "REPORT":
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = io.WriteString(w, begin+said+`</multistatus>`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	tb.Cleanup(server.Close)
	return server.URL
}

// TestWhatAServerKeepsBackIsNotFree: a listing that says of an entry, or of itself, that it could not be given is no sign of free time.
func TestWhatAServerKeepsBackIsNotFree(t *testing.T) {
	t.Parallel()
	data := `<getetag>"1"</getetag><C:calendar-data>` + calendarOf("x", "DTSTART:20260330T150000Z", "DTEND:20260330T153000Z") + `</C:calendar-data>`
	one := func(path, status, properties string) string {
		return `<response><href>` + path + `</href><propstat><prop>` + properties + `</prop><status>HTTP/1.1 ` + status + `</status></propstat></response>`
	}
	whole := one(radicale.Calendar+"x.ics", "200 OK", data)
	backwards := strings.NewReplacer("DTEND:20260330T153000Z", "DTEND:20260330T060000Z").Replace(data)
	for name, c := range map[string]struct {
		said string
		free bool
	}{
		"whole":                    {whole, true},
		"nothing":                  {"", true},
		"the collection itself":    {whole + one(radicale.Calendar, "404 Not Found", `<C:calendar-data/>`), true},
		"data not given":           {whole + one(radicale.Calendar+"y.ics", "403 Forbidden", `<C:calendar-data/>`), false},
		"data not found":           {one(radicale.Calendar+"y.ics", "200 OK", `<getetag>"2"</getetag>`) + whole, false},
		"data empty":               {one(radicale.Calendar+"y.ics", "200 OK", `<getetag>"2"</getetag><C:calendar-data/>`), false},
		"an entry that fails":      {whole + `<response><href>` + radicale.Calendar + `y.ics</href><status>HTTP/1.1 500 Internal Server Error</status></response>`, false},
		"cut short by a limit":     {whole + `<response><href>` + radicale.Calendar + `</href><status>HTTP/1.1 507 Insufficient Storage</status></response>`, false},
		"two parts of an entry":    {strings.Replace(whole, "</response>", `<propstat><prop><displayname/></prop><status>HTTP/1.1 404 Not Found</status></propstat></response>`, 1), true},
		"gone since":               {whole + `<response><href>` + radicale.Calendar + `y.ics</href><status>HTTP/1.1 404 Not Found</status></response>`, true},
		"it ends before it begins": {one(radicale.Calendar+"y.ics", "200 OK", backwards), false},
	} {
		made := newAgent(t, listing(t, c.said))
		_, err := made.Handle(t.Context(), booking("e", "2026-03-30", "09:00", "Ann").WithPermit(func(context.Context) error { return errFree }), silent)
		if free := errors.Is(err, errFree); free != c.free {
			t.Errorf("%s: free %t, %v", name, free, err)
		}
	}
}

// TestBrokenEntryTakesWhatItMayTouch: an entry that cannot be read takes the times that it may have, and no others: all
// from its start on, all before its end where it has no start, and none where it has neither. Lists tell of each.
func TestBrokenEntryTakesWhatItMayTouch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		times map[string]bool // taken
	}{
		"no start":                {[]string{"SUMMARY:x"}, map[string]bool{"2026-03-30 09:00": false, "2026-03-31 15:00": false}},
		"no start, with a length": {[]string{"DURATION:PT1H"}, map[string]bool{"2026-03-30 15:00": false}},
		"no start, with an end": {[]string{"DTEND:20260330T130000Z"}, map[string]bool{
			"2026-03-29 10:00": true, "2026-03-30 09:00": true, "2026-03-30 15:00": false, "2026-03-31 09:00": false,
		}},
		"no start, but a rule": {[]string{"RRULE:FREQ=DAILY"}, map[string]bool{"2026-03-30 09:00": true}},
		"no start, and a place in a series": {[]string{"RECURRENCE-ID:20260330T130000Z"}, map[string]bool{
			"2026-03-30 09:00": false, "2026-03-30 15:00": true, "2026-03-31 09:00": true,
		}},
		"an end that is none": {[]string{"DTSTART:20260330T130000Z", "DTEND:later"}, map[string]bool{"2026-03-30 09:00": true}},
		"a length that is none": {[]string{"DTSTART:20260330T130000Z", "DURATION:long"}, map[string]bool{
			"2026-03-29 10:00": false, "2026-03-30 09:00": false, "2026-03-30 15:00": true, "2026-03-31 09:00": true,
		}},
		"a rule by the hour": {[]string{"DTSTART:20260330T130000Z", "RRULE:FREQ=HOURLY"}, map[string]bool{
			"2026-03-30 09:00": false, "2026-03-30 15:30": true, "2026-04-30 09:00": true,
		}},
		"by the clock of an unknown zone": {[]string{"DTSTART;TZID=Nowhere/Land:20260330T130000", "RRULE:FREQ=HOURLY"}, map[string]bool{
			"2026-03-29 23:00": false, "2026-03-30 09:00": true,
		}},
		"the end before the start": {[]string{"DTSTART:20260330T130000Z", "DTEND:20260330T110000Z"}, map[string]bool{
			"2026-03-30 09:00": false, "2026-03-30 13:00": true,
		}},
		"a start that is none":       {[]string{"DTSTART:today"}, map[string]bool{"2026-03-30 09:00": true}},
		"further days that are none": {[]string{"DTSTART:20260330T130000Z", "RDATE:someday"}, map[string]bool{"2026-03-29 10:00": true}},
	} {
		made := listed(t, "", c.lines...)
		checkTimes(t, name, made, c.times)
		outcome, _ := handled(t, made, asked("q"+name, `{"action":"query","appointment_data":{"date":"2026-03-30"}}`))
		if len(outcome.Issues) != 1 {
			t.Errorf("%s: a list says %+v", name, outcome.Issues)
		}
	}
}
