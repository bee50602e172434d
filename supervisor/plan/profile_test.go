package plan_test

import (
	"errors"
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/plan"
)

// TestCompileNamesFaults: every fault is named, all together.
func TestCompileNamesFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*schemas.Profile)
		says   []string
	}{
		"no language":              {func(p *schemas.Profile) { p.Languages = nil }, []string{"it has no language"}},
		"no words in its language": {func(p *schemas.Profile) { p.Language = "fr" }, []string{`it answers in "fr"`}},
		"no attempt":               {func(p *schemas.Profile) { p.Retry.Attempts = 0 }, []string{"retry.attempts and delivery.attempts"}},
		"no delivery":              {func(p *schemas.Profile) { p.Delivery.Attempts = 0 }, []string{"retry.attempts and delivery.attempts"}},
		"no queue deadline":        {func(p *schemas.Profile) { p.Deadlines.Queue = 0 }, []string{"deadlines.queue"}},
		"no work deadline":         {func(p *schemas.Profile) { p.Deadlines.Work = -1 }, []string{"deadlines.work"}},
		"no router":                {func(p *schemas.Profile) { p.Routers = nil }, []string{"routers"}},
		"a strange agent": {func(p *schemas.Profile) {
			p.Routers = append(p.Routers, schemas.Router{Kind: schemas.RouterDefault, Agent: "stranger"})
		}, []string{"stranger"}},
		"several": {func(p *schemas.Profile) { p.Languages, p.Retry.Attempts, p.Routers = nil, 0, nil }, []string{"it has no language", "retry.attempts", "routers"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := steps()
			test.change(&source)
			_, err := plan.Compile(source)
			if !errors.Is(err, plan.ErrInvalidProfile) {
				t.Fatalf("got %v", err)
			}
			for _, part := range append(test.says, `"steps"`) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// TestProfileHash: the same profile has the same hash, another has another.
func TestProfileHash(t *testing.T) {
	t.Parallel()
	one, two := compile(t, steps()), compile(t, steps())
	changed := steps()
	changed.Languages[0].Texts.Empty = "fini"
	if one.Hash != two.Hash || len(one.Hash) != 64 || compile(t, changed).Hash == one.Hash {
		t.Errorf("hashes %s, %s", one.Hash, two.Hash)
	}
}

func TestLanguageFor_G28(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x ", 1<<10)
	for name, test := range map[string]struct {
		fixed, text, said, want string
	}{
		"fixed":                             {"de", "the cat and the dog", "en", "de"},
		"said":                              {"user", "der Hund und die Katze", "en", "en"},
		"said with a region":                {"user", "the cat", "de-AT", "de"},
		"said in capitals":                  {"user", "the cat", "DE", "de"},
		"said, but unknown":                 {"user", "der Hund", "fr", "de"},
		"said, but empty before the region": {"user", "der Hund", "-de", "de"},
		"most markers":                      {"user", "the der und", "", "de"},
		"a tie goes to the first":           {"user", "the der", "", "en"},
		"no marker":                         {"user", "12", "", "en"},
		"no text":                           {"user", "", "", "en"},
		"capitals and punctuation":          {"user", "UND? DER!", "", "de"},
		"an umlaut":                         {"user", "für", "", "de"},
		"only whole words":                  {"user", "derby underground", "", "en"},
		"only the beginning counts":         {"user", long + strings.Repeat(" und", 100), "", "en"},
		"cut inside a letter":               {"user", "der " + strings.Repeat("ü", 2<<10), "", "de"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := steps()
			source.Language = test.fixed
			if got := compile(t, source).LanguageFor(test.text, test.said); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestTextsIn: a language without words gets those of the profile's first.
func TestTextsIn(t *testing.T) {
	t.Parallel()
	profile := compile(t, steps())
	if profile.TextsIn("de").Timeout != "zu langsam" || profile.TextsIn("fr").Timeout != "too slow" {
		t.Errorf("%q, %q", profile.TextsIn("de").Timeout, profile.TextsIn("fr").Timeout)
	}
}
