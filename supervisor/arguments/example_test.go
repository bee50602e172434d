package arguments_test

import (
	"fmt"
	"time"

	"podium/supervisor/arguments"
)

// A profile says where the arguments of its calendar come from. What the words do not say for sure is asked.
func Example() {
	calendar, err := arguments.Compile(arguments.Spec{
		Rules: []arguments.Rule{
			{Path: "action", Map: []arguments.Choice{{Word: "absag*", Value: "cancel"}, {Word: "verschieb*", Value: "reschedule"}}},
			{Path: "date", Find: arguments.KindDate, Ask: map[string]string{"de": "Für welchen Tag?"}},
		},
	}, []byte(`{"properties": {"action": {"enum": ["cancel", "reschedule"]}, "date": {"type": "string", "format": "date"}}, "required": ["action", "date"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, words := range []string{
		"Bitte am 3. Dezember absagen.",
		"Nicht absagen, sondern verschieben!",
		"Morgen absagen oder verschieben?",
	} {
		filled := calendar.Fill(arguments.Given{Words: words, Language: "de", Moment: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)})
		fmt.Println(string(filled.Values))
		for _, missing := range filled.Missing {
			fmt.Println("  asked:", missing.Path, missing.Question["de"], missing.Readings)
		}
	}
	// Output:
	// {"action":"cancel","date":"2026-12-03"}
	// {"action":"reschedule"}
	//   asked: date Für welchen Tag? []
	// {"date":"2026-11-24"}
	//   asked: action  [cancel reschedule]
}
