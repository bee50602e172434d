// Package reference finds the artifacts that free JSON names, however deep: what an agent is
// asked, or answers, refers to files by their hash, and may bring the grant to read them.
//
// It edits the bytes as they stand, in one pass, and knows nothing of who may read what.
package reference

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// A reference is an artifact that free JSON names: an object with the member
// sha256, however deep. Offsets are those of the JSON.
type reference struct {
	schemas.Artifact
	behind   int // the value of sha256; 0 when there is none
	from, to int // the member grant and the comma that goes with it; both 0 when there is none
}

// TakeGrants returns free JSON without the grants of the artifacts that it names,
// and of each that had one its hash and its grant, in order. JSON that names none
// is returned as it is.
func TakeGrants(value jsontext.Value) (jsontext.Value, []schemas.Artifact) {
	var taken []schemas.Artifact
	var edits []edit
	for _, found := range referencesIn(value) {
		if found.to == 0 {
			continue
		}
		edits = append(edits, edit{from: found.from, to: found.to})
		if found.Grant != "" {
			taken = append(taken, found.Artifact)
		}
	}
	return edited(value, edits), taken
}

// GiveGrants returns free JSON with the grant that each artifact gets, and without
// any other: an artifact for which grant returns nothing has none.
func GiveGrants(value jsontext.Value, grant func(sha256 string) string) jsontext.Value {
	var edits []edit
	for _, found := range referencesIn(value) {
		if given := grant(found.SHA256); given != "" {
			quoted, err := jsontext.AppendQuote([]byte(`,"grant":`), given)
			if err != nil {
				continue // a grant is printable ASCII
			}
			edits = append(edits, edit{from: found.behind, to: found.behind, text: quoted})
		}
		if found.to != 0 {
			edits = append(edits, edit{from: found.from, to: found.to})
		}
	}
	return edited(value, edits)
}

// Hashes returns the hashes of the artifacts that free JSON names, in order.
func Hashes(value jsontext.Value) []string {
	var hashes []string
	for _, found := range referencesIn(value) {
		hashes = append(hashes, found.SHA256)
	}
	return hashes
}

// referencesIn finds the artifacts in JSON that was read before; what is no JSON
// has none behind its first fault. One pass, whatever the depth.
func referencesIn(value jsontext.Value) []reference {
	if !bytes.Contains(value, []byte("sha256")) {
		return nil
	}
	s := referenceScan{decoder: jsontext.NewDecoder(bytes.NewReader(value)), text: value}
	for s.step() {
	}
	slices.SortFunc(s.found, func(a, b reference) int { return a.behind - b.behind })
	return s.found
}

type referenceScan struct {
	decoder *jsontext.Decoder
	text    []byte
	open    []reference // of each object and array around the place
	found   []reference
}

// step takes one token; false is the end.
func (s *referenceScan) step() bool {
	before := int(s.decoder.InputOffset())
	token, err := s.decoder.ReadToken()
	if err != nil {
		return false
	}
	switch token.Kind() {
	case '{', '[':
		s.open = append(s.open, reference{})
	case '}', ']':
		if last := s.open[len(s.open)-1]; last.behind != 0 {
			s.found = append(s.found, last)
		}
		s.open = s.open[:len(s.open)-1]
	case '"':
		if kind, length := s.decoder.StackIndex(s.decoder.StackDepth()); kind == '{' && length%2 == 1 {
			return s.member(token.String(), before, length == 1)
		}
	}
	return true
}

// member takes the value of a member that a reference consists of.
func (s *referenceScan) member(name string, before int, first bool) bool {
	at := &s.open[len(s.open)-1]
	switch {
	case name == "sha256" && s.decoder.PeekKind() == '"':
		token, err := s.decoder.ReadToken()
		if err != nil {
			return false
		}
		if hash := token.String(); schemas.ValidHash(hash) {
			at.SHA256, at.behind = hash, int(s.decoder.InputOffset())
		}
	case name == "grant":
		value, err := s.decoder.ReadValue()
		if err != nil {
			return false
		}
		if value.Kind() == '"' {
			if text, err := jsontext.AppendUnquote(nil, value); err == nil {
				at.Grant = string(text)
			}
		}
		at.from, at.to = before, int(s.decoder.InputOffset())
		if rest := bytes.TrimLeft(s.text[at.to:], " \t\r\n"); first && len(rest) > 0 && rest[0] == ',' {
			at.to = len(s.text) - len(rest) + 1
		}
	}
	return true
}

// An edit puts text in the place of what stands between two offsets.
type edit struct {
	from, to int
	text     []byte
}

func edited(value jsontext.Value, edits []edit) jsontext.Value {
	if len(edits) == 0 {
		return value
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	made := make(jsontext.Value, 0, len(value))
	end := 0
	for _, e := range edits {
		made = append(append(made, value[end:e.from]...), e.text...)
		end = e.to
	}
	return append(made, value[end:]...)
}
