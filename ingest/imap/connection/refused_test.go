package connection_test

import (
	"errors"
	"strings"
	"testing"

	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
)

// TestRefusalsSayWhatTheyMean: an answer of a mail server is a sentence with the answer
// behind it; the server's own words are for whoever has asked.
func TestRefusalsSayWhatTheyMean(t *testing.T) {
	t.Parallel()
	const server = "the mail server refused the command "
	for want, refusal := range map[string]connection.RefusedError{
		server + "SELECT: there is no such mailbox (its answer: NO [NONEXISTENT])":                   {Command: "SELECT", Type: "NO", Code: "NONEXISTENT"},
		server + "APPEND: the mailbox is full (its answer: NO [OVERQUOTA])":                          {Command: "APPEND", Type: "NO", Code: "OVERQUOTA"},
		server + "LOGIN: name or password are wrong (its answer: NO [authenticationfailed])":         {Command: "LOGIN", Type: "NO", Code: "authenticationfailed"},
		server + "MOVE: it does not know the command, or not at this moment (its answer: BAD)":       {Command: "MOVE", Type: "BAD"},
		server + "FETCH: it takes the command for a mistake (its answer: BAD [CLIENTBUG])":           {Command: "FETCH", Type: "BAD", Code: "CLIENTBUG"},
		server + "STORE (its answer: NO)":                                                            {Command: "STORE", Type: "NO", Said: "Müller may not"},
		server + "STORE (its answer: NO [X-OWN])":                                                    {Command: "STORE", Type: "NO", Code: "X-OWN"},
		server + "SEARCH: it does not know the command, or not at this moment (its answer: BAD [X])": {Command: "SEARCH", Type: "BAD", Code: "X"},
	} {
		if got := refusal.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	refusal := connection.RefusedError{Command: "STORE", Type: "NO", Said: "Mailbox of\r\n \"Müller\"\x1b[2J is\tlocked\xff"}
	if got, want := refusal.Sentence(), server+`STORE (its answer: NO); it says: "Mailbox of \"Müller\" [2J is locked`+"\uFFFD"+`"`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	refusal.Said = strings.Repeat("ä", 10_000)
	if got := []rune(refusal.Sentence()); len(got) > 600 || got[len(got)-2] != '…' {
		t.Errorf("%d characters are shown", len(got))
	}
}

// TestRefusalOfARealServer: what Dovecot says of a mailbox that is not there is behind the
// sentence, and in no error.
func TestRefusalOfARealServer(t *testing.T) {
	t.Parallel()
	server := dovecot.Start(t, dovecot.Options{})
	settings := reach(server.Host, server.Port)
	settings.Mailbox = "Nowhere"
	source, err := connection.Dial(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	_, err = source.Select(t.Context())
	refusal, ok := errors.AsType[*connection.RefusedError](err)
	if !ok {
		t.Fatalf("the error is %v", err)
	}
	if !strings.Contains(refusal.Sentence(), `it says: "Mailbox doesn't exist: Nowhere`) || strings.Contains(err.Error(), "Nowhere") ||
		!strings.Contains(err.Error(), "(its answer: NO)") {
		t.Errorf("the error is %v, and to whoever asks %s", err, refusal.Sentence())
	}
}
