package dav

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold writes a text as it is compared: without case and accents, with ü as ue, and ß as ss, as they are written where
// keys for them are missing.
func Fold(text string) string {
	spelled := strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "æ", "ae", "ø", "oe", "å", "aa", "œ", "oe", "ł", "l", "đ", "d", "ı", "i")
	var folded strings.Builder
	for _, r := range norm.NFD.String(spelled.Replace(strings.ToLower(norm.NFC.String(text)))) {
		if !unicode.Is(unicode.Mn, r) {
			folded.WriteRune(r)
		}
	}
	return folded.String()
}

// Words are the folded words of a text: letters and digits.
func Words(text string) []string {
	return strings.FieldsFunc(Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Matches reports whether every word that is looked for is one of a text's, in any order. Nothing matches no words.
func Matches(looked, text string) bool {
	wanted, has := Words(looked), Words(text)
	return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(word string) bool { return !slices.Contains(has, word) })
}

// Plain is a text on one line without control characters and without those that turn the direction of writing, at most
// limit characters of it.
func Plain(text string, limit int) string {
	cleaned := strings.Join(strings.FieldsFunc(norm.NFC.String(strings.ToValidUTF8(text, "")), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	if letters := []rune(cleaned); len(letters) > limit {
		return strings.TrimSpace(string(letters[:limit]))
	}
	return cleaned
}
