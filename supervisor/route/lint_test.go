package route_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/route"
)

// TestLint has one keyword for each thing that can be found.
func TestLint(t *testing.T) {
	t.Parallel()
	shared := word("write")
	shared.Shared = true
	profile := profileWith(
		schemas.Router{Kind: schemas.RouterAssigned},
		keywords(schemas.OrderPriority,
			group("red", 1,
				mode(schemas.ModeSubstring, "cation"), word("mail"), shared, word("Tür"), prefix("term"), mode(schemas.ModeSubstring, "graph")),
			group("green", 2,
				word("education"), word("express mail"), word("write"), word("tuer"), word("never"), regex(`terms? \d`)),
			schemas.KeywordGroup{Name: "more", Agent: "red", Priority: 3, Keywords: []schemas.Keyword{word("vacation"), word("catalog")}},
		),
		keywords(schemas.OrderConfigured, group("blue", 0, mode(schemas.ModeCompound, "Lager"), prefix("catalog"))),
	)
	router := compiled(t, profile)
	history := []string{
		"Cations and an application, another APPLICATION", "the application: education?", "a mail about term 2",
		"by express mail: terms 3", "paragraphs in a photograph", "write", "Zentrallager, verlagert", "Vacation, cata\u00adlogs", "Türen, Tür",
	}
	got := make([]string, 0, 20)
	for _, f := range router.Lint(history) {
		got = append(got, string(f.Kind)+" | "+f.String())
	}
	want := []string{
		`inside | router 2, group "red": "cation" counts inside the keyword "education" of group "green", in 1 of the texts: "education" (1)`,
		`inside | router 2, group "red": "cation" counts inside longer words, in 3 of the texts: "application" (3), "education" (1), "vacation" (1)`,
		`overlap | router 2, group "red": "mail" hits the same words as the keyword "express mail" of group "green", in 1 of the texts: "mail" (1)`,
		`overlap | router 2, group "red": "term" hits the same words as the keyword "terms? \\d" of group "green", in 2 of the texts: "term" (1), "terms" (1)`,
		`inside | router 2, group "red": "graph" counts inside longer words, in 1 of the texts: "paragraphs" (1), "photograph" (1)`,
		`overlap | router 2, group "green": "tuer" hits the same words as the keyword "Tür" of group "red", in 1 of the texts: "tuer" (1)`,
		`silent | router 2, group "green": "never" hits nothing of the history`,
		`silent | router 2, group "more": "catalog" hits nothing of the history`,
		`inside | router 3, group "blue": "Lager" counts inside longer words, in 1 of the texts: "zentrallager" (1)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got = got[:0]
	for _, f := range router.Lint(nil) {
		got = append(got, string(f.Kind)+" | "+f.String())
	}
	want = []string{
		`inside | router 2, group "red": "cation" counts inside the keyword "education" of group "green"`,
		`overlap | router 2, group "red": "mail" counts wherever the keyword "express mail" of group "green" does`,
		`overlap | router 2, group "green": "tuer" counts wherever the keyword "Tür" of group "red" does`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("without a history got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLintAgreesWithDecide: a keyword is silent exactly if no decision names it.
func TestLintAgreesWithDecide(t *testing.T) {
	t.Parallel()
	router := compiled(t, propertyProfile())
	rapid.Check(t, func(t *rapid.T) {
		history := rapid.SliceOfN(aText(), 1, 5).Draw(t, "history")
		hit := map[string]bool{}
		for _, text := range history {
			decision, _ := router.Decide(text, "")
			for _, c := range decision.Candidates {
				for _, m := range c.Matches {
					hit[m.Keyword] = true
				}
			}
		}
		var want, got []string
		for _, g := range propertyProfile().Routers[0].Groups {
			for _, k := range g.Keywords {
				if !hit[k.Word] {
					want = append(want, k.Word)
				}
			}
		}
		for _, f := range router.Lint(history) {
			if f.Kind == route.FindingSilent {
				got = append(got, f.Keyword)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("silent are %q, want %q", got, want)
		}
		if again := fmt.Sprint(router.Lint(history)); again != fmt.Sprint(router.Lint(history)) {
			t.Fatalf("twice differently: %s", again)
		}
	})
}
