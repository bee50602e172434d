package answer

import (
	"strings"
	"time"

	"podium/schemas"
)

// An Asked thing is what a question asks for.
type Asked struct {
	Title    string
	Question string   // of the profile or of an agent; empty without one
	Readings []string // what was read, as people call it
	Offered  bool     // the only reading is taken if people agree
	Unfit    bool     // the only reading is not what is needed
}

// Question asks for things: whether what was read is meant, as far as the texts have a sentence for that, what is missing and has no question of its
// own in one sentence, then the questions, each on a line.
func Question(things []Asked, texts *schemas.Texts) string {
	var understood, names, lines []string
	for i := range things {
		thing := &things[i]
		switch {
		case thing.Offered && texts.Understood != "":
			understood = append(understood, "– "+thing.Title+": "+thing.Readings[0])
		case thing.Unfit && thing.Question != "" && texts.Unfit != "":
			lines = append(lines, thing.Question+" "+strings.ReplaceAll(texts.Unfit, "{said}", thing.Readings[0]))
		case len(thing.Readings) > 0:
			unsure := strings.NewReplacer("{missing}", thing.Title, "{readings}", strings.Join(thing.Readings, " / ")).Replace(texts.Unsure)
			lines = append(lines, strings.TrimSpace(thing.Question+" "+unsure))
		case thing.Question != "":
			lines = append(lines, thing.Question)
		default:
			names = append(names, thing.Title)
		}
	}
	if len(names) > 0 {
		lines = append([]string{strings.ReplaceAll(texts.Missing, "{missing}", strings.Join(names, ", "))}, lines...)
	}
	if len(understood) > 0 {
		lines = append([]string{strings.ReplaceAll(texts.Understood, "{understood}", strings.Join(understood, "\n"))}, lines...)
	}
	return strings.Join(lines, "\n")
}

// Day tells a day as a language writes it; anything else as it is.
func Day(text, layout string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || layout == "" {
		return text
	}
	return day.Format(layout)
}
