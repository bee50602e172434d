package caldav_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"podium/agents/caldav"
	"podium/agents/dav/radicale"
	"podium/schemas"
)

// TestAppointmentIsBooked: what stands in the calendar is what was asked for, in UTC, and is told in the language of the request.
func TestAppointmentIsBooked(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	outcome, result := handled(t, made, asked("e1", `{"action":"schedule","appointment_data":
		{"date":"2026-03-30","time":"09:00","person":"Jürgen Müller-Größ","duration_minutes":15,"reason":"Kontrolle; a,b\nc"}}`))
	want := caldav.Listed{Date: "2026-03-30", Time: "09:00", DurationMinutes: 15, Summary: "Jürgen Müller-Größ: Kontrolle; a,b c"}
	if outcome.Text != "Der Termin ist eingetragen: 30.03.2026, 09:00 Uhr, 15 Minuten, Jürgen Müller-Größ: Kontrolle; a,b c." ||
		len(result.Appointments) != 1 || result.Appointments[0] != want {
		t.Errorf("%q, %+v", outcome.Text, result)
	}
	names := server.Names(t, radicale.Calendar, ".ics")
	if len(names) != 1 {
		t.Fatalf("%v", names)
	}
	text := server.Read(t, radicale.Calendar+names[0])
	for _, line := range []string{"DTSTART;VALUE=DATE-TIME:20260330T070000Z", "DTEND;VALUE=DATE-TIME:20260330T071500Z", "UID:" + strings.TrimSuffix(names[0], ".ics")} {
		if !strings.Contains(text, line) && !strings.Contains(text, strings.Replace(line, ";VALUE=DATE-TIME", "", 1)) {
			t.Errorf("%s is not in\n%s", line, text)
		}
	}
	english := booking("e2", "2026-03-30", "10:00", "Ann")
	english.Payload.Tasks[0].Context.Constraints = []byte(`{"language":"en"}`)
	if outcome, _ := handled(t, made, english); outcome.Text != "The appointment is booked: 30 March 2026, 10:00, 30 minutes, Ann." {
		t.Errorf("%q", outcome.Text)
	}
}

// TestNothingIsBookedTwice: what overlaps is refused with the time that is taken and without whose it is, before anybody is
// asked for a permit; what borders on it is free. A repeated request is the same appointment.
func TestNothingIsBookedTwice(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL, func(c *caldav.Config) { c.Hours = caldav.Hours{From: 8 * time.Hour, Until: 11 * time.Hour} })
	first := booking("e1", "2026-03-30", "09:00", "Anna Weber")
	handled(t, made, first)
	for _, clock := range []string{"09:00", "08:45", "09:15"} {
		request := booking("other "+clock, "2026-03-30", clock, "Bert Braun").WithPermit(func(context.Context) error {
			t.Errorf("%s: a permit is asked for", clock)
			return nil
		})
		failure := failed(t, made, request)
		if failure.Message != "Diese Zeit ist belegt: 09:00–09:30. Frei ist an diesem Tag: 08:00–09:00, 09:30–11:00." || !failure.Permanent || failure.Unknown {
			t.Errorf("%s: %+v", clock, failure)
		}
		if strings.Contains(failure.Message+failure.Error(), "Weber") {
			t.Errorf("%s: it says whose the time is: %v", clock, failure)
		}
	}
	for _, clock := range []string{"08:30", "09:30"} {
		handled(t, made, booking("next "+clock, "2026-03-30", clock, "Bert Braun"))
	}
	for range 3 {
		first = again(first)
		repeated := first.WithPermit(func(context.Context) error {
			t.Error("a repeat asks for a permit")
			return nil
		})
		if _, result := handled(t, made, repeated); len(result.Appointments) != 1 || result.Appointments[0].Summary != "Anna Weber" {
			t.Errorf("a repeat: %+v", result)
		}
	}
	if n := stored(t, server); n != 3 {
		t.Errorf("%d appointments stand in the calendar", n)
	}
}

// TestWhatOthersHaveEntered: entries of other programs take their time, whatever zone they name, all day and in series; what is
// cancelled, transparent or left out of a series does not.
func TestWhatOthersHaveEntered(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	entry(t, server, "zone", "DTSTART;TZID=America/New_York:20260330T040000", "DURATION:PT30M", "SUMMARY:x") // 10:00 in Berlin
	entry(t, server, "floating", "DTSTART:20260330T120000", "DTEND:20260330T123000")
	entry(t, server, "late", "DTSTART:20260331T233000", "DTEND:20260331T234500") // a server that takes it for UTC has it on another day
	entry(t, server, "transparent", "DTSTART:20260330T110000Z", "DTEND:20260330T120000Z", "TRANSP:TRANSPARENT")
	entry(t, server, "cancelled", "DTSTART:20260330T130000Z", "DTEND:20260330T140000Z", "STATUS:CANCELLED")
	entry(t, server, "day", "DTSTART;VALUE=DATE:20260401", "DTEND;VALUE=DATE:20260402", "SUMMARY:closed")
	entry(t, server, "birthday", "DTSTART;VALUE=DATE:20260402", "TRANSP:TRANSPARENT")
	entry(t, server, "weekly", "DTSTART;TZID=Europe/Berlin:20260106T090000", "DTEND;TZID=Europe/Berlin:20260106T093000", "RRULE:FREQ=WEEKLY;BYDAY=TU",
		"EXDATE;TZID=Europe/Berlin:20260407T090000", "END:VEVENT", "BEGIN:VEVENT", "UID:weekly", "DTSTAMP:20260101T000000Z",
		"RECURRENCE-ID;TZID=Europe/Berlin:20260414T090000", "DTSTART;TZID=Europe/Berlin:20260414T150000", "DTEND;TZID=Europe/Berlin:20260414T153000")
	for at, taken := range map[string]bool{
		"2026-03-30 10:00": true, "2026-03-30 12:15": true, "2026-03-30 13:00": false, "2026-03-30 15:00": false, "2026-03-30 09:30": false, "2026-03-30 10:30": false,
		"2026-04-01 00:30": true, "2026-04-01 23:30": true, "2026-03-31 23:30": true, "2026-03-31 23:00": false, "2026-04-02 00:00": false,
		"2026-03-31 09:00": true, "2026-03-24 09:15": true, "2026-04-07 09:00": false, "2026-04-14 09:00": false, "2026-04-14 15:00": true,
	} {
		day, clock, _ := strings.Cut(at, " ")
		_, err := made.Handle(t.Context(), booking(at, day, clock, "Ann").WithPermit(func(context.Context) error { return errFree }), silent)
		if free := errors.Is(err, errFree); free == taken {
			t.Errorf("%s: taken %t, %v", at, taken, err)
		}
	}
}

var errFree = errors.New("the time is free")

// TestUnreadableIsNotFree: where an entry cannot be read nobody knows which time is free, and nothing is booked.
func TestUnreadableIsNotFree(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	entry(t, server, "zone", "DTSTART;TZID=Nowhere/Land:20260330T150000", "DURATION:PT30M")
	failure := failed(t, made, booking("e1", "2026-03-30", "09:00", "Ann"))
	if !strings.Contains(failure.Message, "nicht zu lesen") || !failure.Permanent || failure.Unknown || stored(t, server) != 1 {
		t.Errorf("%+v", failure)
	}
	handled(t, made, booking("e2", "2026-04-02", "09:00", "Ann"))
	outcome, result := handled(t, made, asked("e3", `{"action":"query","appointment_data":{"date":"2026-03-30"}}`))
	if len(outcome.Issues) != 1 || len(result.Appointments) != 0 {
		t.Errorf("%+v", outcome)
	}
}

// TestTimesThatAreNone: the past, times outside of the hours, and those that the clock passes over.
func TestTimesThatAreNone(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL, func(c *caldav.Config) { c.Hours = caldav.Hours{From: time.Hour, Until: 18 * time.Hour} })
	for at, want := range map[string]string{
		"2026-03-01 10:00": "ist schon vorbei", "2026-03-30 00:59": "Möglich ist am Montag, 30.03.2026: 01:00–18:00 Uhr.", "2026-03-30 17:45": "Möglich ist", "2026-03-29 02:30": "weil die Uhr umgestellt wird",
		"2026-13-30 10:00": "unlesbar", "2026-03-30 25:00": "unlesbar",
	} {
		day, clock, _ := strings.Cut(at, " ")
		if failure := failed(t, made, booking(at, day, clock, "Ann")); !strings.Contains(failure.Message, want) || !failure.Permanent {
			t.Errorf("%s: %+v", at, failure)
		}
	}
	if n := stored(t, server); n != 0 {
		t.Errorf("%d are stored", n)
	}
}

// TestTheTimeIsAskedFor where it is missing, with what is free.
func TestTheTimeIsAskedFor(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL, func(c *caldav.Config) { c.Hours = caldav.Hours{From: 8 * time.Hour, Until: 10 * time.Hour} })
	handled(t, made, booking("e1", "2026-03-30", "08:30", "Anna Weber"))
	request := asked("e2", `{"action":"schedule","appointment_data":{"date":"2026-03-30","person":"Ann"}}`)
	outcome, _ := handled(t, made, request)
	if outcome.Status != schemas.StatusBlocked || len(outcome.Needs) != 1 || outcome.Needs[0].Name != "appointment_data.time" ||
		outcome.Needs[0].Question["de"] != "Um wie viel Uhr? Zum Beispiel 09:30. Frei ist an diesem Tag: 08:00–08:30, 09:00–10:00." {
		t.Fatalf("%+v", outcome)
	}
	next := again(request)
	next.Payload.Tasks[0].Context.Answers = []schemas.InquiryAnswer{{Inquiry: "i", Values: []byte(`{"appointment_data":{"time":"09:00"}}`)}}
	if _, result := handled(t, made, next); len(result.Appointments) != 1 || result.Appointments[0].Time != "09:00" || result.Appointments[0].Summary != "Ann" {
		t.Errorf("%+v", result)
	}
}

// TestSomebodyBooksInBetween: what was booked by somebody else after the look is not overwritten, and whoever has booked is told.
func TestSomebodyBooksInBetween(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	outcome, _ := handled(t, made, booking("e1", "2026-03-30", "09:00", "Ann").WithPermit(meanwhile(func() {
		entry(t, server, "other", "DTSTART:20260330T070000Z", "DTEND:20260330T073000Z")
	})))
	if len(outcome.Issues) != 1 || !strings.Contains(outcome.Issues[0].Description, "jemand anderes") || stored(t, server) != 2 {
		t.Errorf("%+v", outcome)
	}
}

// TestNothingIsWrittenWithoutAPermit, by any action.
func TestNothingIsWrittenWithoutAPermit(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	handled(t, made, booking("e1", "2026-03-30", "09:00", "Ann"))
	name := server.Names(t, radicale.Calendar, ".ics")[0]
	was := server.Read(t, radicale.Calendar+name)
	refused := errors.New("not permitted")
	for _, arguments := range []string{
		`{"action":"schedule","appointment_data":{"date":"2026-03-30","time":"11:00","person":"Bob"}}`,
		`{"action":"reschedule","appointment_data":{"date":"2026-03-30","new_date":"2026-03-31"}}`,
		`{"action":"cancel","appointment_data":{"date":"2026-03-30"}}`,
	} {
		asked := asked("e2", arguments).WithPermit(func(context.Context) error { return refused })
		if _, err := made.Handle(t.Context(), asked, silent); !errors.Is(err, refused) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	if stored(t, server) != 1 || server.Read(t, radicale.Calendar+name) != was {
		t.Error("the calendar has changed")
	}
}
