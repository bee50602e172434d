package service

import (
	"slices"
	"strings"
	"testing"

	"podium/cmd/podium/config"
	"podium/cmd/podium/messageid"
	"podium/cmd/podium/oauth"
	"podium/schemas"
)

// TestOwnMailboxesAreThoseOfTheAccounts: what an account sends from, and its name where that is an address.
func TestOwnMailboxesAreThoseOfTheAccounts(t *testing.T) {
	t.Parallel()
	settings := &config.Config{Mail: config.Mail{Accounts: []config.Account{
		{SMTP: config.SMTP{From: "Support <support@example.org>"}, IMAP: config.IMAP{Username: "box@example.org"}},
		{IMAP: config.IMAP{Username: "login"}},
	}}}
	if got := ownMailboxes(settings); !slices.Equal(got, []string{"support@example.org", "box@example.org"}) {
		t.Errorf("got %q", got)
	}
}

// TestOwnMailIsOurs_I20: only the ids that the mail agent makes are ours. Whoever
// writes from the same domain is a person, whatever a program made of the id.
func TestOwnMailIsOurs_I20(t *testing.T) {
	t.Parallel()
	own := ownMail(&config.Config{Mail: config.Mail{Accounts: []config.Account{{SMTP: config.SMTP{From: "Support <support@Example.org>"}}}}})
	run := schemas.RunID(schemas.SessionID("desk", "1"), 1)
	effect := schemas.EffectID(run, "task")
	signed, err := messageid.New(func() ([]byte, error) { return make([]byte, 32), nil }).Sign(messageid.Source{Account: "a"}, effect, schemas.Letter{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{
		effect + "@example.org":                            true,
		"<" + effect + "@EXAMPLE.org>":                     true,
		effect + "@example.com":                            false,
		signed + "@example.org":                            true,
		strings.ToUpper(signed) + "@example.org":           true,
		signed + "@example.com":                            false,
		effect + "." + signed + "@example.org":             false,
		"8C1D2E34-7B6A-4321-9876-1234567890AB@example.org": false, // Apple Mail
		"8c1d2e34-7b6a-4321-9876-1234567890ab@example.org": false, // at random, in lower case
		"0123456789abcdef0123456789abcdef@example.org":     false, // Roundcube
		"{" + effect + "}@example.org":                     false,
		"urn:uuid:" + effect + "@example.org":              false,
		"canary-" + effect + "@example.org":                false,
		"":                                                 false,
	} {
		if own(id) != want {
			t.Errorf("%q: %t", id, !want)
		}
	}
}

// TestAccountsOfOnePersonShareTokens_I14: two accounts with the same refresh token
// ask with one hand.
func TestAccountsOfOnePersonShareTokens_I14(t *testing.T) {
	t.Parallel()
	grant := func(refresh config.Secret) *config.OAuth {
		return &config.OAuth{Provider: config.OAuthCustom, TokenURL: "https://example.org/token", ClientID: "c", RefreshToken: refresh, Scopes: []string{"mail"}}
	}
	settings := &config.Config{Ledger: config.Ledger{Data: t.TempDir()}, Mail: config.Mail{Accounts: []config.Account{
		{Name: "one", IMAP: config.IMAP{OAuth: grant("r")}},
		{Name: "two", IMAP: config.IMAP{OAuth: grant("r")}},
		{Name: "three", IMAP: config.IMAP{OAuth: grant("other")}},
		{Name: "four", IMAP: config.IMAP{Password: "p"}},
	}}}
	s := &Service{settings: settings, sources: map[string]*oauth.Source{}}
	var made []*oauth.Source
	for i := range settings.Mail.Accounts {
		source, err := s.source(&settings.Mail.Accounts[i])
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, source)
	}
	if made[0] == nil || made[0] != made[1] || made[2] == nil || made[2] == made[0] || made[3] != nil {
		t.Errorf("sources %v", made)
	}
}
