package route

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"podium/schemas"
)

// fits says whether the keyword's mode allows its letters from start to end to
// count where they stand in their words.
func (k *keyword) fits(f *folded, start, end int) bool {
	begins := !k.startsWord || !f.wordBefore(start)
	ends := !k.endsWord || !f.wordAt(end)
	switch k.mode {
	case schemas.ModeWord:
		return begins && ends
	case schemas.ModePrefix:
		return begins
	case schemas.ModeSuffix:
		return ends
	case schemas.ModeCompound:
		return ends && (begins || couldBeWord(f.text[f.wordStart(start):start], firstPart)) ||
			begins && couldBeWord(f.text[end:f.wordEnd(end)], lastPart)
	case schemas.ModeSubstring:
		return true
	case schemas.ModeNear, schemas.ModeRegex:
	}
	return false
}

// The letters that the rest of a word needs to be another word of a compound.
// Endings and most syllables that words are derived with are shorter than the
// last part: "Terminal" is no compound of "Termin".
const (
	firstPart = 3
	lastPart  = 4
)

// couldBeWord says whether a part of a word, linking letters included, could be
// a word of its own: it has so many letters, and a vowel if it is in Latin
// script. "Schlager" is no compound of "Lager".
func couldBeWord(part []byte, letters int) bool {
	if utf8.RuneCount(part) < letters {
		return false
	}
	return slices.ContainsFunc(part, func(c byte) bool { return c >= utf8.RuneSelf || strings.IndexByte("aeiouy", c) >= 0 })
}

// keyword makes ready what a profile configures.
func (f *folder) keyword(configured schemas.Keyword, group int) (keyword, error) {
	k := keyword{word: configured.Word, mode: configured.Mode, group: group, shared: configured.Shared}
	var err error
	switch configured.Mode {
	case schemas.ModeWord, schemas.ModePrefix, schemas.ModeSuffix, schemas.ModeCompound, schemas.ModeSubstring, schemas.ModeNear:
		k.folded = f.foldWord(configured.Word)
		k.startsWord, k.endsWord = startsWithWord(k.folded), endsWithWord(k.folded)
		if k.folded == "" {
			err = errors.New("nothing to look for")
		} else if k.mode == schemas.ModeNear {
			err = k.near()
		}
	case schemas.ModeRegex:
		if k.expression, err = f.pattern(configured.Word); err == nil && k.expression.MatchString("") {
			err = errors.New("it matches where there is nothing")
		}
	default:
		err = fmt.Errorf("unknown mode %q, want %q, %q, %q, %q, %q, %q or %q", configured.Mode, schemas.ModeWord, schemas.ModePrefix,
			schemas.ModeSuffix, schemas.ModeCompound, schemas.ModeSubstring, schemas.ModeNear, schemas.ModeRegex)
	}
	if err != nil {
		return k, err
	}
	for _, wording := range configured.Except {
		exceptions, err := f.exceptions(k, wording)
		if err != nil {
			return k, err
		}
		k.except = append(k.except, exceptions...)
	}
	return k, nil
}

// exceptions finds each place of a wording in which the keyword would count.
func (f *folder) exceptions(k keyword, wording string) ([]exception, error) {
	text := f.foldWord(wording)
	read := &folded{text: []byte(text)}
	k.except = nil
	var places []exception
	switch {
	case k.mode == schemas.ModeNear:
		for _, o := range k.nearby(read, len(text)) {
			places = append(places, exception{folded: text, at: o.start})
		}
	case k.expression != nil:
		for _, at := range k.expression.FindAllIndex(read.text, -1) {
			if at[0] < at[1] {
				places = append(places, exception{folded: text, at: at[0]})
			}
		}
	default:
		for end := len(k.folded); end <= len(text); end++ {
			if start := end - len(k.folded); text[start:end] == k.folded && k.fits(read, start, end) {
				places = append(places, exception{folded: text, at: start})
			}
		}
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("exception %q: the keyword would not be found in it", wording)
	}
	return places, nil
}
