package caldav

import (
	"strings"
	"time"

	"podium/agents/dav"
)

// wanted is what a request asks for.
type wanted struct {
	Action string          `json:"action"`
	Data   appointmentData `json:"appointment_data"`
}

type appointmentData struct {
	Date            string `json:"date"`
	Time            string `json:"time"`
	Person          string `json:"person"`
	DurationMinutes int    `json:"duration_minutes"`
	Reason          string `json:"reason"`
	NewDate         string `json:"new_date"`
	NewTime         string `json:"new_time"`
}

func (w *wanted) summary() string {
	if w.Data.Reason == "" {
		return w.Data.Person
	}
	return w.Data.Person + ": " + w.Data.Reason
}

// A refusal is what is not done, and why: a sentence with its places.
type refusal struct {
	key    string
	places []string
	free   []Slot    // that could be had instead
	on     time.Time // the day of these; zero is the one that was asked for
}

// Error implements error, for the log: without what anybody has said.
func (r *refusal) Error() string { return "not done: " + r.key }

func refuse(key string, places ...string) error { return &refusal{key: key, places: places} }

const (
	maxName    = 200
	maxMinutes = 24 * 60
)

// read takes the arguments over, and holds them to what the agent can do.
func (j *job) read() error {
	if err := dav.ReadArguments(j.Request, j.config.Members, &j.wanted); err != nil {
		return j.failure(&refusal{key: "arguments"})
	}
	data := &j.wanted.Data
	data.Person, data.Reason = dav.Plain(data.Person, maxName), dav.Plain(data.Reason, maxText)
	for _, day := range [...]string{data.Date, data.NewDate} {
		if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
			return j.failure(&refusal{key: "arguments"})
		}
	}
	for _, clock := range [...]string{data.Time, data.NewTime} {
		if _, err := time.Parse(clockLayout, clock); err != nil && clock != "" {
			return j.failure(&refusal{key: "arguments"})
		}
	}
	if data.DurationMinutes < 0 || data.DurationMinutes > maxMinutes {
		return j.failure(&refusal{key: "arguments"})
	}
	return nil
}

const clockLayout = "15:04"

// midnight is the beginning of a day, and of the next one.
func (j *job) midnight(day string) (from, until time.Time) {
	from, _ = time.ParseInLocation(time.DateOnly, day, j.config.Location) // it is a day: see read
	return from, from.AddDate(0, 0, 1)
}

// at is a time of a day. It fails on times that the clock passes over that day.
func (j *job) at(day, clock string) (time.Time, error) {
	at, err := time.ParseInLocation(time.DateOnly+" "+clockLayout, day+" "+clock, j.config.Location)
	if err != nil || at.Format(time.DateOnly+" "+clockLayout) != day+" "+clock {
		return time.Time{}, refuse("no_such_time", "{date}", j.day(day), "{time}", clock)
	}
	return at, nil
}

// clockOf tells a time of a day; its end is 24:00.
func clockOf(at, day time.Time) string {
	if at.YearDay() != day.YearDay() && at.Hour() == 0 && at.Minute() == 0 {
		return "24:00"
	}
	return at.Format(clockLayout)
}

// mine reports whether an appointment is what a request describes: by its day, its time and the name in it, as far as
// they are said.
func (w *wanted) mine(a *appointment) bool {
	return (w.Data.Date == "" || a.start.Format(time.DateOnly) == w.Data.Date) &&
		(w.Data.Time == "" || !a.allDay && a.start.Format(clockLayout) == w.Data.Time) &&
		(strings.TrimSpace(w.Data.Person) == "" || dav.Matches(w.Data.Person, a.summary))
}
