package route

import (
	"strings"
	"unicode/utf8"
)

const (
	// MaxRead bounds the bytes of a message that the rules of a profile read: keywords, patterns, the complexity check, and the
	// expressions for entities and parameters. Of a longer message they read the beginning and the end. What a message costs
	// grows with its length times the number of patterns; agents get all of it.
	MaxRead = 32 << 10
	// readEnd is how much of it is the end of the message.
	readEnd = 8 << 10
	// wordLimit is how far a cut moves so that it divides no word.
	wordLimit = 256
)

// Excerpt returns what the rules read of the words of a message: all of them, or the beginning and the end with a blank line
// between them.
func Excerpt(text string) string {
	left := unreadMiddle(text)
	if left.end == 0 {
		return text
	}
	return text[:left.start] + "\n\n" + text[left.end:]
}

// unreadMiddle returns the part of a message that is not read. It begins and ends between words, or at least between runes.
func unreadMiddle(text string) span {
	if len(text) <= MaxRead {
		return span{}
	}
	start, end := MaxRead-readEnd, len(text)-readEnd
	for start > 0 && !utf8.RuneStart(text[start]) && start > MaxRead-readEnd-utf8.UTFMax {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) && end < len(text)-readEnd+utf8.UTFMax {
		end++
	}
	if space := strings.LastIndexAny(text[start-wordLimit:start], " \n"); space >= 0 {
		start += space - wordLimit
	}
	if space := strings.IndexAny(text[end:end+wordLimit], " \n"); space >= 0 {
		end += space
	}
	return span{start: start, end: end}
}
