package route

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/schemas"
)

// TestLongTextsAreLookedThroughOnce: what was read ahead is found again without another look, also by a caller that sorts what it
// is given. A short text, and one that was not read ahead, is looked through each time, and nothing is remembered of it.
func TestLongTextsAreLookedThroughOnce(t *testing.T) {
	t.Parallel()
	keywords, err := CompileKeywords([]schemas.Keyword{{Word: "sum", Mode: schemas.ModeWord}, {Word: "letter", Mode: schemas.ModeWord}})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x ", longText) + "a letter about a sum"
	look := func(found *Found, text string) []occurrence {
		return found.first(keywords.matcher, keywords.folder.fold(text))
	}
	want := look(nil, long)
	ahead := &Found{}
	if !keywords.ReadAhead(long, ahead) || len(want) != 2 {
		t.Fatalf("found %v", want)
	}
	for range 2 {
		got := look(ahead, strings.Clone(long))
		if !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
		slices.Reverse(got)
	}
	planted := []occurrence{{keyword: 1}}
	ahead.texts[keyOf(long)][keywords.matcher] = planted
	if got := look(ahead, long); !slices.Equal(got, planted) {
		t.Error("it is looked through again")
	}
	if !keywords.ReadAhead("a sum", ahead) || !keywords.HitAgain(long+"s of sum", ahead) || len(ahead.texts) != 1 {
		t.Errorf("%d texts are remembered", len(ahead.texts))
	}
	all := &Found{}
	for i := range 3 * maxFound {
		one := &Found{}
		keywords.ReadAhead(long+strconv.Itoa(i), one)
		if all.Add(one); len(all.texts) > maxFound || all.texts[keyOf(long+strconv.Itoa(i))] == nil {
			t.Fatalf("%d texts are remembered behind text %d", len(all.texts), i)
		}
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
	found := &Found{}
	ahead.ReadAhead(text, found)
	before := len(found.texts[keyOf(text)])
	got, decided := ahead.DecideWith(text, "", Evidence{Found: found})
	want, _ := fresh.Decide(text, "")
	if !decided || !reflect.DeepEqual(got, want) || got.NextAgent != "letters" {
		t.Errorf("it decides %+v, want %+v", got, want)
	}
	if before == 0 {
		t.Error("nothing was found ahead")
	}
}

// TestObjectsInObjectsAreBounded: of objects in objects, none of which is looked for, as many are read as are one answer's size
// a few times over.
func TestObjectsInObjectsAreBounded(t *testing.T) {
	t.Parallel()
	count := func(text string) (reads int) {
		objects(text, func(string) bool { reads++; return false })
		return reads
	}
	nested := strings.Repeat(`{"a":`, 200) + "{" + strings.Repeat(" ", answerLimit-2000) + "}" + strings.Repeat("}", 200)
	if reads := count(nested); reads < 4 || reads > 5 {
		t.Errorf("of long ones %d are read", reads)
	}
	if reads := count(strings.Repeat(`{"a":`, 200) + "{}" + strings.Repeat("}", 200)); reads != 201 {
		t.Errorf("of short ones %d are read", reads)
	}
}
