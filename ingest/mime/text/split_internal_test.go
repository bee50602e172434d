package text

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// hostileTexts are texts made to be slow to split: nearly everything in them
// begins like something that announces a quotation.
func hostileTexts() map[string]string {
	return map[string]string{
		"ends of attributions":   "1:\n",
		"attributions of nobody": "on 5 may 2026, wrote:\n",
		"wrapped attributions":   "on mon, jan 5, 2026\nat 9:00, ana\n<a@b.c> wrot\ne:\n",
		"weak attributions":      "ana wrote:\n",
		"sentences above others": "On 5 May 2026, Ana wrote:\nx\nOn 5 May 2026 at 9:00 Ana <a@b.c> wrote:\n> x\n",
		"all beginnings":         "on am le el il em op w den 5 2026 wrote schrieb a écrit skrev:\n",
		"fields":                 "from: a\n",
		"fields of two":          "to: a@b\nsubject: b\n",
		"fields of every tongue": "от: a\nda: b\nvon: c\n发件人: d\n",
		"rules":                  "_____\n",
		"rules above fields":     "-----\nto: b\n",
		"separators":             "-----original messag-----\n",
		"delimiters":             "-- \n",
		"long lines":             strings.Repeat("on 5 may 2026 a@b.c ", 24) + ":\n",
		"foreign letters":        "写道：写道：写道：写道：\n",
		"capital beginnings":     "On Am Le El Il Em Op W Den On Mon Jan 5, 2026 at 8:59 AM, Am On Le El x@y.z wrote:\n",
		"words before dashes":    "a -- b -- c -- On Mon Jan 5, 2026 at 8:59 -- On a@b.c -- wrote:\n",
		"brackets left open":     "On 5 Jan 2026 at 9:00 a <a@b.c\n>:\n",
		"brackets and no blanks": "On 5 Jan 2026 at 9:00 a<a@b.c>wrote:\n",
		"arrows":                 ">>> a <<<\n",
		"arrows left open":       ">>>\na\n",
		"wrapped marks":          "> " + strings.Repeat("long ", 20) + "a\nb\n",
		"rows":                   "| From | a |\n",
		"rows of two":            "| to | a@b |\n| subject | b |\n",
		"fields without colons":  "message du 5\n",
		"single separators":      "--- original ---\nfrom: a\n",
		"double rules":           "=====\nto: b\n",
		"marked":                 "> on 5 may 2026 ana wrote:\n",
	}
}

// TestSplitIsLinear_I19 counts the work on hostile texts: twice the text is
// twice the work, and no line costs more than a bounded number of comparisons.
func TestSplitIsLinear_I19(t *testing.T) {
	t.Parallel()
	for name, unit := range hostileTexts() {
		work := func(size int) (steps, lines int) {
			s := newSplitter(DefaultLanguages(), strings.Repeat(unit, size/len(unit)))
			s.split(Purpose{Reply: true})
			return s.steps, len(s.lines)
		}
		once, _ := work(64 << 10)
		twice, lines := work(128 << 10)
		if float64(twice) > 2.1*float64(once)+200 {
			t.Errorf("%s: %d steps, and %d for twice the text", name, once, twice)
		}
		if most := 600; twice > most*lines {
			t.Errorf("%s: %d steps for %d lines", name, twice, lines)
		}
	}
}

// reference is a template as a regular expression, which says what it means.
func reference(text string) *regexp.Regexp {
	meaning := map[string]string{"any": ".*", "date": ".*[0-9].*", "time": ".*[0-9].*", "name": `.*[\p{L}\p{Nd}].*`, "address": ".*@.*"}
	var expression strings.Builder
	for i, piece := range strings.Split(Normalize(text), "{") {
		if i == 0 {
			expression.WriteString(regexp.QuoteMeta(piece))
			continue
		}
		name, literal, _ := strings.Cut(piece, "}")
		expression.WriteString("(?:" + meaning[name] + ")" + regexp.QuoteMeta(literal))
	}
	return regexp.MustCompile(`(?s)\A(?:` + expression.String() + `)\z`)
}

// TestTemplatesMeanWhatTheySay_I19: matching without going back finds what a
// search that tries everything finds.
func TestTemplatesMeanWhatTheySay_I19(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable on purpose
	pieces := []string{"{date}", "{name}", "{address}", "{any}", "a", "b", " ", "ab", "{time}"}
	letters := []string{"a", "b", " ", "5", "@", "é", "-"}
	matched := 0
	for range 20_000 {
		var text strings.Builder
		before := ""
		for range 1 + random.IntN(5) {
			piece := pieces[random.IntN(len(pieces))]
			if strings.HasPrefix(piece, "{") && strings.HasPrefix(before, "{") {
				text.WriteString("a")
			}
			text.WriteString(piece)
			before = piece
		}
		parsed, err := parseTemplate(text.String())
		if err != nil {
			t.Fatalf("%q: %v", text.String(), err)
		}
		meant := reference(text.String())
		for range 20 {
			var line strings.Builder
			for range random.IntN(10) {
				line.WriteString(letters[random.IntN(len(letters))])
			}
			_, is := parsed.matches(line.String())
			if is != meant.MatchString(line.String()) {
				t.Fatalf("%q and %q: %t", text.String(), line.String(), is)
			}
			if is {
				matched++
			}
		}
	}
	if matched < 10_000 {
		t.Errorf("only %d lines matched", matched)
	}
}
