package route_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/say"
)

func TestKeywordAnchored_O08_O09(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keyword schemas.Keyword
		text    string
		want    string // what is found
	}{
		{prefix("cat"), "two cats", "cats"},
		{prefix("cat"), "CAT", "CAT"},
		{prefix("cat"), "a bobcat", ""},
		{prefix("cat"), "a bob_cat", ""},
		{prefix("cat"), "a bob-cat", "cat"},
		{prefix("cat"), "3cat", ""},
		{prefix("cat"), "écat", ""},
		{prefix("cat"), "кcat", ""},
		{prefix("cat"), "bobcat or (catalog)", "catalog"},
		{word("cat"), "cats and cat's", "cat"},
		{word("cat"), "cats", ""},
		{word("cat"), "caté", ""},
		{word("cat"), "cat_1", ""},
		{word("cat"), "cat1", ""},
		{word("cat"), "/cat/", "cat"},
		{prefix("ab_cd"), "AB_CD_1", "AB_CD_1"},
		{prefix("ab_cd"), "ab cd", ""},
		{prefix("red cat"), "red  cats", "red  cats"},
		{prefix("red cat"), "red-\ncats", "red-\ncats"},
		{prefix("red cat"), "red\n\ncats", ""},
		{prefix("red cat"), "red, cats", ""},
		{prefix("red cat"), "redcat", ""},
		{word("E-Mail"), "meine e mail", "e mail"},
		{word("E-Mail"), "meine E\u2011Mail!", "E\u2011Mail"},
		{word("c++"), "in C++17", "C++"},
		{word(".net"), "on .NET 9", ".NET"},
		{word(".net"), "on .nets", ""},
		{word("what's"), "What’s up", "What’s"},
		{prefix("grün"), "die Gruenen", "Gruenen"},
		{prefix("gruen"), "die GRÜNEN", "GRÜNEN"},
		{prefix("grün"), "grun", ""},
		{word("straße"), "STRASSE", "STRASSE"},
		{prefix("quelle"), "Quellen", "Quellen"},
		{prefix("fuel"), "full", ""},
		{prefix("caf"), "Cafe\u0301s", "Cafe\u0301s"},
	} {
		router := compiled(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, test.keyword))))
		decision, decided := router.Decide(test.text, "")
		if decided != (test.want != "") {
			t.Errorf("%q in %q: decided %t", test.keyword.Word, test.text, decided)
			continue
		}
		if !decided {
			continue
		}
		match := decision.Candidates[0].Matches[0]
		if match.Text != test.want || test.text[match.Start:match.End] != test.want || match.Keyword != test.keyword.Word {
			t.Errorf("%q in %q: %+v, want %q", test.keyword.Word, test.text, match, test.want)
		}
	}
}

func TestExceptions_G25(t *testing.T) {
	t.Parallel()
	keyword := prefix("cat")
	keyword.Except = []string{"Catalog", "cat food", "the cat's", "müde cat"}
	router := compiled(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, keyword))))
	for text, want := range map[string]bool{
		"a catalog":         false,
		"CATALOG":           false,
		"catalogs":          true, // another word
		"cat  food":         false,
		"cat foods":         true,
		"the cat's whisker": false,
		"bathe cat's":       true,
		"muede cat":         false,
		"catalog of cats":   true,
		"cat-food, cat":     true,
	} {
		if _, decided := router.Decide(text, ""); decided != want {
			t.Errorf("%q: decided %t, want %t", text, decided, want)
		}
	}
}

// TestOrders_O16 has three groups, of which blue hits most and green is the most
// important.
func TestOrders_O16(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mode       schemas.KeywordOrder
		candidates string
	}{
		{schemas.OrderConfigured, "red, green: The place 2 comes after 1., blue: The place 3 comes after 1."},
		{schemas.OrderPriority, "green, blue: At the same priority 1 the place 3 comes after 2., red: The priority 9 comes after 1."},
		{schemas.OrderScore, "blue, red: The score 1 is below 2., green: The score 1 is below 2."},
	} {
		router := compiled(t, profileWith(keywords(test.mode,
			group("red", 9, word("a"), word("z")), group("green", 1, word("b")), group("blue", 1, word("c"), word("d")))))
		decision, _ := router.Decide("d c b a a a", "")
		if got := candidates(decision); got != test.candidates || !decision.Ambiguous {
			t.Errorf("%s: %s, ambiguous %t, want %s", test.mode, got, decision.Ambiguous, test.candidates)
		}
	}
}

// told are the sentences of reasons.
func told(reasons []schemas.Reason) string { return say.Reasons(say.English(), reasons) }

func candidates(d schemas.RouteDecision) string {
	names := make([]string, len(d.Candidates))
	for i, c := range d.Candidates {
		names[i] = c.Agent
		if len(c.Lost) > 0 {
			names[i] += ": " + told(c.Lost)
		}
	}
	return strings.Join(names, ", ")
}

func TestSharedWord_G24(t *testing.T) {
	t.Parallel()
	shared := word("write")
	shared.Shared = true
	router := compiled(t, profileWith(keywords(schemas.OrderPriority,
		group("red", 1, shared, word("mail")), group("green", 2, shared, word("letter")))))
	for text, want := range map[string]string{
		"write":               "red, green: The priority 2 comes after 1.",
		"write a letter":      "green, red: Only a shared keyword was found.",
		"write a mail":        "red, green: Only a shared keyword was found.",
		"mail a letter":       "red, green: The priority 2 comes after 1.",
		"letter":              "green",
		"write mail, letters": "red, green: Only a shared keyword was found.",
	} {
		if decision, _ := router.Decide(text, ""); candidates(decision) != want {
			t.Errorf("%q: %s, want %s", text, candidates(decision), want)
		}
	}
}

// TestRoutersInOrder shows that the first router that decides wins, that all
// report, and that nobody outside the closed set is chosen (O-12, settlement 4).
func TestRoutersInOrder_O12(t *testing.T) {
	t.Parallel()
	first := keywords(schemas.OrderConfigured, group("red", 0, word("a")))
	second := keywords(schemas.OrderConfigured, group("green", 0, word("a"), word("b")))
	last := schemas.Router{Kind: schemas.RouterDefault, Agent: "blue"}
	router := compiled(t, profileWith(first, schemas.Router{Kind: schemas.RouterAssigned}, second, last))
	for _, test := range []struct{ text, assigned, want, reasoning string }{
		{"a", "", "red, green: The router keywords has decided before., blue: It was not asked, since the router keywords has decided.", "“a” is a keyword of the group “red”."},
		{"a", "blue", "red, blue: The router keywords has decided before., green: The router keywords has decided before., blue: It was not asked, since the router keywords has decided.", "“a” is a keyword of the group “red”."},
		{"b", "blue", "blue, green: The router assigned has decided before., blue: It was not asked, since the router assigned has decided.", "None of the words is a keyword. The plan names this agent."},
		{"b", "RESPOND", "RESPOND: It is none of the profile's agents., green, blue: It was not asked, since the router keywords has decided.", "None of the words is a keyword. The agent that the plan names is none of the profile's. “b” is a keyword of the group “green”."},
		{"", "", "blue", "None of the words is a keyword. The default agent takes it."},
	} {
		decision, decided := router.Decide(test.text, test.assigned)
		if got := candidates(decision); !decided || got != test.want || told(decision.Reasons) != test.reasoning {
			t.Errorf("%q assigned to %q: %s\n%s\nwant %s", test.text, test.assigned, got, told(decision.Reasons), test.want)
		}
	}
}

// TestReasonsArePlain: why a router decides is told in sentences that a person understands.
func TestReasonsArePlain(t *testing.T) {
	t.Parallel()
	stem := schemas.Keyword{Word: "invoic", Mode: schemas.ModePrefix}
	first := keywords(schemas.OrderConfigured, group("red", 0, word("a"), word("c"), stem), group("green", 0, word("c")))
	second := keywords(schemas.OrderPriority, group("green", 2, word("b")), group("red", 1, word("b")))
	profile := profileWith(schemas.Router{Kind: schemas.RouterAssigned}, first, second, schemas.Router{Kind: schemas.RouterDefault, Agent: "blue"})
	router := compiled(t, profile)
	for _, test := range []struct{ text, assigned, reasoning string }{
		{"a", "blue", "The plan names this agent."},
		{"a", "", "“a” is a keyword of the group “red”."},
		{"invoices", "", "“invoic*” is a keyword of the group “red”."},
		{"a c", "", `"a", "c" are keywords of the group “red”. By its place 1 in the profile it goes before "green".`},
		{"b", "", `None of the words is a keyword. “b” is a keyword of the group “red”. By its priority 1 it goes before "green".`},
		{"b", "RESPOND", `The agent that the plan names is none of the profile's. None of the words is a keyword. “b” is a keyword of the group “red”. By its priority 1 it goes before "green".`},
		{"", "", "None of the words is a keyword. The default agent takes it."},
	} {
		if decision, decided := router.Decide(test.text, test.assigned); !decided || told(decision.Reasons) != test.reasoning {
			t.Errorf("%q assigned to %q: %s\nwant %s", test.text, test.assigned, told(decision.Reasons), test.reasoning)
		}
	}
	profile = profileWith(first)
	if decision, decided := compiled(t, profile).Decide("z", ""); decided || told(decision.Reasons) != "No agent is responsible. None of the words is a keyword." {
		t.Errorf("decided %t: %s", decided, told(decision.Reasons))
	}
}

// TestMaterialDoesNotDecide shows that pasted words decide only if the request
// itself says nothing.
func TestMaterialDoesNotDecide(t *testing.T) {
	t.Parallel()
	profile := profileWith(keywords(schemas.OrderPriority, group("red", 1, word("paint")), group("green", 2, word("sum"), word("list"))))
	profile.Complexity = &schemas.ComplexityRules{Verbs: []schemas.Keyword{word("sum"), word("read")}}
	router := compiled(t, profile)
	for text, want := range map[string]string{
		"sum up the following: paint it":         "green, red: The keywords are only in the text that the request is about.",
		"sum it up.\n\nWe paint walls.":          "green, red: The keywords are only in the text that the request is about.",
		"read the following: paint the list":     "red, green: The priority 2 comes after 1.",
		"sum up the paint list: we sum and read": "red, green: The priority 2 comes after 1.",
	} {
		decision, _ := router.Decide(text, "")
		if candidates(decision) != want || decision.Ambiguous != strings.Contains(want, "priority") {
			t.Errorf("%q: %s, ambiguous %t, want %s", text, candidates(decision), decision.Ambiguous, want)
		}
	}
}

func TestMatchTextIsBounded(t *testing.T) {
	t.Parallel()
	router := compiled(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, prefix("a")))))
	decision, _ := router.Decide("a"+strings.Repeat("ä", 1000), "")
	match := decision.Candidates[0].Matches[0]
	if match.End != 2001 || len(match.Text) != 119 {
		t.Errorf("%d bytes of text for [%d:%d]", len(match.Text), match.Start, match.End)
	}
}

// TestReasonsHoldNoWordsOfThePerson: they may be logged (G-37).
func TestReasonsHoldNoWordsOfThePerson_G37(t *testing.T) {
	t.Parallel()
	router := profileNamed(t, "demo")
	text := "Calculate Zanzibar and then summarize Zanzibarian: Zanzibar"
	decision, _ := router.Explain(text, "Zanzibar")
	var reasons []schemas.Reason
	for _, c := range decision.Candidates {
		reasons = append(reasons, c.Lost...)
	}
	lost := told(reasons)
	if complexity := router.AssessComplexity(text); strings.Contains(told(decision.Reasons)+told(complexity.Reasons)+lost, "anzibar") {
		t.Errorf("%s %s %s", told(decision.Reasons), told(complexity.Reasons), lost)
	}
}

// aText draws texts in which keywords, their look-alikes and everything that
// folding touches occur often.
func aText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"für", "fuer", "cat", "Cats", "bobcat", "E-Mail", "red cat", "mix", "Mix", "stir", "then", "and", "please",
			": ", ". ", ", ", "? ", "\n\n", "\n- ", "\n1. ", " ", " ", " ", "\"", "„", "“", "e\u0301", "é", "ﬁ", "\u00ad", "\xff", "(1+2)",
		}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
	})
}

func propertyProfile() *schemas.Profile {
	shared := word("red cat")
	shared.Shared = true
	profile := profileWith(
		keywords(schemas.OrderScore, group("red", 0, prefix("cat"), shared), group("green", 0, prefix("für"), word("email"), word("e-mail")),
			group("blue", 0, mode(schemas.ModeSuffix, "ats"), mode(schemas.ModeCompound, "mail"), mode(schemas.ModeSubstring, "bca"), regex(`f(ü|i)[r\w]+`))),
		schemas.Router{Kind: schemas.RouterDefault, Agent: "blue"},
	)
	profile.Complexity = &schemas.ComplexityRules{
		Verbs:      []schemas.Keyword{word("mix"), prefix("stir")},
		Patterns:   []string{`\bthen\b`},
		Separators: []string{"then", "and", "please"},
	}
	profile.Execution.MaxSteps = 3
	return profile
}

// TestNormalizationChangesNothing: composed and decomposed text decide alike.
func TestNormalizationChangesNothing_G25(t *testing.T) {
	t.Parallel()
	router := compiled(t, propertyProfile())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(aText().Draw(t, "text"), "?")
		composed, decomposed := norm.NFC.String(text), norm.NFD.String(text)
		if a, b := essence(router.Decide(composed, "")), essence(router.Decide(decomposed, "")); a != b {
			t.Fatalf("NFC: %s\nNFD: %s", a, b)
		}
		a, b := router.AssessComplexity(composed), router.AssessComplexity(decomposed)
		if a.Complex != b.Complex || told(a.Reasons) != told(b.Reasons) {
			t.Fatalf("NFC: %+v\nNFD: %+v", a, b)
		}
		if a, b := router.Split(composed), router.Split(decomposed); len(a) != len(b) {
			t.Fatalf("NFC: %q\nNFD: %q", a, b)
		}
	})
}

// essence is a decision without positions.
func essence(d schemas.RouteDecision, decided bool) string {
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "%t %s by %s, ambiguous %t. %s", decided, d.NextAgent, d.Router, d.Ambiguous, told(d.Reasons))
	for _, c := range d.Candidates {
		_, _ = fmt.Fprintf(&text, " %s %s %v %q", c.Agent, c.Group, c.Score, told(c.Lost))
	}
	return text.String()
}

// TestUnrelatedKeywordsChangeNothing adds groups whose words do not occur.
func TestUnrelatedKeywordsChangeNothing(t *testing.T) {
	t.Parallel()
	plain := compiled(t, propertyProfile())
	rapid.Check(t, func(t *rapid.T) {
		profile := propertyProfile()
		unrelated := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-g]{1,6}ž[a-g]{0,3}`), 1, 20, rapid.ID[string]).Draw(t, "unrelated")
		group := schemas.KeywordGroup{Name: "more", Agent: "blue"}
		for _, one := range unrelated {
			// Longer than any text, so that it cannot occur.
			group.Keywords = append(group.Keywords, prefix(one+strings.Repeat("q", 300)))
		}
		profile.Routers[0].Groups = append(profile.Routers[0].Groups, group)
		text := aText().Draw(t, "text")
		if len(text) > 300 {
			text = text[:300]
		}
		router := compiledFor(t, profile)
		want, _ := plain.Decide(text, "")
		got, _ := router.Decide(text, "")
		if !bytes.Equal(canonical(t, want), canonical(t, got)) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

func FuzzDecide(f *testing.F) {
	f.Add("red cat für e-mail", "")
	f.Add("Mix 1 and then stir this: mix. \"then", "green")
	router := compiled(f, propertyProfile())
	f.Fuzz(func(t *testing.T, text, assigned string) {
		decision, decided := router.Explain(text, assigned)
		if !decided {
			t.Fatal("the default agent did not decide")
		}
		winners := 0
		for _, c := range decision.Candidates {
			if len(c.Lost) == 0 {
				winners++
			}
			for _, m := range c.Matches {
				checkMatch(t, text, m)
			}
		}
		if winners != 1 {
			t.Fatalf("%d winners: %+v", winners, decision)
		}
		for _, m := range router.AssessComplexity(text).Verbs {
			checkMatch(t, text, m)
		}
		checkSteps(t, text, router.Steps(text), 3)
	})
}

func checkMatch(t *testing.T, text string, m schemas.Match) {
	t.Helper()
	if m.Start < 0 || m.End <= m.Start || m.End > len(text) || !strings.HasPrefix(text[m.Start:m.End], m.Text) || m.Text == "" {
		t.Fatalf("%+v in %q", m, text)
	}
}
