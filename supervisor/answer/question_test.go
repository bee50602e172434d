package answer_test

import (
	"testing"

	"podium/schemas"
	"podium/supervisor/answer"
)

// TestQuestion: what is offered stands in one list, what is missing in one sentence, and what was read and does not fit is named as such. Without the
// sentence for offers each thing is asked for as it was.
func TestQuestion(t *testing.T) {
	t.Parallel()
	things := []answer.Asked{
		{Title: "Termin", Question: "Was soll sein?", Readings: []string{"absagen"}, Offered: true},
		{Title: "Datum", Readings: []string{"07.12.2026"}, Offered: true},
		{Title: "Dauer"},
		{Title: "Name", Question: "Für wen?"},
		{Title: "Tag", Question: "Wann?", Readings: []string{"1.", "2."}},
		{Title: "Größe", Question: "Wie groß?", Readings: []string{"176"}, Unfit: true},
	}
	texts := schemas.Texts{
		Understood: "So?\n{understood}\nDann „ja“.", Missing: "Mir fehlt noch: {missing}.", Unsure: "{missing}: {readings}?", Unfit: "„{said}“ passt nicht.",
	}
	const rest = "Für wen?\nWann? Tag: 1. / 2.?\n"
	if got := answer.Question(things, &texts); got != "So?\n– Termin: absagen\n– Datum: 07.12.2026\nDann „ja“.\nMir fehlt noch: Dauer.\n"+rest+"Wie groß? „176“ passt nicht." {
		t.Errorf("%q", got)
	}
	texts.Understood, texts.Unfit = "", ""
	if got := answer.Question(things, &texts); got != "Mir fehlt noch: Dauer.\nWas soll sein? Termin: absagen?\nDatum: 07.12.2026?\n"+rest+"Wie groß? Größe: 176?" {
		t.Errorf("%q", got)
	}
	if answer.Day("2026-12-07", "02.01.2006") != "07.12.2026" || answer.Day("2026-12-07", "") != "2026-12-07" || answer.Day("bald", "02.01.2006") != "bald" {
		t.Error("a day is not told as its language writes it")
	}
}
