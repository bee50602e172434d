package plan

import (
	"strings"

	"podium/schemas"
)

// ResolveContent returns what a Content stands for: itself, or its part of what read returns.
func ResolveContent(body schemas.Content, read func(schemas.Content) schemas.Result) schemas.Result {
	if body.Sequence == 0 {
		return body.Result
	}
	whole := read(body)
	if end := body.Offset + body.Size; body.Offset >= 0 && body.Offset <= end && end <= len(whole.Text) {
		whole.Text = strings.ToValidUTF8(whole.Text[body.Offset:end], "") // a ledger that was tampered with can point anywhere
	}
	return whole
}

// RequestText returns what a person has said, the messages that were merged in order.
func RequestText(message *schemas.Incoming, read func(schemas.Content) schemas.Result) string {
	said := make([]string, 0, 1+len(message.MergedTexts))
	said = append(said, ResolveContent(message.Text, read).Text)
	for i := range message.MergedTexts {
		said = append(said, ResolveContent(message.MergedTexts[i], read).Text)
	}
	return strings.Join(said, "\n\n")
}
