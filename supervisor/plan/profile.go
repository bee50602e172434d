package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"podium/schemas"
	"podium/supervisor/route"
)

// A Profile is a schemas.Profile made ready for deciding. It does not change.
type Profile struct {
	schemas.Profile
	Hash   string // SHA-256 (hex) of the canonical JSON
	router *route.Router
}

// ErrInvalidProfile reports a profile that cannot decide.
var ErrInvalidProfile = errors.New("profile cannot be used")

// Compile checks a profile and makes it ready. All faults are reported together.
func Compile(source schemas.Profile) (*Profile, error) {
	body, err := schemas.Marshal(source)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	profile := &Profile{Profile: source, Hash: hex.EncodeToString(sum[:])}
	faults := profile.faults()
	if profile.router, err = route.Compile(&profile.Profile); err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %q: %w", ErrInvalidProfile, source.Name, errors.Join(faults...))
	}
	return profile, nil
}

func (p *Profile) faults() []error {
	var faults []error
	if len(p.Languages) == 0 {
		faults = append(faults, errors.New("it has no language"))
	} else if p.Language != schemas.LanguageOfWriter && p.words(p.Language).Tag != p.Language {
		faults = append(faults, fmt.Errorf("it answers in %q, but has no words in that language", p.Language))
	}
	if p.Retry.Attempts < 1 || p.Delivery.Attempts < 1 {
		faults = append(faults, errors.New("retry.attempts and delivery.attempts are at least 1"))
	}
	if p.Deadlines.Queue <= 0 || p.Deadlines.Work <= 0 {
		faults = append(faults, errors.New("deadlines.queue and deadlines.work are longer than 0"))
	}
	return faults
}

// Router returns the profile's routers.
func (p *Profile) Router() *route.Router { return p.router }

func (p *Profile) workDeadline(agent string) time.Duration {
	for i := range p.Agents {
		if p.Agents[i].Name == agent && p.Agents[i].Work > 0 {
			return time.Duration(p.Agents[i].Work)
		}
	}
	return time.Duration(p.Deadlines.Work)
}

// TextsIn returns the sentences of a language, or of the profile's first.
func (p *Profile) TextsIn(tag string) *schemas.Texts { return &p.words(tag).Texts }

func (p *Profile) words(tag string) *schemas.Language {
	for i := range p.Languages {
		if p.Languages[i].Tag == tag {
			return &p.Languages[i]
		}
	}
	return &p.Languages[0]
}

// LanguageFor returns the language of the answer to a text: the profile's, else
// what the writer says, else the one most of whose markers stand in the text,
// else the profile's first.
func (p *Profile) LanguageFor(text, said string) string {
	if p.Language != schemas.LanguageOfWriter {
		return p.Language
	}
	if primary, _, _ := strings.Cut(strings.ToLower(said), "-"); primary != "" && p.words(primary).Tag == primary {
		return primary
	}
	words := strings.FieldsFunc(strings.ToLower(head(text, languageSample)), func(c rune) bool { return !unicode.IsLetter(c) })
	best, most := p.Languages[0].Tag, 0
	for i := range p.Languages {
		if n := count(words, p.Languages[i].Markers); n > most {
			best, most = p.Languages[i].Tag, n
		}
	}
	return best
}

// languageSample is how many bytes of a text are looked at for its language.
const languageSample = 2 << 10

func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

func count(words, markers []string) int {
	n := 0
	for _, word := range words {
		if slices.Contains(markers, word) {
			n++
		}
	}
	return n
}
