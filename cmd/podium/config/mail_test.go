package config

import (
	"slices"
	"testing"
	"time"

	"podium/schemas"
)

// TestMailProblems shows what each mistake about mail is answered with.
func TestMailProblems(t *testing.T) {
	t.Parallel()
	tellsProblems(t, "mail_problems")
}

// TestMailboxesOfAnAccount_I12: mailbox and mailboxes are one list, each name once.
func TestMailboxesOfAnAccount_I12(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		imap IMAP
		want []string
	}{
		"nothing":      {IMAP{}, []string{"INBOX"}},
		"one":          {IMAP{Mailbox: "Orders"}, []string{"Orders"}},
		"a list":       {IMAP{Mailboxes: []string{"Orders", "INBOX"}}, []string{"Orders", "INBOX"}},
		"both":         {IMAP{Mailbox: "INBOX", Mailboxes: []string{"Orders"}}, []string{"INBOX", "Orders"}},
		"the same":     {IMAP{Mailbox: "inbox", Mailboxes: []string{"INBOX", "a", "A"}}, []string{"inbox", "a", "A"}},
		"empty names":  {IMAP{Mailboxes: []string{""}}, []string{"INBOX"}},
		"named so far": {IMAP{Mailbox: "INBOX", Mailboxes: []string{"INBOX"}}, []string{"INBOX"}},
	} {
		config := Config{Mail: Mail{Accounts: []Account{{IMAP: test.imap}}}}
		imap := config.WithDefaults().Mail.Accounts[0].IMAP
		if !slices.Equal(imap.Mailboxes, test.want) || imap.Mailbox != test.want[0] {
			t.Errorf("%s: %q and %v, want %v", name, imap.Mailbox, imap.Mailboxes, test.want)
		}
	}
}

func TestMailDefaults(t *testing.T) {
	t.Parallel()
	config := Config{Mail: Mail{Accounts: []Account{
		{}, {IMAP: IMAP{After: After{Processed: ProcessingMove}, Canary: &Canary{Every: schemas.Duration(time.Hour)}}},
	}}}
	complete := config.WithDefaults()
	plain, moving := complete.Mail.Accounts[0].IMAP, complete.Mail.Accounts[1].IMAP
	if limits := complete.Mail.Accounts[0].SMTP.Limits; limits.PeerPerHour != 10 || limits.PerMinute != 0 {
		t.Errorf("limits %+v", limits)
	}
	if plain.After != (After{Processed: ProcessingFlag}) || plain.Canary != nil || time.Duration(plain.Alarm) != 15*time.Minute {
		t.Errorf("got %+v", plain)
	}
	if moving.After.Folder != "Processed" || time.Duration(moving.Canary.Within) != 5*time.Minute {
		t.Errorf("got %+v, %+v", moving.After, moving.Canary)
	}
	if config.Mail.Accounts[1].IMAP.Canary.Within != 0 {
		t.Error("the configuration that was given has changed")
	}
}
