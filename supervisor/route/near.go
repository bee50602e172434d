package route

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// nearLetters is how long a keyword of mode near has to be. A slip in a shorter word makes another word of it.
const nearLetters = 7

// near makes the keyword ready to be found in words with a slip.
func (k *keyword) near() error {
	f := &folded{text: []byte(k.folded)}
	if f.wordEnd(0) != len(k.folded) || utf8.RuneCountInString(k.folded) < nearLetters {
		return errors.New("mode near needs one word of seven letters or more")
	}
	return nil
}

// nearby returns at most so many words of the text that begin as the keyword does, but for one slip.
func (k *keyword) nearby(f *folded, most int) []occurrence {
	var found []occurrence
	for at := 0; at < len(f.text) && len(found) < most; {
		end := f.wordEnd(at)
		if end == at {
			_, size := utf8.DecodeRune(f.text[at:])
			at += size
			continue
		}
		if begins(f.text[at:end], []byte(k.folded)) && !k.excepted(f, at) {
			found = append(found, occurrence{start: at, end: end, at: at, letters: end - at})
		}
		at = end
	}
	return found
}

// begins says whether a word begins with another one, in which a letter may be missing, be another, be one too many, or be swapped with the next.
// Where they first differ is where the slip is.
func begins(word, with []byte) bool {
	letter, size := utf8.DecodeRune(word)
	wanted, next := utf8.DecodeRune(with)
	for size > 0 && next > 0 && letter == wanted {
		word, with = word[size:], with[next:]
		letter, size = utf8.DecodeRune(word)
		wanted, next = utf8.DecodeRune(with)
	}
	if next == 0 || bytes.HasPrefix(word, with[next:]) {
		return true
	}
	if size == 0 {
		return false
	}
	behind := word[size:]
	if bytes.HasPrefix(behind, with) || bytes.HasPrefix(behind, with[next:]) {
		return true
	}
	second, more := utf8.DecodeRune(behind)
	following, beyond := utf8.DecodeRune(with[next:])
	return more > 0 && second == wanted && following == letter && bytes.HasPrefix(behind[more:], with[next+beyond:])
}
