package route_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podium/bus/bustest/cputime"
	"podium/schemas"
	"podium/supervisor/route"
)

// fataler is what a test and a property check have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func compiledFor(t fataler, p *schemas.Profile) *route.Router {
	t.Helper()
	router, err := route.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return router
}

func canonical(t fataler, v any) []byte {
	t.Helper()
	body, err := schemas.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// checkSteps checks that nothing of a text is lost and nothing is added.
func checkSteps(t fataler, text string, steps []route.Step, limit int) {
	t.Helper()
	visible := strings.TrimSpace(text)
	if visible == "" {
		if len(steps) != 0 {
			t.Fatalf("steps of nothing: %+v", steps)
		}
		return
	}
	if len(steps) == 0 || len(steps) > limit {
		t.Fatalf("%d steps of %q", len(steps), text)
	}
	var all strings.Builder
	for i, step := range steps {
		if i > 0 && step.Start != steps[i-1].End {
			t.Fatalf("a gap before step %d of %q: %+v", i, text, steps)
		}
		part := text[step.Start:step.End]
		all.WriteString(part)
		if step.Text == "" || strings.TrimSpace(step.Text) != step.Text || !strings.HasPrefix(part, step.Text) {
			t.Fatalf("step %d of %q is %+v", i, text, step)
		}
		rest := strings.ToLower(part[len(step.Text):])
		for _, separator := range []string{"then", "and", "please"} {
			rest = strings.ReplaceAll(rest, separator, "")
		}
		if i == len(steps)-1 && rest != "" {
			t.Fatalf("the last step of %q loses %q", text, rest)
		}
		if strings.ContainsAny(rest, "mixstr") {
			t.Fatalf("step %d of %q loses %q", i, text, rest)
		}
	}
	if all.String() != visible {
		t.Fatalf("the steps of %q cover %q", text, all.String())
	}
}

func TestStepsLoseNothing(t *testing.T) {
	t.Parallel()
	router := compiled(t, propertyProfile())
	rapid.Check(t, func(t *rapid.T) {
		text := aText().Draw(t, "text")
		steps := router.Steps(text)
		checkSteps(t, text, steps, 3)
		if again := router.Steps(text); len(again) != len(steps) {
			t.Fatalf("%+v then %+v", steps, again)
		}
	})
}

func TestStepLimit(t *testing.T) {
	t.Parallel()
	profile := propertyProfile()
	text := strings.Repeat("Mix it. Stir it. ", 50)
	for limit, want := range map[int]int{0: route.DefaultMaxSteps, 1: 1, 2: 2, 100: 100} {
		profile.Execution.MaxSteps = limit
		if got := compiled(t, profile).Split(text); len(got) != want {
			t.Errorf("max_steps %d: %d steps, want %d", limit, len(got), want)
		}
	}
}

func TestComplexityOff(t *testing.T) {
	t.Parallel()
	profile := propertyProfile()
	profile.Complexity = nil
	router := compiled(t, profile)
	text := " Mix it and then stir it.\n"
	if c := router.AssessComplexity(text); c.Complex || len(c.Reasons) == 0 {
		t.Errorf("%+v", c)
	}
	if steps := router.Split(text); len(steps) != 1 || steps[0] != strings.TrimSpace(text) {
		t.Errorf("%q", steps)
	}
}

// TestPatternsAreFolded_O18: patterns are written as people write.
func TestPatternsAreFolded_O18(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{`\bthen\b`, "first this, THEN that", true},
		{`\bthen\b`, "strengthen Athens", false},
		{`and (then )?stir`, "mix and stir", true},
		{`and (then )?stir`, "mix and\nthen  stir", true},
		{`and (then)? stir`, "mix and stir", false},
		{`\bWährend\b`, "waehrend", true},
		{`\bwa(ä|e)?`, "wae", true},
		{`f[üi]r`, "fur", false},
		{`f[üi]r`, "FÜR", true},
		{`f[üi]r`, "fir", true},
		{`^[A-C]x$`, "bx", true},
		{`e-?mail`, "E-Mail", true},
		{`e-?mail`, "email", true},
		{`a\s+b`, "a\n\nb", true},
		{`a.*b`, "a\n\nb", false},
		{`a[^x]*b`, "a, \n\n ö b", true},
		{`\d{2}:\d{2}`, "at 12:30", true},
	} {
		profile := propertyProfile()
		profile.Complexity = &schemas.ComplexityRules{Patterns: []string{test.pattern}}
		if c := compiled(t, profile).AssessComplexity(test.text); c.Complex != test.want || (c.Pattern == test.pattern) != test.want {
			t.Errorf("%s on %q: %+v", test.pattern, test.text, c)
		}
	}
}

// TestLongTextsTakeLinearTime: four times the text takes four times as long, and not sixteen times, with any content.
func TestLongTextsTakeLinearTime(t *testing.T) {
	t.Parallel()
	router := compiled(t, propertyProfile())
	for _, piece := range []string{
		"mix ", " \"", "\"x ", "mix: ", ", mix", "mix and ", "\n\nmix", "\n- x", "e\u0301", "\u0308", "- ", "? ", "cat", "red ", "x",
	} {
		reading := func(size int) func() {
			text := "mix, stir " + strings.Repeat(piece, size/len(piece))
			return func() {
				router.Steps(text)
				router.Decide(text, "")
			}
		}
		long := reading(route.MaxRead - 16)
		if cputime.Of(t, long) > 50*time.Millisecond {
			cputime.Proportion(t, fmt.Sprintf("%q again and again", piece), 10, reading(route.MaxRead/4), long)
		}
	}
}

// TestLongMessagesAreReadAtBothEnds: of a message that is longer than the rules read, the middle counts for nothing; where a
// keyword stands is told as in any message, and the steps leave nothing out.
func TestLongMessagesAreReadAtBothEnds(t *testing.T) {
	t.Parallel()
	profile := profileWith(keywords(schemas.OrderConfigured, group("red", 0, word("termin")), group("green", 0, word("brief"))))
	profile.Complexity = &schemas.ComplexityRules{Verbs: []schemas.Keyword{word("sage"), word("schreibe")}}
	router := compiled(t, profile)
	filler := strings.Repeat("größer ", 1<<20/8)
	for name, test := range map[string]struct {
		text string
		want string // the agent
	}{
		"beginning": {"termin " + filler, "red"},
		"end":       {filler + "brief", "green"},
		"middle":    {filler + "termin " + filler, ""},
		"a word":    {strings.Repeat("ö", 1<<19), ""},
		"no UTF-8":  {strings.Repeat("\x80", 1<<19), ""},
	} {
		decision, _ := router.Decide(test.text, "")
		if decision.NextAgent != test.want {
			t.Errorf("%s: it goes to %q: %s", name, decision.NextAgent, told(decision.Reasons))
		}
		for _, match := range decision.Candidates[:min(1, len(decision.Candidates))] {
			for _, m := range match.Matches {
				if found := test.text[m.Start:m.End]; found != m.Keyword {
					t.Errorf("%s: %q stands at %d, not %q", name, found, m.Start, m.Keyword)
				}
			}
		}
		if read := route.Excerpt(test.text); len(read) > route.MaxRead+4 || strings.HasPrefix(test.text, "\x80") != !utf8.ValidString(read) {
			t.Errorf("%s: %d bytes are read", name, len(read))
		}
	}
	long := "Sage den Termin ab. Schreibe den Brief. " + filler + "."
	if steps := router.Steps(long); len(steps) != 2 || steps[0].Text != "Sage den Termin ab." || steps[1].End != len(long) || len(steps[1].Text) < len(filler) {
		t.Errorf("%d steps", len(steps))
	}
}
