package caldav

import (
	"strconv"
	"strings"
	"time"

	"podium/bus/agent"
	"podium/schemas"
)

func (j *job) failure(refused *refusal) *agent.Failure {
	said := strings.TrimSpace(j.Say(refused.key, refused.places...) + " " + j.freeText(refused.free, refused.on))
	return &agent.Failure{Message: said, Permanent: true, Err: refused}
}

// day tells a day that stands as 2026-03-30.
func (j *job) day(day string) string {
	from, _ := j.midnight(day)
	return j.dayOf(from)
}

func (j *job) dayOf(at time.Time) string { return at.Format(j.Say("date_layout")) }

func (j *job) when(at time.Time) string {
	return j.Say("when", "{date}", j.dayOf(at), "{time}", at.Format(clockLayout))
}

func minutes(lasts time.Duration) int { return int(lasts / time.Minute) }

func (j *job) tell(key string, told *appointment, further ...string) string {
	places := []string{
		"{when}", j.when(told.start), "{date}", j.dayOf(told.start), "{minutes}", strconv.Itoa(minutes(told.end.Sub(told.start))), "{summary}", told.summary,
	}
	return j.Say(key, append(places, further...)...)
}

func list(told *appointment) Listed {
	listed := Listed{
		Date: told.start.Format(time.DateOnly), Time: told.start.Format(clockLayout), DurationMinutes: minutes(told.end.Sub(told.start)),
		Summary: told.summary, AllDay: told.allDay, Recurring: told.recurring,
	}
	if told.allDay {
		listed.Time = ""
	}
	return listed
}

// outcome is the answer about one appointment.
func (j *job) outcome(text string, listed ...Listed) (agent.Outcome, error) {
	data, err := schemas.Marshal(Result{Action: j.wanted.Action, Appointments: append([]Listed{}, listed...)})
	return agent.Outcome{Result: schemas.Result{Text: text, Data: data}}, err
}

// A need is what has to be asked before anything is done.
type need struct {
	name   string // of the argument
	key    string // of the question
	schema string
	// choices are what can be meant.
	choices []appointment
	free    []Slot
}

// Error implements error, for the log.
func (n *need) Error() string { return "asked: " + n.key }

func (j *job) ask(needed *need) agent.Outcome {
	return j.Ask(j.config.Members.Path(needed.name), needed.schema, func(language string) string {
		by := *j
		by.Language = language
		return by.question(needed)
	})
}

// question holds times alone: names of others are nobody's business.
func (j *job) question(needed *need) string {
	choices := make([]string, 0, len(needed.choices))
	for i := range needed.choices {
		choices = append(choices, j.when(needed.choices[i].start))
	}
	asked := j.Say(needed.key, "{choices}", strings.Join(choices, "; "))
	return strings.TrimSpace(asked + " " + j.freeText(needed.free, time.Time{}))
}

const mostSlots = 6 // that are told

// freeText tells free time, of another day by its name; nothing of none.
func (j *job) freeText(free []Slot, on time.Time) string {
	if len(free) == 0 {
		return ""
	}
	var told []string
	for _, slot := range free[:min(len(free), mostSlots)] {
		told = append(told, slot.From+"–"+slot.Until)
	}
	if !on.IsZero() {
		return j.Say("free_on", "{day}", j.weekday(on), "{times}", strings.Join(told, ", "))
	}
	return j.Say("free", "{times}", strings.Join(told, ", "))
}
