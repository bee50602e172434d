package caldav_test

import (
	"strings"
	"testing"

	"podium/agents/dav/radicale"
)

// TestEntryOverMidnightIsOnEachOfItsDays: an entry with times that goes on after midnight is listed on each of its days, with
// its end, and a day that it fills has nothing free.
func TestEntryOverMidnightIsOnEachOfItsDays(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	entry(t, server, "congress", "DTSTART;TZID=Europe/Berlin:20260331T160000", "DTEND;TZID=Europe/Berlin:20260402T100000", "SUMMARY:Congress")
	entry(t, server, "night", "DTSTART;TZID=Europe/Berlin:20260407T220000", "DTEND;TZID=Europe/Berlin:20260408T060000", "RRULE:FREQ=DAILY;COUNT=2", "SUMMARY:Night")
	for day, wants := range map[string][]string{
		"2026-03-30": {"kein Termin"},
		"2026-03-31": {"31.03.2026, 16:00 Uhr, bis 02.04.2026, 10:00 Uhr: Congress"},
		"2026-04-01": {"31.03.2026, 16:00 Uhr, bis 02.04.2026, 10:00 Uhr: Congress", "An diesem Tag ist nichts frei."},
		"2026-04-02": {"31.03.2026, 16:00 Uhr, bis 02.04.2026, 10:00 Uhr: Congress"},
		"2026-04-03": {"kein Termin"},
		"2026-04-08": {"07.04.2026, 22:00 Uhr, bis 08.04.2026, 06:00 Uhr: Night", "08.04.2026, 22:00 Uhr, bis 09.04.2026, 06:00 Uhr: Night"},
		"2026-04-10": {"kein Termin"},
	} {
		outcome, _ := handled(t, made, asked("e"+day, `{"action":"query","appointment_data":{"date":"`+day+`"}}`))
		for _, want := range wants {
			if !strings.Contains(outcome.Text, want) {
				t.Errorf("%s: %q, want %q", day, outcome.Text, want)
			}
		}
	}
}
