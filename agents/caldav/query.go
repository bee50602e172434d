package caldav

import (
	"context"
	"strconv"
	"strings"
	"time"

	"podium/bus/agent"
	"podium/schemas"
)

const (
	mostListed = 100 // appointments of an answer
	lookAhead  = 7   // days, where neither day nor name are said
)

// query lists appointments: of a day, of somebody within a year, or of the days to come.
func (j *job) query(ctx context.Context) (agent.Outcome, error) {
	data := &j.wanted.Data
	from, until := j.span()
	ahead := data.Date == "" && data.Person == ""
	if ahead {
		until = from.AddDate(0, 0, lookAhead)
	}
	seen, err := j.look(ctx, from, until)
	if err != nil {
		return agent.Outcome{}, err
	}
	result := Result{Action: actionQuery, Appointments: []Listed{}}
	var lines []string
	var outcome agent.Outcome
	matched := 0
	var unknown []*appointment // of zones that are unknown
	for i := range seen.all {
		one := &seen.all[i]
		if one.isUncertain() && (j.wanted.mine(one) || data.Person == "") {
			unknown = append(unknown, one)
			continue
		}
		if j.wanted.mine(one) || data.Person == "" && (one.allDay || one.start.Before(from)) {
			if matched++; matched > mostListed {
				continue
			}
			result.Appointments = append(result.Appointments, list(one))
			lines = append(lines, j.line(one))
		}
	}
	switch {
	case ahead: // whoever means another day is told that nobody has looked there
		note := "ahead"
		if len(lines) == 0 {
			note = "nothing_ahead"
		}
		lines = append(lines, j.Say(note, "{until}", j.weekday(until.AddDate(0, 0, -1))))
	case len(lines) == 0:
		lines = []string{j.Say("nothing")}
	}
	if matched > mostListed {
		outcome.Issues = append(outcome.Issues, note(j.Say("cut", "{limit}", strconv.Itoa(mostListed))))
	}
	if seen.unread > 0 {
		outcome.Issues = append(outcome.Issues, note(j.Say("unread", "{count}", strconv.Itoa(seen.unread))))
	}
	for _, one := range unknown[:min(len(unknown), mostChoices)] {
		said := j.Say("zone_unknown", "{when}", j.when(one.stated), "{summary}", one.summary)
		outcome.Issues = append(outcome.Issues, note(said))
	}
	if data.Date != "" && data.Person == "" && !seen.mayBeTaken(from, until) {
		result.Free = j.slots(seen.all, from, j.lasts(j.config.Duration))
		if open := j.open(from); len(open) == 0 {
			lines = append(lines, j.Say("closed_day", "{day}", j.weekday(from)))
		} else if free := j.freeText(result.Free, time.Time{}); free != "" {
			lines = append(lines, free)
		} else if until.After(j.config.Now()) && len(j.freeSlots(seen.all, from, j.lasts(j.config.Duration))) == 0 {
			lines = append(lines, j.Say("none_free"))
		}
	}
	outcome.Text = strings.Join(lines, "\n")
	outcome.Data, err = schemas.Marshal(result)
	return outcome, err
}

func (j *job) line(one *appointment) string {
	if one.allDay {
		return j.tell("entry_all_day", one)
	}
	if one.endsLater() {
		return j.tell("entry_days", one, "{until}", j.when(one.end))
	}
	return j.tell("entry", one)
}

func note(description string) schemas.Issue {
	return schemas.Issue{Severity: "low", Description: description, Resolution: schemas.ResolutionEscalated}
}
