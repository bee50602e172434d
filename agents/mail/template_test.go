package mail_test

import (
	"io"
	"strings"
	"testing"

	gomessage "github.com/emersion/go-message/mail"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
)

// parts returns the plain text and the HTML of a letter.
func parts(t *testing.T, message smtpsink.Message) (plain, html string) {
	t.Helper()
	reader, err := gomessage.CreateReader(strings.NewReader(string(message.Data)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		part, err := reader.NextPart()
		if err != nil {
			return plain, html
		}
		body, err := io.ReadAll(part.Body)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(body), "\r\n", "\n")
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			html = text
		} else if strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
			plain = text
		}
	}
}

// sent sends one answer through an account that was changed, and returns the letter.
func sent(t *testing.T, given answer, change ...func(*mail.Account)) smtpsink.Message {
	t.Helper()
	sink := startSink(t, smtpsink.Config{})
	if _, err := newAgent(t, sink, change...).Handle(t.Context(), requestWith(t, given), ignore); err != nil {
		t.Fatal(err)
	}
	return sink.Messages()[0]
}

func TestTemplatesStandAroundTheAnswer(t *testing.T) {
	t.Parallel()
	german := mail.Template{Before: "Guten Tag {name},", After: "Ihre Praxis\n{subject} / {run}"}
	other := mail.Template{Before: "Hello {name},", After: "-- \nYour practice"}
	tests := map[string]struct {
		templates map[string]mail.Template
		name      string
		want      string
	}{
		"none":            {nil, "Jörg", "Gut.\n"},
		"of the run":      {map[string]mail.Template{"de": german, "default": other}, "Jörg", "Guten Tag Jörg,\n\nGut.\n\nIhre Praxis\nFrage / run-1\n"},
		"of all others":   {map[string]mail.Template{"fr": german, "default": other}, "Jörg", "Hello Jörg,\n\nGut.\n\n-- \nYour practice\n"},
		"of no language":  {map[string]mail.Template{"fr": german}, "Jörg", "Gut.\n"},
		"no name":         {map[string]mail.Template{"de": german}, "", "Guten Tag,\n\nGut.\n\nIhre Praxis\nFrage / run-1\n"},
		"a link as name":  {map[string]mail.Template{"de": german}, "https://evil.example", "Guten Tag,\n\nGut.\n\nIhre Praxis\nFrage / run-1\n"},
		"a place as name": {map[string]mail.Template{"de": german}, "{run}", "Guten Tag,\n\nGut.\n\nIhre Praxis\nFrage / run-1\n"},
		"lines as name":   {map[string]mail.Template{"de": {Before: "{name}"}}, "a\r\n\r\nb", "a b\n\nGut.\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := newAnswer()
			given.To[0].Name, given.Subject, given.Text = test.name, "Frage", "Gut.\n\n"
			plain, html := parts(t, sent(t, given, func(a *mail.Account) { a.Templates = test.templates }))
			if plain != test.want {
				t.Errorf("plain text %q, want %q", plain, test.want)
			}
			if !strings.Contains(html, "<p>Gut.</p>") || !strings.Contains(html, `<html lang="de">`) {
				t.Errorf("HTML %s", html)
			}
		})
	}
}

func TestPlainAccountsSendNoHTML(t *testing.T) {
	t.Parallel()
	message := sent(t, newAnswer(), func(a *mail.Account) { a.Plain = true })
	header := message.Header()
	if got := header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain") || strings.Contains(string(message.Data), "<p>") {
		t.Errorf("content type %q", got)
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, templates := range map[string]map[string]mail.Template{
		"unknown place":   {"de": {Before: "{sender}"}},
		"the answer":      {"de": {After: "{answer}"}},
		"open brace":      {"de": {After: "{"}},
		"no language":     {"d\"": {}},
		"a region":        {"de-AT": {}},
		"too long":        {"de": {Before: strings.Repeat("x", 20<<10)}},
		"not UTF-8":       {"default": {Before: "\xff"}},
		"place in a word": {"en": {Before: "Hello {Name}"}},
	} {
		_, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": {Host: "h", From: "a@b.example", Templates: templates}}})
		if err == nil || !strings.Contains(err.Error(), "templates: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A long thread names its root and its newest letters, on lines that every server takes.
func TestLongReferencesAreFoldedAndKeepTheRoot_I25(t *testing.T) {
	t.Parallel()
	given := newAnswer()
	given.References = nil
	for i := range 400 {
		given.References = append(given.References, strings.Repeat("x", 150)+string(rune('a'+i%26))+strings.Repeat("y", i)+"@example.org")
	}
	message := sent(t, given)
	for line := range strings.SplitSeq(string(message.Data), "\r\n") {
		if len(line) > 998 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	header, _, _ := parse(t, message)
	ids, err := header.MsgIDList("References")
	if err != nil || len(ids) != 20 || ids[0] != given.References[0] || ids[19] != "parent@example.org" {
		t.Errorf("%d ids, %v", len(ids), err)
	}
	if header.Get("Auto-Submitted") != "auto-replied" {
		t.Error("the answer does not say that a program wrote it")
	}
}
