package chat

import (
	"regexp"
	"strings"
	"unicode"

	"podium/schemas"
)

// Render writes words as a provider shows them, so that nothing in them notifies
// a whole channel or is fetched when somebody reads it: they may come from an
// agent that was told so by a stranger.
func Render(provider schemas.ChatProvider, text string) string {
	switch provider {
	case schemas.ProviderSlack:
		return escapeSlack(text)
	case schemas.ProviderMattermost:
		text = mattermostPing.ReplaceAllString(text, "@\u200b$1")
		return strings.ReplaceAll(text, "![", "!\u200b[") // a backslash could itself be escaped
	case schemas.ProviderWebhook, schemas.ProviderTelegram, schemas.ProviderTeams:
	}
	return text
}

// escapeSlack escapes the three characters that make links, mentions and commands
// such as <!channel> (Slack, "Formatting text for app surfaces").
func escapeSlack(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// mattermostPing is what notifies everybody in a channel.
var mattermostPing = regexp.MustCompile(`(?i)@(channel|all|here)`)

// maxPieces bounds the messages that one answer becomes.
const maxPieces = 10

// A measure is how many units of a provider's limit a character takes, at most.
type measure func(r rune) int

// utf16Units counts as Telegram does.
func utf16Units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// escaped counts the characters that are there after Render.
func escaped(r rune) int {
	switch r {
	case '&':
		return len("&amp;")
	case '<', '>':
		return len("&lt;")
	case '@', '!':
		return 2
	}
	return 1
}

// split cuts a text into pieces within a limit: after a line, else between words,
// else between characters. At most maxPieces are made; whole is false when more
// was to be said.
func split(text string, limit int, of measure) (pieces []string, whole bool) {
	text = strings.TrimSpace(text)
	for text != "" && len(pieces) < maxPieces {
		end := within(text, limit, of)
		if end < len(text) {
			end = cutAt(text[:end])
		}
		pieces = append(pieces, strings.TrimRightFunc(text[:end], unicode.IsSpace))
		text = strings.TrimLeft(text[end:], "\n\r ")
	}
	return pieces, text == ""
}

// within returns how many bytes of a text fit, at least one character.
func within(text string, limit int, of measure) int {
	used := 0
	for i, r := range text {
		if used += of(r); used > limit && i > 0 {
			return i
		}
	}
	return len(text)
}

// cutAt returns the best place to end a piece in its second half.
func cutAt(piece string) int {
	for _, separator := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(piece, separator); at > len(piece)/2 {
			return at
		}
	}
	return len(piece)
}
