package route

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/schemas"
)

// TestLongTextsAreLookedThroughOnce: what was found in a long text is found again without another look, as often as the text
// returns; a caller that changes what it was given changes nothing that is remembered. A short text is looked through each time.
func TestLongTextsAreLookedThroughOnce(t *testing.T) {
	t.Parallel()
	r, looks := &recent{}, 0
	look := func(text string) []occurrence {
		found := r.first(text, func() []occurrence {
			looks++
			return []occurrence{{keyword: 1, start: len(text)}, {keyword: 2}}
		})
		want := []occurrence{{keyword: 1, start: len(text)}, {keyword: 2}}
		if !slices.Equal(found, want) {
			t.Fatalf("found %v, want %v", found, want)
		}
		slices.Reverse(found)
		return found
	}
	long := strings.Repeat("x", longText)
	look(long)
	look(strings.Clone(long))
	if looks != 1 {
		t.Errorf("a long text is looked through %d times", looks)
	}
	for i := range maxRecent {
		look(long + strconv.Itoa(i))
	}
	if len(r.found) != maxRecent {
		t.Errorf("%d texts are remembered", len(r.found))
	}
	if looks = 0; len(look(long)) != 2 || looks != 1 {
		t.Errorf("a text that came long ago is looked through %d times", looks)
	}
	look("short")
	look("short")
	if looks != 3 {
		t.Errorf("short texts are looked through %d times", looks-1)
	}
}

// TestReadingAheadDecidesNothing: a router that has looked through a long text before decides as one that has not, and looks
// through it no more.
func TestReadingAheadDecidesNothing(t *testing.T) {
	t.Parallel()
	profile := &schemas.Profile{
		Agents: []schemas.AgentUse{{Name: "letters"}, {Name: "sums"}},
		Routers: []schemas.Router{
			{Kind: schemas.RouterKeywords, Mode: schemas.OrderScore, Groups: []schemas.KeywordGroup{
				{Name: "letters", Agent: "letters", Keywords: []schemas.Keyword{{Word: "letter", Mode: schemas.ModeWord}, {Word: `write\w*`, Mode: schemas.ModeRegex}}},
				{Name: "sums", Agent: "sums", Keywords: []schemas.Keyword{{Word: "sum", Mode: schemas.ModeWord}}},
			}},
			{Kind: schemas.RouterDefault, Agent: "sums"},
		},
	}
	text := strings.Repeat("nothing of note ", longText/8) + "please write a letter"
	fresh, err := Compile(profile)
	if err != nil {
		t.Fatal(err)
	}
	ahead, err := Compile(profile)
	if err != nil {
		t.Fatal(err)
	}
	ahead.ReadAhead(text)
	matcher := ahead.routers[0].matcher
	before := len(matcher.recent.found)
	got, decided := ahead.Decide(text, "")
	want, _ := fresh.Decide(text, "")
	if !decided || !reflect.DeepEqual(got, want) || got.NextAgent != "letters" {
		t.Errorf("it decides %+v, want %+v", got, want)
	}
	if before == 0 || len(matcher.recent.found) != before {
		t.Errorf("%d texts were looked through ahead, %d afterwards", before, len(matcher.recent.found))
	}
}
