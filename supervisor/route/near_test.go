package route_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/route"
)

// TestNearKeyword shows which slips of whoever writes do not hide a keyword of mode near, and what is another word.
func TestNearKeyword(t *testing.T) {
	t.Parallel()
	const near = schemas.ModeNear
	for _, test := range []struct {
		keyword schemas.Keyword
		text    string
		want    string
	}{
		{mode(near, "Brustschmerz"), "starke Brustschmerzen seit heute", "Brustschmerzen"},
		{mode(near, "Brustschmerz"), "Brustschmertzen", "Brustschmertzen"},
		{mode(near, "Brustschmerz"), "brutschmerzen!", "brutschmerzen"},
		{mode(near, "Brustschmerz"), "Burstschmerzen", "Burstschmerzen"},
		{mode(near, "Brustschmerz"), "Rustschmerz", "Rustschmerz"},
		{mode(near, "Brustschmerz"), "Brüstschmerz", "Brüstschmerz"},
		{mode(near, "Brustschmerz"), "Burtsschmerz", ""}, // two slips
		{mode(near, "Brustschmerz"), "Brust-Schmerz, Burstschmers", ""},
		{mode(near, "Brustschmerz"), "Brust schmerzt", ""},
		{mode(near, "Atemnot"), "Atemnod", "Atemnod"},
		{mode(near, "Atemnot"), "atemno", "atemno"},
		{mode(near, "ohnmächtig"), "ohnmachtig", "ohnmachtig"},
		{mode(near, "vergiftet"), "vergiftte Pilze", "vergiftte"},
		{mode(near, "Vergiftung"), "die Vergütung", ""},
		{mode(near, "Bestellung", "Bestallung"), "Bestallung, Bestelung", "Bestelung"},
		{mode(near, "отравление"), "это отравлние", "отравлние"},
	} {
		router := compiled(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, test.keyword))))
		decision, decided := router.Decide(test.text, "")
		if decided != (test.want != "") || decided && decision.Candidates[0].Matches[0].Text != test.want {
			t.Errorf("%q in %q: decided %t, %+v", test.keyword.Word, test.text, decided, decision.Candidates)
		}
	}
	for _, short := range []string{"Termin", "zwei Wörter"} {
		if _, err := route.Compile(profileWith(keywords(schemas.OrderConfigured, group("red", 0, mode(near, short))))); err == nil || !strings.Contains(err.Error(), "one word of seven letters") {
			t.Errorf("%q: %v", short, err)
		}
	}
}

// TestNearAgreesWithDefinition compares the mode with all words that one slip makes, on words of few letters.
func TestNearAgreesWithDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keyword := rapid.StringMatching(`[ab]{7,8}`).Draw(t, "keyword")
		word := rapid.StringMatching(`[ab]{5,10}`).Draw(t, "word")
		want := false
		for i := range len(keyword) + 1 {
			variants := []string{keyword, keyword[:i] + "a" + keyword[i:], keyword[:i] + "b" + keyword[i:]}
			if i < len(keyword) {
				variants = append(variants, keyword[:i]+keyword[i+1:], keyword[:i]+"a"+keyword[i+1:], keyword[:i]+"b"+keyword[i+1:])
			}
			if i+1 < len(keyword) {
				variants = append(variants, keyword[:i]+keyword[i+1:i+2]+keyword[i:i+1]+keyword[i+2:])
			}
			for _, variant := range variants {
				want = want || strings.HasPrefix(word, variant)
			}
		}
		router := compiledFor(t, profileWith(keywords(schemas.OrderConfigured, group("red", 0, mode(schemas.ModeNear, keyword)))))
		if _, decided := router.Decide(word, ""); decided != want {
			t.Fatalf("%q in %q: decided %t", keyword, word, decided)
		}
	})
}
