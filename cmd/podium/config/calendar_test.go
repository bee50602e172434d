package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"podium/agents/caldav"
	"podium/schemas"
)

const practiceConfig = `
agents:
  calendar: {kind: caldav, url: "URL", user: p, password: q, timezone: Europe/Berlin, hours: {from: "08:00", until: "18:30"}}
  contacts: {kind: carddav, url: "https://10.0.0.9/", user: p, password: q}
profiles:
  desk: {agents: [{name: calendar, on_tainted: allow}, {name: contacts, on_tainted: refuse}], routers: [{kind: default, agent: calendar}], local_only: true}
`

// TestCollectionsAreConfigured: what is not said of a calendar and an address book, and what a profile pins of them: they act outside, and
// their arguments are filled by schemas of their own.
func TestCollectionsAreConfigured(t *testing.T) {
	t.Parallel()
	config, err := parse([]byte(strings.Replace(practiceConfig, "URL", "http://127.0.0.1:5232/x/", 1)), "podium.yaml", lookup)
	if err != nil {
		t.Fatal(err)
	}
	calendar, contacts := config.Agents["calendar"], config.Agents["contacts"]
	if calendar.Concurrency != 1 || time.Duration(calendar.Duration) != caldav.DefaultDuration || contacts.Concurrency != defaultConcurrency {
		t.Errorf("%+v, %+v", calendar, contacts)
	}
	if hours, err := calendar.OpenHours(); err != nil || hours != (caldav.Hours{From: 8 * time.Hour, Until: 18*time.Hour + 30*time.Minute}) {
		t.Errorf("%+v, %v", hours, err)
	}
	profile := config.Profile("desk")
	for _, use := range profile.Agents {
		if use.SideEffects != schemas.SideEffectsExternal || len(use.InputSchema) == 0 || len(use.Arguments) == 0 || use.Heartbeat == 0 {
			t.Errorf("%+v", use)
		}
	}
}

// TestCollectionsStayWhereTheyMay: a profile with local_only reaches no server outside, and a password that crosses a network readable is cautioned about.
func TestCollectionsStayWhereTheyMay(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]struct{ problem, caution string }{
		"http://127.0.0.1:5232/x/": {}, "https://192.168.1.2/x/": {},
		"http://192.168.1.2:5232/x/": {caution: `agent "calendar" sends its password readable over the network`},
		"https://dav.example.org/x/": {problem: `the profile is local_only, and agent "calendar" may go beyond this machine`},
		"http://93.184.216.34:80/x/": {problem: "plain HTTP does not go"},
		"https://u:p@192.168.1.2/x/": {problem: "the URL has a user or a password before its host"},
		"https://192.168.1.2/x/?a=b": {problem: "it has something behind the path"},
		"https://169.254.169.254/x/": {problem: "where no egress leads"},
		"http://localhost:5232/x/":   {problem: "write the address, such as 127.0.0.1:5232"},
	} {
		config, err := parse([]byte(strings.Replace(practiceConfig, "URL", at, 1)), "podium.yaml", lookup)
		if want.problem != "" {
			if err == nil || !strings.Contains(err.Error(), want.problem) {
				t.Errorf("%s: %v", at, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		if cautions := config.Cautions(); len(cautions) > 0 != (want.caution != "") || want.caution != "" && !slices.ContainsFunc(cautions, func(c string) bool { return strings.Contains(c, want.caution) }) {
			t.Errorf("%s: %q", at, cautions)
		}
	}
}

// TestOpeningHoursAreChecked: what cannot be read, what lies where no time is meant, and keys of other kinds.
func TestOpeningHoursAreChecked(t *testing.T) {
	t.Parallel()
	base := strings.Replace(practiceConfig, "URL", "http://127.0.0.1:5232/x/", 1)
	with := func(keys string) (*Config, error) {
		return parse([]byte(strings.Replace(base, `until: "18:30"}}`, `until: "18:30"}, `+keys+"}", 1)), "podium.yaml", lookup)
	}
	config, err := with(`opening_hours: ["Mo-Fr 08:00-12:00", "Mo,Tu,Th 15:00-18:00"], closed: ["2026-12-24"]`)
	if err != nil {
		t.Fatal(err)
	}
	calendar := config.Agents["calendar"]
	opening, err := calendar.Opening()
	if err != nil || len(opening.Week[time.Monday]) != 2 || len(opening.Week[time.Friday]) != 1 || len(opening.Week[time.Sunday]) != 0 || len(opening.Closed) != 1 {
		t.Errorf("%+v, %v", opening, err)
	}
	for keys, want := range map[string]string{
		`opening_hours: ["Di 08:00-12:00"]`:                         `agents.calendar.opening_hours: "Di 08:00-12:00": "Di" is no day: they are Mo, Tu`,
		`opening_hours: ["Mo 07:00-12:00"]`:                         "on Monday it is open outside of hours (08:00 to 18:30)",
		`opening_hours: ["Mo 08:00-12:00", "Mo 11:00-13:00"]`:       "Mo is open twice at 11:00",
		`opening_hours: ["Mo 08:00-12:00"], closed: ["24.12.2026"]`: `"24.12.2026" is no day`,
		`closed: ["2026-12-24"]`:                                    "it goes with opening_hours",
	} {
		if _, err := with(keys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", keys, err)
		}
	}
	elsewhere := strings.Replace(base, `user: p, password: q}`+"\nprofiles", `user: p, password: q, opening_hours: ["Mo 08:00-12:00"]}`+"\nprofiles", 1)
	if _, err := parse([]byte(elsewhere), "podium.yaml", lookup); err == nil || !strings.Contains(err.Error(), "opening_hours") {
		t.Errorf("a key of calendars with contacts: %v", err)
	}
}
