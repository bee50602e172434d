package language

import (
	"errors"
	"fmt"
	"slices"
)

// Text1 is the first way of judging texts, and names its model and its rules together. Profiles are pinned with the name, so neither of
// them changes any more: a better one has another name and stands beside it.
const Text1 = "text1"

// Newest is the way of judging that configuration gives a profile.
const Newest = Text1

// ErrUnknown reports a way of judging that this version does not know.
var ErrUnknown = errors.New("unknown way of judging texts")

// A Detector judges texts. It does not change.
type Detector struct {
	model *model
}

// Find returns the way of judging that has a name.
func Find(name string) (*Detector, error) {
	if name != Text1 {
		return nil, fmt.Errorf("%w: %q; this version knows %q", ErrUnknown, name, Text1)
	}
	m, err := text1()
	return &Detector{model: m}, err
}

// Knows reports whether texts that should be in a language can be judged.
func (d *Detector) Knows(tag string) bool {
	return tag != neutral && slices.Contains(d.model.tags, tag)
}

// Other returns the language that a text, or a part of it, is in, if that is surely not the one that all of it should be in: a tag, or
// "und-" and the code of a script (ISO 15924). It is empty when the text fits or nobody can tell. What answers is not judged
// where it repeats what was said by whom it answers.
func (d *Detector) Other(text, own string, said Said) string {
	at := slices.Index(d.model.tags, own)
	if at < 0 {
		return ""
	}
	judged := words(text, said)
	if script := otherScript(judged); script != "" {
		return "und-" + script
	}
	told := d.model.evidence(judged, at, false)
	most, found := 0, ""
	for other, tag := range d.model.tags {
		if other == at || tag == neutral || alike(tag, own) {
			continue
		}
		if part := told.longest(other); part.sum > most && part.enough() {
			most, found = part.sum, tag
		}
	}
	return found
}

// Fits reports whether a text is rather in a language than in any other one, however short it is: for words that are told only when they are
// in the right language, and can be left out. A text without words to judge fits.
func (d *Detector) Fits(text, own string, said Said) bool {
	at := slices.Index(d.model.tags, own)
	if at < 0 {
		return true
	}
	judged := words(text, said)
	if otherScript(judged) != "" || d.Other(text, own, said) != "" {
		return false
	}
	told := d.model.evidence(judged, at, true)
	for other, tag := range d.model.tags {
		if other != at && tag != neutral && !alike(tag, own) && told.total(other) > mostDoubt {
			return false
		}
	}
	return true
}

// alike reports languages that words alone do not tell apart.
func alike(a, b string) bool { return a == "da" && b == "nb" || a == "nb" && b == "da" }
