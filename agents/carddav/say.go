package carddav

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/bus/agent"
	"podium/schemas"
)

// outcome is the answer about some contacts: a sentence, and one line of each.
func (j *job) outcome(key string, told ...Contact) (agent.Outcome, error) {
	data, err := schemas.Marshal(Result{Action: j.wanted.Action, Contacts: append([]Contact{}, told...)})
	lines := []string{j.Say(key)}
	for i := range told {
		lines = append(lines, j.line(&told[i]))
	}
	return agent.Outcome{Result: schemas.Result{Text: strings.Join(lines, "\n"), Data: j.config.Members.Write(data)}}, err
}

func (j *job) line(told *Contact) string {
	parts := []string{told.Name}
	for _, part := range [...]struct{ key, value string }{
		{"phone", told.Phone}, {"email", told.Email}, {"address", told.Address}, {"birth_date", j.day(told.BirthDate)}, {"number", told.Number},
	} {
		if part.value != "" {
			parts = append(parts, j.Say(part.key, "{value}", part.value))
		}
	}
	return strings.Join(parts, ", ")
}

// day tells a day that stands as 1980-01-31.
func (j *job) day(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return at.Format(j.Say("date_layout"))
}

func (j *job) note(key string, count int) schemas.Issue {
	return schemas.Issue{Severity: "low", Description: j.Say(key, "{count}", strconv.Itoa(count)), Resolution: schemas.ResolutionEscalated}
}

// A need is what has to be asked before anything is done.
type need struct {
	name, key, schema string
	choices           []string
}

// Error implements error, for the log.
func (n *need) Error() string { return "asked: " + n.key }

// which asks by what contacts differ: the days on which they were born, unless one is said already, or else their whole names.
func which(meant []entry, byDay bool) error {
	var names, days []string
	for i := range meant {
		names, days = append(names, meant[i].Name), append(days, meant[i].BirthDate)
	}
	different := func(values []string) bool {
		sorted := slices.Sorted(slices.Values(values))
		return !slices.Contains(sorted, "") && len(slices.Compact(sorted)) == len(values)
	}
	switch {
	case len(meant) > mostChoices:
		return refuse("too_many")
	case byDay && different(days):
		return &need{name: "contact_data.birth_date", key: "which_birth_date", schema: `{"type":"string","format":"date"}`}
	case different(names):
		schema, err := schemas.Marshal(map[string]any{"type": "string", "enum": names})
		if err != nil {
			return err
		}
		return &need{name: "contact_data.name", key: "which_name", schema: string(schema), choices: names}
	}
	return refuse("ambiguous")
}

// mostChoices is among how many contacts a question lets choose.
const mostChoices = 10

func (j *job) ask(needed *need) agent.Outcome {
	return j.Ask(j.config.Members.Path(needed.name), needed.schema, func(language string) string {
		return j.words.Say(language, needed.key, "{choices}", strings.Join(needed.choices, "; "))
	})
}
