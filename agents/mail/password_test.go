package mail_test

import (
	"testing"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
)

// A password that was changed says nothing of the letter: it is mended, and then the
// answer has to go out.
func TestRefusedPasswordLosesNoAnswer(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{Username: "u", Password: "new"})
	_, err := newAgent(t, sink, func(a *mail.Account) { a.Username, a.Password = "u", "old" }).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
	mustBeForLater(t, err)
}
