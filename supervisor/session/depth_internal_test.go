package session

import (
	"strings"
	"testing"

	"podium/schemas"
)

// TestDeep: only brackets outside of strings nest.
func TestDeep(t *testing.T) {
	t.Parallel()
	nested := func(open, inner, end string, depth int) string {
		return strings.Repeat(open, depth) + inner + strings.Repeat(end, depth)
	}
	for name, test := range map[string]struct {
		value string
		want  bool
	}{
		"nothing":                      {"", false},
		"a word":                       {`"[[["`, false},
		"as deep as may be":            {nested("[", "", "]", schemas.MaxDepth), false},
		"one deeper":                   {nested("[", "", "]", schemas.MaxDepth+1), true},
		"objects":                      {nested(`{"a":`, "1", "}", schemas.MaxDepth), false},
		"objects, one deeper":          {nested(`{"a":`, "1", "}", schemas.MaxDepth+1), true},
		"both in turn":                 {nested(`[{"a":`, "1", "}]", schemas.MaxDepth/2), false},
		"both in turn, one deeper":     {nested(`[{"a":`, "[]", "}]", schemas.MaxDepth/2), true},
		"wide":                         {"[" + strings.Repeat("[],{},", 2*schemas.MaxDepth) + "0]", false},
		"brackets in strings":          {`["` + strings.Repeat("[{", schemas.MaxDepth) + `"]`, false},
		"brackets in names":            {`{"` + strings.Repeat("[{", schemas.MaxDepth) + `":1}`, false},
		"an escaped quote":             {`["\"` + strings.Repeat("[", 2*schemas.MaxDepth) + `"]`, false},
		"an escaped backslash":         {`["\\",` + nested("[", "", "]", schemas.MaxDepth) + `]`, true},
		"closing brackets in a string": {nested(`["]]",`, "0", "]", schemas.MaxDepth+1), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := schemas.Deep([]byte(test.value)); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestMailsAreBounded: what a mail contributes to records is no longer than a
// line, and an id or an address is whole or not there.
func TestMailsAreBounded(t *testing.T) {
	t.Parallel()
	fits, long, line := strings.Repeat("i", maxLine), strings.Repeat("i", maxLine+1), strings.Repeat("i", 2*maxLine)
	mail := &schemas.EmailReceived{
		MessageID: long, References: []string{fits, long, "b"}, Subject: line, Text: "how much?", Class: schemas.MailHuman,
		From: []schemas.Address{{Name: line, Address: fits}, {Address: "second@example.org"}}, AnswerTo: schemas.Address{Name: line, Address: fits},
	}
	message := readMail(mail)
	reply := &message.Reply
	if len(message.Subject) > maxLine+len("…") || reply.Subject != message.Subject {
		t.Errorf("a subject of %d bytes", len(message.Subject))
	}
	if reply.InReplyTo != "" || len(reply.References) != 2 || reply.References[0] != fits || reply.References[1] != "b" {
		t.Errorf("in reply to %q, %d references", reply.InReplyTo, len(reply.References))
	}
	if len(reply.To) != 1 || reply.To[0].Address != fits || len(reply.To[0].Name) > maxLine+len("…") {
		t.Errorf("an answer to %d, the name of %d bytes", len(reply.To), len(reply.To[0].Name))
	}
	mail.AnswerTo.Address = long
	if message = readMail(mail); len(message.Reply.To) != 0 {
		t.Error("an answer to half an address")
	}
}
