package route

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRequiredLetters shows of which letters an expression is known to need one.
func TestRequiredLetters(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`\brechnung \d+`:            "rechnung ",
		`\b(?:keine?|kaum) luft\b`:  " luft",
		`\b(?:stark|heftig)\w*`:     "stark heftig",
		`(?:sehen|sprechen)`:        "ehen prechen",
		`abc|\d+`:                   "",
		`(?:abc)?d`:                 "",
		`(?i)abc`:                   "",
		`(ab){2,3}x+`:               "ab",
		`a`:                         "",
		`\w*tube[^.]{0,40}\bgeleck`: "geleck",
	} {
		parsed, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(required(parsed), " "); got != want {
			t.Errorf("%s needs %q, not %q", source, got, want)
		}
	}
}

// TestSieveKeepsWhatMatches: an expression that matches a text is never sieved out.
func TestSieveKeepsWhatMatches(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "ab", "ba", "b+", "a*", "(ab|b)", "(?:ab)?", "[ab]", "a{2}", ".", `\b`, "(ab|ba|bb)", "(?i)AB", "(aab|aba)+", "b{0,2}", "|"})
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "expression"), "")
		text := rapid.StringMatching(`[ab ]{0,12}`).Draw(t, "text")
		expression, err := regexp.Compile(source)
		if err != nil {
			return
		}
		s := newSieve([]string{"never there", source})
		if may := s.may([]byte(text)); expression.MatchString(text) && !may[1] {
			t.Fatalf("%s matches %q and is not tried", source, text)
		}
	})
}
