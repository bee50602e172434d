package route_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podium/bus/bustest/cputime"
	"podium/schemas"
	"podium/supervisor/route"
)

func mode(mode schemas.KeywordMode, word string, except ...string) schemas.Keyword {
	return schemas.Keyword{Word: word, Mode: mode, Except: except}
}

// TestKeywordModes_G25 shows where a keyword of each mode counts, and which
// words of the text a match names.
func TestKeywordModes_G25(t *testing.T) {
	t.Parallel()
	const suffix, compound, substring = schemas.ModeSuffix, schemas.ModeCompound, schemas.ModeSubstring
	for _, test := range []struct {
		keyword schemas.Keyword
		text    string
		want    string // what is found
	}{
		{mode(compound, "Schmerzen"), "Kopfschmerzen", "Kopfschmerzen"},
		{mode(compound, "Schmerzen"), "Schmerzen!", "Schmerzen"},
		{mode(compound, "Ausschlag"), "ein Hautausschlag.", "Hautausschlag"},
		{mode(compound, "Termin"), "mein Arzttermin morgen", "Arzttermin"},
		{mode(compound, "Termin"), "im Terminkalender", "Terminkalender"},
		{mode(compound, "Termin"), "Das Terminal", ""},
		{mode(compound, "Termin"), "Terminals", ""},
		{mode(compound, "Termin"), "Terminkalender: kein Terminal", "Terminkalender"},
		{mode(compound, "Lager"), "wurde verlagert", ""},
		{mode(compound, "Lager"), "Die Verlagerung", ""},
		{mode(compound, "Lager"), "gelagerte Ware", ""},
		{mode(compound, "Lager"), "im Zentrallager", "Zentrallager"},
		{mode(compound, "Lager"), "Lagerbestand", "Lagerbestand"},
		{mode(compound, "Lager"), "ein Schlager", ""},
		{mode(compound, "Bestellung"), "die Bestellungsliste", "Bestellungsliste"},
		{mode(compound, "Patient"), "eine Patientenakte", "Patientenakte"},
		{mode(compound, "Arbeit"), "arbeiten und Arbeitszeit", "Arbeitszeit"},
		{mode(compound, "Arm"), "Alarm, Charme, Schwarm", ""},
		{mode(compound, "Büro"), "Großraumbuero", "Großraumbuero"},
		{mode(compound, "Büro"), "BU\u0308ROSTUHL", "BU\u0308ROSTUHL"},
		{mode(compound, "Termin", "terminieren"), "wir terminieren", ""},
		{mode(compound, "Termin", "terminieren"), "terminierend", "terminierend"},
		{mode(compound, "вода"), "холодноводаx живаявода", "живаявода"},
		{mode(compound, "single point"), "single points, a midsingle point", "midsingle point"},
		{mode(suffix, "termin"), "Arzttermin", "Arzttermin"},
		{mode(suffix, "termin"), "TERMIN", "TERMIN"},
		{mode(suffix, "termin"), "Termine", ""},
		{mode(suffix, "termin"), "determin\u00adiert", ""},
		{mode(suffix, "termin", "Vortermin"), "Vortermin, Arzttermin", "Arzttermin"},
		{mode(suffix, "größe"), "Schuhgroesse", "Schuhgroesse"},
		{mode(suffix, "point energy"), "midpoint  energy", "midpoint  energy"},
		{mode(suffix, ".net"), "asp.net core", ".net"},
		{mode(substring, "lager"), "wurde verlagert", "verlagert"},
		{mode(substring, "lager", "verlagert"), "wurde verlagert", ""},
		{mode(substring, "lager", "verlagert"), "verlagerte", "verlagerte"},
		{mode(substring, "über"), "gegenueberstellen", "gegenueberstellen"},
		{mode(substring, "++"), "in C++17", "++"},
		{mode(substring, "é"), "x\u0301e\u0301x\u0301", "x\u0301e\u0301x\u0301"},
		{regex(`rechnung \d+`), "Ihre Rechnung-0815, bitte", "Rechnung-0815"},
		{regex(`\btermin(e|en)?\b`), "Terminal oder Termine", "Termine"},
		{regex(`grö(ß|ss)e [A-Z]\b`), "Groesse M", "Groesse M"},
		{mode(schemas.ModeRegex, `te\w+in`, "Vitamin termin"), "vitamin termin, Testin", "Testin"},
		{regex(`^hello`), "oh hello", ""},
		{regex(`\b`), "words", ""},
	} {
		router := compiled(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, test.keyword))))
		decision, decided := router.Decide(test.text, "")
		if decided != (test.want != "") {
			t.Errorf("%s %q in %q: decided %t, %+v", test.keyword.Mode, test.keyword.Word, test.text, decided, decision.Candidates)
			continue
		}
		if !decided {
			continue
		}
		match := decision.Candidates[0].Matches[0]
		if match.Text != test.want || test.text[match.Start:match.End] != test.want || match.Keyword != test.keyword.Word {
			t.Errorf("%s %q in %q: %+v, want %q", test.keyword.Mode, test.keyword.Word, test.text, match, test.want)
		}
	}
}

// TestModesAgreeWithDefinition compares the modes with their definition, on words of few letters.
func TestModesAgreeWithDefinition_G25(t *testing.T) {
	t.Parallel()
	definitions := map[schemas.KeywordMode]func(word, keyword string) bool{
		schemas.ModeWord:      func(word, keyword string) bool { return word == keyword },
		schemas.ModePrefix:    strings.HasPrefix,
		schemas.ModeSuffix:    strings.HasSuffix,
		schemas.ModeCompound:  isCompound,
		schemas.ModeSubstring: strings.Contains,
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[bte]{1,4}`).Draw(t, "keyword")
		words := rapid.SliceOfN(rapid.StringMatching(`[bte]{1,9}`), 0, 6).Draw(t, "words")
		for _, m := range []schemas.KeywordMode{
			schemas.ModeWord, schemas.ModePrefix, schemas.ModeSuffix, schemas.ModeCompound, schemas.ModeSubstring,
		} {
			want := slices.IndexFunc(words, func(one string) bool { return definitions[m](one, word) })
			router := compiledFor(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, mode(m, word)))))
			decision, decided := router.Decide(strings.Join(words, " "), "")
			if decided != (want >= 0) {
				t.Fatalf("%s %q in %q: decided %t", m, word, words, decided)
			}
			if decided && decision.Candidates[0].Matches[0].Text != words[want] {
				t.Fatalf("%s %q in %q: found %q, want %q", m, word, words, decision.Candidates[0].Matches[0].Text, words[want])
			}
		}
	})
}

// isCompound defines mode compound for words whose only vowel is e.
func isCompound(word, keyword string) bool {
	before, isEnd := strings.CutSuffix(word, keyword)
	after, isBeginning := strings.CutPrefix(word, keyword)
	return word == keyword ||
		isEnd && len(before) >= 3 && strings.Contains(before, "e") ||
		isBeginning && len(after) >= 4 && strings.Contains(after, "e")
}

// TestSharedWordOfEveryMode_G24: a shared word yields whatever its mode is.
func TestSharedWordOfEveryMode_G24(t *testing.T) {
	t.Parallel()
	for _, m := range []schemas.KeywordMode{
		schemas.ModeWord, schemas.ModePrefix, schemas.ModeSuffix, schemas.ModeCompound, schemas.ModeSubstring, schemas.ModeRegex,
	} {
		shared := mode(m, "schreiben")
		shared.Shared = true
		router := compiled(t, profileWith(keywords(schemas.OrderPriority,
			group("red", 1, shared, word("mail")), group("green", 2, shared, mode(schemas.ModeCompound, "Brief")))))
		for text, want := range map[string]string{
			"bitte schreiben":                 "red, green: The priority 2 comes after 1.",
			"bitte einen Eilbrief schreiben":  "green, red: Only a shared keyword was found.",
			"einen Brief per Mail schreiben!": "red, green: The priority 2 comes after 1.",
		} {
			if decision, _ := router.Decide(text, ""); candidates(decision) != want || !decision.Ambiguous {
				t.Errorf("%s: %q: %s, want %s", m, text, candidates(decision), want)
			}
		}
	}
}

// TestLongWordsAreReadOnce: a word of 32 KiB full of keywords takes no longer
// than as much text.
func TestLongWordsAreReadOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("termin", route.MaxRead/6)
	profile := profileWith(keywords(schemas.OrderConfigured, group("red", 0,
		mode(schemas.ModeSubstring, "min"), mode(schemas.ModeSuffix, "termi"), mode(schemas.ModeCompound, "int"),
		mode(schemas.ModePrefix, "term"), mode(schemas.ModeWord, "termin"))))
	profile.Complexity = &schemas.ComplexityRules{Verbs: []schemas.Keyword{mode(schemas.ModeSubstring, "ter"), mode(schemas.ModeSuffix, "min")}}
	router := compiled(t, profile)
	if decision, _ := router.Decide(text, ""); len(decision.Candidates[0].Matches) != 2 || len(router.Steps(text)) != 1 {
		t.Errorf("%d matches, %d steps", len(decision.Candidates[0].Matches), len(router.Steps(text)))
	}
	reading := func(text string) func() {
		return func() {
			router.Decide(text, "")
			router.Steps(text)
		}
	}
	cputime.Proportion(t, "a word of 32 KiB", 100, reading(strings.Repeat("termin ", route.MaxRead/7)), reading(text))
}
