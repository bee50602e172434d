package mail

import (
	"context"
	"errors"
	"time"

	"podium/bus/backoff"
)

// An Outbox is the folder of sent mail of an account. Both calls are bounded in
// time by whoever implements them. It is safe for use by several goroutines.
type Outbox interface {
	// Find reports whether a letter with that Message-ID (without angle brackets), or
	// with one that begins with prefix, is in the folder.
	Find(ctx context.Context, messageID, prefix string) (bool, error)
	// Append puts a letter there, as it was sent.
	Append(ctx context.Context, raw []byte) error
}

// A Sent says how a letter comes into the folder of sent mail.
type Sent string

// The ways.
const (
	SentAppend Sent = "append" // the agent puts it there; the default with an Outbox
	SentServer Sent = "server" // the server does, of every letter that it takes
	SentNone   Sent = "none"   // it does not; the default without an Outbox
)

const (
	// DefaultSettle is how long a server is given until a letter that it has taken is
	// in its folder.
	DefaultSettle = 5 * time.Second
	// appendLimit bounds what an answer that has been sent waits for its copy.
	appendLimit = 10 * time.Second
)

// The values of Receipt.Sent and Receipt.Resolved.
const (
	sentAppended = "appended"
	sentFailed   = "append_failed"
	resolvedSent = "sent"
)

// look asks whether a letter has been sent. An account without an Outbox never
// knows, which is an error. What names the effect begins every id that an attempt may
// have had, whatever key it was signed with.
func (s *sender) look(ctx context.Context, messageID string) (bool, error) {
	if s.account.Outbox == nil {
		return false, errors.New("there is no folder of sent mail")
	}
	return s.account.Outbox.Find(ctx, messageID, effectOf(messageID))
}

// resolve reports whether a letter whose delivery was not confirmed has been sent
// all the same, as far as the folder says. That it is not there proves nothing:
// servers store late, and where the agent stores, nobody has.
func (s *sender) resolve(ctx context.Context, messageID string) bool {
	sent, err := s.look(ctx, messageID)
	if err != nil || sent || s.account.Sent != SentServer {
		return sent
	}
	if backoff.Pause(ctx, s.account.Settle) != nil {
		return false
	}
	sent, err = s.look(ctx, messageID)
	return sent && err == nil
}

// store puts a letter that was sent into the folder, if that is the agent's to do.
// The letter is on its way whatever becomes of this.
func (a *Agent) store(ctx context.Context, account *sender, raw []byte) string {
	if account.account.Sent != SentAppend {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), appendLimit)
	defer cancel()
	if err := account.account.Outbox.Append(ctx, raw); err != nil {
		a.log.Warn().Err(err).Str("account", account.name).Msg("a letter was sent, but could not be put into the folder of sent mail")
		return sentFailed
	}
	return sentAppended
}
