package arguments_test

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/bus/bustest/cputime"
	"podium/schemas/validation"
	"podium/supervisor/arguments"
)

// FuzzFill: whatever is at hand, Fill ends, says the same twice, and its values hold to the schema when nothing is
// missing or refused.
func FuzzFill(f *testing.F) {
	fillers, schemas := practice(f), practiceSchemas(f)
	names := slices.Sorted(maps.Keys(fillers))
	all := utterances(f, filepath.Join("testdata", "examples.json"))
	for i := range all {
		f.Add(uint8(slices.Index(names, all[i].Agent)), all[i].Text, all[i].Language == "de", "", "morgen")
	}
	f.Add(uint8(0), `{"formula":"bmi","inputs":{"weight_kg":-1}}`, true, `{"formula":1}`, `{`)
	f.Add(uint8(1), strings.Repeat("am 3.12. um 9 oder ", 50), true, `{"appointment_data":{"date":"x"}}`, "\xff")
	f.Fuzz(func(t *testing.T, agent uint8, words string, german bool, given, answer string) {
		name := names[int(agent)%len(names)]
		asked := arguments.Given{
			Words: words, Language: "en", Moment: monday, Extracted: []byte(given),
		}
		if german {
			asked.Language = "de"
		}
		if len(given)%2 == 0 {
			asked.Arguments, asked.Extracted = []byte(given), nil
		}
		first := fillTwice(t, fillers[name], schemas[name], asked)
		asked.Words, asked.Before = answer, &arguments.Before{Words: words, Filled: first}
		fillTwice(t, fillers[name], schemas[name], asked)
	})
}

func fillTwice(t *testing.T, filler *arguments.Filler, schema *validation.Schema, given arguments.Given) arguments.Filled {
	t.Helper()
	filled := filler.Fill(given)
	if again := filler.Fill(given); fmt.Sprint(again) != fmt.Sprint(filled) {
		t.Fatalf("first %+v, then %+v", filled, again)
	}
	if !stdjson.Valid(filled.Values) {
		t.Fatalf("not JSON: %s", filled.Values)
	}
	if !filled.Complete() {
		return filled
	}
	problems, err := schema.Problems(filled.Values)
	if err != nil || len(problems) > 0 {
		t.Fatalf("%s: %v %v", filled.Values, problems, err)
	}
	return filled
}

func practiceSchemas(tb testing.TB) map[string]*validation.Schema {
	tb.Helper()
	agents, schemas := practiceAgents(tb), map[string]*validation.Schema{}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		schema, err := validation.CompileAsserted(agents[name].Schema)
		if err != nil {
			tb.Fatal(err)
		}
		schemas[name] = schema
	}
	return schemas
}

// TestLongWords: a megabyte of anything is read in little more time than it takes to look at it.
func TestLongWords(t *testing.T) {
	t.Parallel()
	fillers := practice(t)
	for _, piece := range []string{
		"a", "am 3.12. um 9 ", "{", `{"a":`, "[", `{"action":`, "Frau Meier ", "1.", "12,5 * ", "(", "nicht ", "absagen ", "Viele Grüße\n", "\n", "a@", "3/", "sag ", "u\u0308", "\xff",
		"10 Packungen von ", "Tag ", "Termin für ", "1 oder ", "am 3., ", "4., ", "Bitte ein Attest. ", "schreib ",
	} {
		given := arguments.Given{
			Words: strings.Repeat(piece, 1<<20/len(piece)-1), Language: "de", Moment: monday,
		}
		for _, name := range []string{"calculator", "calendar_agent", "inventory_agent", "writer_agent"} {
			// Anything quadratic takes minutes.
			cputime.Bound(t, fmt.Sprintf("%s, %q", name, piece), 10*time.Second, func() { fillers[name].Fill(given) })
		}
	}
}
