package caldav_test

import (
	"strings"
	"testing"
	"time"

	"podium/agents/caldav"
	"podium/agents/dav/radicale"
)

// practiceWeek is open in the mornings, on three days in the afternoons as well, and never at a weekend; 3 April 2026 is a holiday.
func practiceWeek(tb testing.TB) func(*caldav.Config) {
	tb.Helper()
	opening, err := caldav.ParseOpening([]string{"Mo-Fr 08:00-12:00", "Mo,Tu,Th 15:00-18:00"}, []string{"2026-04-03"})
	if err != nil {
		tb.Fatal(err)
	}
	return func(c *caldav.Config) { c.Opening, c.Duration = opening, 20*time.Minute }
}

// TestOpeningHours: nothing is booked on a Sunday, a holiday, in the midday break or over its beginning, and the answer says when it is open and
// what is free.
func TestOpeningHours_G08(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL, practiceWeek(t))
	for at, want := range map[string]string{
		"2026-03-29 10:00": "Am Sonntag, 29.03.2026, gibt es keine Termine. Frei ist am Montag, 30.03.2026: 08:00–12:00, 15:00–18:00.",
		"2026-04-03 10:00": "Am Freitag, 03.04.2026, gibt es keine Termine. Frei ist am Montag, 06.04.2026: 08:00–12:00, 15:00–18:00.",
		"2026-03-30 13:00": "Zu dieser Zeit gibt es keine Termine. Möglich ist am Montag, 30.03.2026: 08:00–12:00 und 15:00–18:00 Uhr. Frei ist an diesem Tag: 08:00–12:00, 15:00–18:00.",
		"2026-03-30 11:50": "Zu dieser Zeit gibt es keine Termine. Möglich ist am Montag, 30.03.2026: 08:00–12:00 und 15:00–18:00 Uhr. Frei ist an diesem Tag: 08:00–12:00, 15:00–18:00.",
		"2026-04-01 15:00": "Zu dieser Zeit gibt es keine Termine. Möglich ist am Mittwoch, 01.04.2026: 08:00–12:00 Uhr. Frei ist an diesem Tag: 08:00–12:00.",
		"2026-03-01 10:00": "01.03.2026, 10:00 Uhr ist schon vorbei. Frei ist am Montag, 02.03.2026: 09:01–12:00, 15:00–18:00.",
	} {
		day, clock, _ := strings.Cut(at, " ")
		if failure := failed(t, made, booking(at, day, clock, "Ann")); failure.Message != want || !failure.Permanent {
			t.Errorf("%s: %s", at, failure.Message)
		}
	}
	if n := stored(t, server); n != 0 {
		t.Errorf("%d are stored", n)
	}
	for at, clock := range map[string]string{"2026-03-30": "11:40", "2026-03-31": "15:00", "2026-04-02": "17:40"} {
		handled(t, made, booking(at, at, clock, "Ann"))
	}
}

// TestFreeTimeIsToldOfTheNextDay: where the day is full, and when an appointment is moved.
func TestFreeTimeIsToldOfTheNextDay(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL, practiceWeek(t))
	entry(t, server, "full", "DTSTART:20260401T060000Z", "DTEND:20260401T100000Z", "SUMMARY:Fortbildung")
	handled(t, made, booking("e1", "2026-04-02", "08:00", "Anna Weber"))
	if failure := failed(t, made, booking("e2", "2026-04-01", "09:00", "Ann")); failure.Message != "Diese Zeit ist belegt: 08:00–12:00. Frei ist am Donnerstag, 02.04.2026: 08:20–12:00, 15:00–18:00." {
		t.Error(failure.Message)
	}
	move := asked("e3", `{"action":"reschedule","appointment_data":{"person":"Anna Weber","new_date":"2026-04-04"}}`)
	if failure := failed(t, made, move); failure.Message != "Am Samstag, 04.04.2026, gibt es keine Termine. Frei ist am Montag, 06.04.2026: 08:00–12:00, 15:00–18:00." {
		t.Error(failure.Message)
	}
	query := asked("e4", `{"action":"query","appointment_data":{"date":"2026-04-04"}}`)
	if outcome, result := handled(t, made, query); !strings.HasSuffix(outcome.Text, "Am Samstag, 04.04.2026, gibt es keine Termine.") || len(result.Free) != 0 {
		t.Errorf("%s, %+v", outcome.Text, result)
	}
	withoutTime := asked("e5", `{"action":"schedule","appointment_data":{"date":"2026-04-05","person":"Ann"}}`)
	if failure := failed(t, made, withoutTime); !strings.HasPrefix(failure.Message, "Am Sonntag, 05.04.2026, gibt es keine Termine. Frei ist am Montag, ") {
		t.Error(failure.Message)
	}
}

// TestParseOpening: every mistake is named with its line.
func TestParseOpening(t *testing.T) {
	t.Parallel()
	opening, err := caldav.ParseOpening([]string{"Sa-Su 10:00-24:00", "Mo 15:00-18:00", "Mo 08:00-12:00"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	late := []caldav.Span{{From: 10 * time.Hour, Until: 24 * time.Hour}}
	if week := opening.Week; week[0][0] != late[0] || week[6][0] != late[0] || len(week[1]) != 2 || week[1][0].From != 8*time.Hour || len(week[2]) != 0 {
		t.Errorf("%+v", week)
	}
	for line, want := range map[string]string{
		"Di 08:00-12:00": `"Di" is no day`, "Mo 8-12": `"8-12" is no time from and until`, "Mo 12:00-08:00": "is no time from and until", "Mo": "want days and a time",
		"Mo 08:00-12:00 13:00-14:00": "want days and a time", "Mo,Mo 08:00-12:00": "Mo stands there twice", "Mo-Fr 08:00": "is no time from and until", "Mo 8:00-12:00": "is no time",
		"": "want days and a time",
	} {
		if _, err := caldav.ParseOpening([]string{line}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", line, err)
		}
	}
	if _, err := caldav.ParseOpening([]string{"Mo-Fr 08:00-12:00", "We 11:00-13:00"}, []string{"24.12.2026"}); err == nil ||
		!strings.Contains(err.Error(), "We is open twice at 11:00") || !strings.Contains(err.Error(), `"24.12.2026" is no day`) {
		t.Error(err)
	}
	if _, err := caldav.ParseOpening(nil, []string{"2026-12-24"}); err == nil || !strings.Contains(err.Error(), "it goes with opening_hours") {
		t.Error(err)
	}
}
