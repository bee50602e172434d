package service

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"podium/agents/mail"
	"podium/cmd/podium/config"
	"podium/cmd/podium/oauth"
)

// accountOf reads a configuration with one account.
func accountOf(t *testing.T, imap, smtp string) (*config.Config, *config.Account) {
	t.Helper()
	settings, err := config.Parse([]byte(`
mail: {accounts: [{name: support, profile: desk, imap: {host: imap.example.org, username: support@example.org, `+imap+`}, smtp: {from: a@example.org, `+smtp+`}}]}
agents: {echo: {kind: echo}}
profiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}]}}
`), "podium.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return settings, &settings.Mail.Accounts[0]
}

func TestSenderOfAnAccount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		smtp   string
		sent   mail.Sent
		folder bool
	}{
		"any server":    {"host: smtp.example.org", mail.SentAppend, true},
		"Gmail":         {"host: smtp.gmail.com", mail.SentServer, true},
		"Microsoft 365": {"host: SMTP.Office365.com.", mail.SentServer, true},
		"as configured": {"host: smtp.gmail.com, sent: append", mail.SentAppend, true},
		"another name":  {"host: notgmail.com", mail.SentAppend, true},
		"nowhere":       {"host: smtp.example.org, sent: none", mail.SentNone, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings, account := accountOf(t, "password: p", test.smtp)
			made := mailAccount(settings, account, nil, nil)
			if made.Sent != test.sent || (made.Outbox != nil) != test.folder || made.Token != nil || made.Plain {
				t.Errorf("sent %s, a folder %v, a token %v, plain %v", made.Sent, made.Outbox != nil, made.Token != nil, made.Plain)
			}
			if made.Limits.PeerPerHour != 10 || made.AttachmentLimit != 10<<20 || len(made.Own) != 1 || made.Own[0] != "support@example.org" {
				t.Errorf("limits %+v, attachments %d, own %q", made.Limits, made.AttachmentLimit, made.Own)
			}
			if _, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": made}}); err != nil {
				t.Error(err)
			}
		})
	}
}

// An account without a password of its own for sending uses the token of its mailbox (I14).
func TestSenderUsesTheTokenOfTheMailbox_I14(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"t1","token_type":"Bearer","expires_in":3600}`))
	}))
	t.Cleanup(provider.Close)
	tokens, err := oauth.New(oauth.Config{TokenURL: provider.URL, ClientID: "podium", File: filepath.Join(t.TempDir(), "tokens.json")})
	if err != nil {
		t.Fatal(err)
	}
	oauthSettings := "oauth: {provider: google, client_id: podium, refresh_token: r}"
	settings, account := accountOf(t, oauthSettings, "host: smtp.gmail.com")
	made := mailAccount(settings, account, tokens, nil)
	if made.Username != "support@example.org" || made.Token == nil {
		t.Fatalf("it sends as %q, with a token: %v", made.Username, made.Token != nil)
	}
	if token, err := made.Token(t.Context()); err != nil || token != "t1" {
		t.Errorf("token %q, %v", token, err)
	}
	settings, account = accountOf(t, oauthSettings, "host: smtp.gmail.com, username: u, password: p")
	if made = mailAccount(settings, account, tokens, nil); made.Token != nil || made.Username != "u" || made.Password != "p" {
		t.Errorf("it sends as %q, with a token: %v", made.Username, made.Token != nil)
	}
}
