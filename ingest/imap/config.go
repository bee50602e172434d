package imap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/cleartext"
	"podium/ingest/imap/connection"
	"podium/ingest/mime"
	"podium/schemas"
)

// A Config describes one mailbox of one account. The zero value of a field
// means its default.
type Config struct {
	connection.Config // how the mailbox is reached
	mime.Options      // how a mail is read; Sink and Truncated are the adapter's

	Profile string // the profile of the events
	After   After  // what is done with mail that was dealt with

	// Since, at first contact, is how old mail may be to be taken, by its
	// INTERNALDATE; the zero time takes nothing that is there already.
	Since time.Time
	// Letter returns which letter of ours a Message-ID names, and
	// false when it is not proved to be one that this account has sent. Default: none is.
	Letter func(messageID string) (letter schemas.Letter, ours bool)

	// CanaryEvery, when it is set, lets the adapter send itself a mail so often; it has
	// to come in within CanaryWithin, default 5 min. CanaryKey marks it as ours.
	CanaryEvery, CanaryWithin time.Duration
	CanaryKey                 []byte

	AlarmAfter  time.Duration // without a success before the alarm is raised; default 15 min
	StatusEvery time.Duration // between reports of an unchanged status; default 1 min

	// ReplyToFrom are senders whose Reply-To is followed wherever it leads. See trust.Vouch.
	ReplyToFrom []string

	PollInterval time.Duration // between looks without trustworthy announcements; default 60 s
	IdleReissue  time.Duration // between looks with them; default 9 min, or 3/5 of a shorter AlarmAfter (RFC 2177: below 29)
	RetryAfter   time.Duration // before a message that could not be fetched is tried again; default 1 min
	BackOffMin   time.Duration // default 1 s
	BackOffMax   time.Duration // default 5 min

	MaxMessage int64  // bytes; of a larger message only the first MiB is taken; default 50 MiB
	Spool      string // folder for messages under way; default the system's
}

// Processing is what is done with a mail that was dealt with.
type Processing string

// The kinds of processing.
const (
	ProcessingFlag Processing = "flag" // a keyword of ours, or \Seen where the server keeps none
	ProcessingSeen Processing = "seen" // \Seen
	ProcessingMove Processing = "move" // into another mailbox
)

// After says what is done with mail that was dealt with. It is done once the
// ledger has the mail, and a server that refuses it changes nothing else.
type After struct {
	Processed Processing // default flag
	Folder    string     // of ProcessingMove; default Processed
	Failed    string     // where mail goes that could not be had in three tries; "" leaves it
}

// withDefaults returns a copy without zero values.
func (c Config) withDefaults() Config {
	c.Config = c.Config.WithDefaults()
	c.After.Processed = cmp.Or(c.After.Processed, ProcessingFlag)
	c.After.Folder = cmp.Or(c.After.Folder, "Processed")
	c.MaxMessage = cmp.Or(c.MaxMessage, 50<<20)
	c.CanaryWithin = cmp.Or(c.CanaryWithin, 5*time.Minute)
	c.AlarmAfter = cmp.Or(c.AlarmAfter, 15*time.Minute)
	c.StatusEvery = cmp.Or(c.StatusEvery, time.Minute)
	c.PollInterval = cmp.Or(c.PollInterval, time.Minute)
	c.IdleReissue = cmp.Or(c.IdleReissue, min(9*time.Minute, c.AlarmAfter/5*3)) // quiet is not silent
	c.RetryAfter = cmp.Or(c.RetryAfter, time.Minute)
	c.BackOffMin = cmp.Or(c.BackOffMin, time.Second)
	c.BackOffMax = cmp.Or(c.BackOffMax, 5*time.Minute)
	return c
}

// validate reports everything that is wrong, joined.
func (c Config) validate() error {
	var found []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			found = append(found, fmt.Errorf(format, args...))
		}
	}
	refuse(c.Account == "", "account is missing")
	refuse(c.Profile == "", "profile is missing")
	refuse(c.Host == "", "host is missing")
	refuse(c.Username == "", "username is missing")
	refuse(c.Password == nil && c.Token == nil, "password is missing")
	refuse(!slices.Contains([]Processing{ProcessingFlag, ProcessingSeen, ProcessingMove}, c.After.Processed),
		"after %q is none of flag, seen, move", c.After.Processed)
	refuse(c.After.Processed == ProcessingMove && c.After.Folder == c.Mailbox || c.After.Failed == c.Mailbox,
		"mail that was dealt with would be moved to %q, where it is", c.Mailbox)
	refuse(c.CanaryEvery > 0 && len(c.CanaryKey) == 0, "a canary needs a key")
	refuse(c.Port < 1 || c.Port > 65535, "port %d is not between 1 and 65535", c.Port)
	refuse(!slices.Contains([]connection.Security{connection.SecurityTLS, connection.SecurityStartTLS, connection.SecurityNone}, c.Security),
		"security %q is none of implicit, starttls, none", c.Security)
	refuse(c.Security == connection.SecurityNone && c.Cleartext == nil && !cleartext.Here(c.Host),
		"without TLS the password would cross the network in the clear; use implicit or starttls, or allow it explicitly")
	refuse(c.IdleReissue >= 29*time.Minute, "idle reissue %s is not below the 29m of RFC 2177", c.IdleReissue)
	refuse(c.BackOffMin > c.BackOffMax, "back-off minimum %s is above the maximum %s", c.BackOffMin, c.BackOffMax)
	if len(found) > 0 {
		return fmt.Errorf("mailbox of account %q: %w", c.Account, errors.Join(found...))
	}
	return nil
}
