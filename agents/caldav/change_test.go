package caldav_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"podium/agents/caldav"
	"podium/agents/dav/radicale"
	"podium/bus/agent"
	"podium/schemas"
)

// TestAppointmentIsMoved: by name or time, with everything else of it as it was, and not onto another one.
func TestAppointmentIsMoved(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	entry(t, server, "mine", "DTSTART;TZID=Europe/Berlin:20260330T090000", "DURATION:PT45M", "SUMMARY:Jürgen Müller-Größ", "X-OTHER;X=1:kept", "SEQUENCE:3",
		"BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "DESCRIPTION:x", "END:VALARM")
	handled(t, made, booking("e1", "2026-03-31", "11:00", "Ann"))
	failure := failed(t, made, asked("e2", `{"action":"reschedule","appointment_data":{"person":"juergen mueller-groess","new_date":"2026-03-31","new_time":"10:30"}}`))
	if failure.Message != "Diese Zeit ist belegt: 11:00–11:30." {
		t.Errorf("%+v", failure)
	}
	outcome, result := handled(t, made, asked("e3", `{"action":"reschedule","appointment_data":{"person":"MÜLLER-Größ","new_date":"2026-03-31"}}`))
	want := caldav.Listed{Date: "2026-03-31", Time: "09:00", DurationMinutes: 45, Summary: "Jürgen Müller-Größ", WasDate: "2026-03-30", WasTime: "09:00"}
	if len(result.Appointments) != 1 || result.Appointments[0] != want ||
		outcome.Text != "Der Termin ist verlegt: von 30.03.2026, 09:00 Uhr auf 31.03.2026, 09:00 Uhr, 45 Minuten, Jürgen Müller-Größ." {
		t.Errorf("%q, %+v", outcome.Text, result)
	}
	text := server.Read(t, radicale.Calendar+"mine.ics")
	for _, kept := range []string{"X-OTHER;X=1:kept", "TRIGGER:-PT15M", "UID:mine", "SEQUENCE:4", "20260331T070000Z", "20260331T074500Z"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%s is not in\n%s", kept, text)
		}
	}
	// Half an hour later is in its own way, and in nobody else's.
	if _, result := handled(t, made, asked("e4", `{"action":"reschedule","appointment_data":{"date":"2026-03-31","time":"09:00","new_time":"09:30"}}`)); result.Appointments[0].Time != "09:30" {
		t.Errorf("%+v", result)
	}
	if failure := failed(t, made, asked("e5", `{"action":"reschedule","appointment_data":{"date":"2026-03-31","time":"09:30","new_date":"2026-03-31"}}`)); !strings.Contains(failure.Message, "schon zu dieser Zeit") {
		t.Errorf("%+v", failure)
	}
}

// TestSomebodyWasFaster: what has changed since it was read is neither moved nor deleted, and another attempt may look again.
func TestSomebodyWasFaster(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	for _, arguments := range []string{
		`{"action":"reschedule","appointment_data":{"date":"2026-03-30","new_date":"2026-03-31"}}`,
		`{"action":"cancel","appointment_data":{"date":"2026-03-30"}}`,
	} {
		entry(t, server, "one", "DTSTART:20260330T070000Z", "DTEND:20260330T073000Z", "SUMMARY:before")
		failure := failed(t, made, asked("e", arguments).WithPermit(meanwhile(func() {
			entry(t, server, "one", "DTSTART:20260330T080000Z", "DTEND:20260330T083000Z", "SUMMARY:after")
		})))
		if !strings.HasPrefix(failure.Message, "Jemand war schneller") || failure.Permanent || failure.Unknown {
			t.Errorf("%s: %+v", arguments, failure)
		}
		if text := server.Read(t, radicale.Calendar+"one.ics"); !strings.Contains(text, "SUMMARY:after") || !strings.Contains(text, "20260330T080000Z") {
			t.Errorf("%s: it was overwritten:\n%s", arguments, text)
		}
	}
}

// TestWhichOneIsMeant: of several nobody is taken by guess. What is asked for tells them apart, and shows no names.
func TestWhichOneIsMeant(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	entry(t, server, "a", "DTSTART:20260330T070000Z", "DURATION:PT30M", "SUMMARY:Anna Weber")
	entry(t, server, "b", "DTSTART:20260330T080000Z", "DURATION:PT30M", "SUMMARY:Bert Braun")
	entry(t, server, "c", "DTSTART:20260330T080000Z", "DURATION:PT15M", "SUMMARY:Carl Cohn")
	entry(t, server, "d", "DTSTART:20260402T070000Z", "DURATION:PT30M", "SUMMARY:Weber\\, Anna: Kontrolle")
	request := asked("e1", `{"action":"cancel","appointment_data":{"person":"Anna Weber"}}`)
	for step, want := range []struct{ name, question, answer string }{
		{"appointment_data.date", "Bitte den Tag nennen: 30.03.2026, 09:00 Uhr; 02.04.2026, 09:00 Uhr.", `{"appointment_data":{"date":"2026-04-02"}}`},
	} {
		outcome, _ := handled(t, made, request)
		if outcome.Status != schemas.StatusBlocked || outcome.Needs[0].Name != want.name || !strings.HasSuffix(outcome.Needs[0].Question["de"], want.question) {
			t.Fatalf("step %d: %+v", step, outcome.Needs)
		}
		request = answered(request, want.answer)
	}
	if _, result := handled(t, made, request); result.Appointments[0].Date != "2026-04-02" || stored(t, server) != 3 {
		t.Errorf("%+v", result)
	}
	request = asked("e2", `{"action":"cancel","appointment_data":{"date":"2026-03-30"}}`)
	for step, want := range []struct{ name, schema, answer string }{
		{"appointment_data.time", `{"type":"string","enum":["09:00","10:00"]}`, `{"appointment_data":{"time":"10:00"}}`},
		{"appointment_data.person", `"minLength":2`, `{"appointment_data":{"person":"Cohn"}}`},
	} {
		outcome, _ := handled(t, made, request)
		if outcome.Status != schemas.StatusBlocked || outcome.Needs[0].Name != want.name || !strings.Contains(string(outcome.Needs[0].Schema), want.schema) {
			t.Fatalf("step %d: %+v", step, outcome.Needs)
		}
		for _, name := range []string{"Weber", "Braun", "Cohn"} {
			if strings.Contains(outcome.Needs[0].Question["de"]+outcome.Needs[0].Question["en"], name) {
				t.Errorf("step %d: the question names %s", step, name)
			}
		}
		request = answered(request, want.answer)
	}
	if _, result := handled(t, made, request); result.Appointments[0].Summary != "Carl Cohn" || stored(t, server) != 2 {
		t.Errorf("%+v", result)
	}
}

func answered(request *agent.Request, values string) *agent.Request {
	next := again(request)
	next.Payload.Tasks = append([]schemas.Task{}, next.Payload.Tasks...)
	context := &next.Payload.Tasks[0].Context
	context.Answers = append(append([]schemas.InquiryAnswer{}, context.Answers...), schemas.InquiryAnswer{Inquiry: "i", Values: []byte(values)})
	return next
}

// TestWhatIsNotChanged: what is not there, what belongs to a series, what lasts all day, and two that do not differ.
func TestWhatIsNotChanged(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	entry(t, server, "weekly", "DTSTART:20260303T080000Z", "DURATION:PT30M", "RRULE:FREQ=WEEKLY", "SUMMARY:Team")
	entry(t, server, "day", "DTSTART;VALUE=DATE:20260401", "SUMMARY:closed")
	entry(t, server, "twin1", "DTSTART:20260402T080000Z", "DURATION:PT30M", "SUMMARY:Ann")
	entry(t, server, "twin2", "DTSTART:20260402T080000Z", "DURATION:PT30M", "SUMMARY:Ann")
	for arguments, want := range map[string]string{
		`{"action":"cancel","appointment_data":{"person":"Team"}}`:                                 "gehört zu einer Serie",
		`{"action":"reschedule","appointment_data":{"date":"2026-03-31","new_date":"2026-04-15"}}`: "gehört zu einer Serie",
		`{"action":"cancel","appointment_data":{"date":"2026-04-01"}}`:                             "gibt es im Kalender nicht",
		`{"action":"cancel","appointment_data":{"person":"Ann","date":"2026-04-02"}}`:              "unterscheiden sich nicht",
		`{"action":"cancel","appointment_data":{"person":"Nobody"}}`:                               "gibt es im Kalender nicht",
		`{"action":"reschedule","appointment_data":{"person":"Nobody","new_time":"10:00"}}`:        "gibt es im Kalender nicht",
		`{"action":"reschedule","appointment_data":{"new_date":"2026-04-02"}}`:                     "unvollständig",
		`{"action":"cancel","appointment_data":{}}`:                                                "unvollständig",
		`{"action":"schedule","appointment_data":{"date":"2026-04-02","time":"10:00"}}`:            "unvollständig",
		`{"action":"dance","appointment_data":{}}`:                                                 "unvollständig",
		`{"action":"query","appointment_data":[]}`:                                                 "unvollständig",
	} {
		failure := failed(t, made, asked("e", arguments).WithPermit(func(context.Context) error {
			t.Errorf("%s: a permit is asked for", arguments)
			return nil
		}))
		if !strings.Contains(failure.Message, want) || !failure.Permanent || failure.Unknown {
			t.Errorf("%s: %+v", arguments, failure)
		}
	}
	if n := stored(t, server); n != 4 {
		t.Errorf("%d entries are left", n)
	}
}

// TestAppointmentsAreListed: of a day, of somebody, of the days to come; with what is free where the hours are known.
func TestAppointmentsAreListed(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL, func(c *caldav.Config) { c.Hours = caldav.Hours{From: 8 * time.Hour, Until: 12 * time.Hour} })
	entry(t, server, "a", "DTSTART:20260330T070000Z", "DURATION:PT30M", "SUMMARY:Anna Weber")
	entry(t, server, "b", "DTSTART;VALUE=DATE:20260330", "SUMMARY:Messe", "TRANSP:TRANSPARENT")
	entry(t, server, "c", "DTSTART:20260303T080000Z", "DURATION:PT30M", "SUMMARY:Carl Cohn")
	outcome, result := handled(t, made, asked("q1", `{"action":"query","appointment_data":{"date":"2026-03-30"}}`))
	if outcome.Text != "30.03.2026, ganztägig: Messe\n30.03.2026, 09:00 Uhr, 30 Minuten: Anna Weber\nFrei ist an diesem Tag: 08:00–09:00, 09:30–12:00." ||
		len(result.Appointments) != 2 || !result.Appointments[0].AllDay || len(result.Free) != 2 || result.Free[1] != (caldav.Slot{From: "09:30", Until: "12:00"}) {
		t.Errorf("%q, %+v", outcome.Text, result)
	}
	for arguments, want := range map[string]string{
		`{"action":"query","appointment_data":{"person":"weber"}}`:                   "30.03.2026, 09:00 Uhr, 30 Minuten: Anna Weber",
		`{"action":"query","appointment_data":{}}`:                                   "03.03.2026, 09:00 Uhr, 30 Minuten: Carl Cohn\nNachgesehen ist bis Sonntag, 08.03.2026. Für später nennen Sie bitte einen Tag oder einen Namen.",
		`{"action":"query","appointment_data":{"person":"Web"}}`:                     "Dafür steht kein Termin im Kalender.",
		`{"action":"query","appointment_data":{"date":"2026-04-01"}}`:                "Dafür steht kein Termin im Kalender.\nFrei ist an diesem Tag: 08:00–12:00.",
		`{"action":"query","appointment_data":{"date":"2026-03-30","time":"09:00"}}`: "30.03.2026, ganztägig: Messe\n30.03.2026, 09:00 Uhr, 30 Minuten: Anna Weber\nFrei ist an diesem Tag: 08:00–09:00, 09:30–12:00.",
	} {
		if outcome, _ := handled(t, made, asked("q", arguments)); outcome.Text != want {
			t.Errorf("%s: %q", arguments, outcome.Text)
		}
	}
	empty := newAgent(t, radicale.Start(t).URL)
	if outcome, _ := handled(t, empty, asked("q2", `{"action":"query","appointment_data":{}}`)); outcome.Text != "Bis Sonntag, 08.03.2026, steht kein Termin im Kalender. Weiter ist nicht nachgesehen: nennen Sie dafür einen Tag oder einen Namen." {
		t.Errorf("nothing in the days to come: %q", outcome.Text)
	}
}
