package imap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/ingest/imap/mailbox"
	"podium/ingest/mime"
	"podium/ingest/mime/structure"
	"podium/ingest/mime/trust"
	"podium/schemas"
)

const (
	mediaTypeMail  = "message/rfc822" // of a mail as received
	preparedAtOnce = 16               // messages for each core: most of the time they wait for the archive
)

// prepareAll archives and reads messages, several at a time, and returns the event
// of each. One that is known already, or that was not fetched, has none.
func (s *session) prepareAll(ctx context.Context, uids []uint32, outcomes map[uint32]*outcome) ([]*schemas.Event, error) {
	events, senders := make([]*schemas.Event, len(uids)), make([]string, len(uids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(preparedAtOnce * runtime.GOMAXPROCS(0))
	for i, uid := range uids {
		one := outcomes[uid]
		if one.kind != outcomeFetched {
			continue
		}
		known, err := s.knows(ctx, uid, one)
		err = errors.Join(err, s.isCanary(one))
		group.Go(func() error {
			if err == nil && !known && one.canary.IsZero() {
				events[i], senders[i], err = s.prepare(ctx, one)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %w", errLedger, err)
	}
	for i, uid := range uids {
		if senders[i] != "" {
			outcomes[uid].sender = senders[i]
		}
	}
	return events, nil
}

// isCanary looks for the mark of a mail that the adapter has sent to itself.
func (s *session) isCanary(one *outcome) error {
	content, err := one.content.open()
	if err == nil {
		if sent, ok := s.adapter.canarySent(content); ok {
			one.canary = sent
		}
	}
	return err
}

// knows tells whether a message was published under another UID.
func (s *session) knows(ctx context.Context, uid uint32, one *outcome) (bool, error) {
	if uid >= s.ledger.Cursor.Backlog {
		return false, nil
	}
	known, err := s.ledger.IsKnown(ctx, one.content.sha256())
	s.adapter.incomplete = s.adapter.incomplete || errors.Is(err, bus.ErrNotFound) // the next session makes it again
	return known, err
}

// prepare archives a message and makes its event; sender is the address that it names. A server may list a message twice, so that two prepare the same
// outcome: they change nothing of it.
func (s *session) prepare(ctx context.Context, one *outcome) (event *schemas.Event, sender string, err error) {
	content, err := one.content.open()
	if err != nil {
		return nil, "", err
	}
	raw, err := s.adapter.dependencies.Core.Artifacts().Put(ctx, content, mediaTypeMail)
	if err != nil {
		return nil, "", fmt.Errorf("archive mail: %w", err)
	}
	if raw.SHA256 != one.content.sha256() {
		return nil, "", errors.New("archive mail: the artifact has other bytes than were fetched")
	}
	if content, err = one.content.open(); err != nil {
		return nil, "", err
	}
	mail, failure, err := s.config.parse(ctx, content, s.adapter.dependencies.Core.Artifacts(), one.truncated)
	if failure != nil {
		s.adapter.log.Error().Str("failure", fmt.Sprintf("%T", failure)).Msg("the parser broke on a mail")
	}
	if err != nil {
		return nil, "", err
	}
	mail.Account, mail.Mailbox = s.config.Account, s.config.Mailbox
	mail.UIDValidity, mail.UID = s.mailbox.UIDValidity, one.summary.UID
	mail.Received, mail.Raw = cmp.Or(one.summary.Received, s.config.Clock().UTC()), raw // or now, when the server does not say
	routed := mime.Answered(&mail, s.config.Letter)
	if mail.Bounce == nil {
		mail.Answers = repliesTo(mail.InReplyTo, s.config.Letter)
	}
	if len(mail.From) > 0 {
		sender = mail.From[0].Address
	}
	body, err := schemas.Marshal(mail)
	if err != nil {
		return nil, "", err
	}
	return &schemas.Event{
		ID:     mailbox.EventID(s.config.Account, s.config.Mailbox, mail.UIDValidity, mail.UID),
		Source: mailboxURL(s.config, mail.UIDValidity),
		Type:   schemas.TypeEmailReceived, Time: mail.Received,
		DataContentType: schemas.MediaTypeJSON, DataSchema: schemas.SchemaID("email_received"),
		PartitionKey: mime.PartitionKey(&mail), SessionID: mime.Session(routed), Profile: s.config.Profile,
		Data: body,
	}, sender, nil
}

// repliesTo returns the email of Podium that a mail is a reply to; nil when it is none. Only In-Reply-To says that: References name a whole
// conversation, which its writer composes, and lead no further than to a session.
func repliesTo(inReplyTo string, known func(messageID string) (schemas.Letter, bool)) *schemas.Letter {
	return mime.Answered(&schemas.EmailReceived{InReplyTo: inReplyTo}, known)
}

// parse reads a mail. A parser that breaks on a mail costs that mail its reading, and
// nothing else; failure is what it broke with.
func (c Config) parse(ctx context.Context, content io.Reader, sink structure.Sink, truncated bool) (mail schemas.EmailReceived, failure any, err error) {
	defer func() {
		if failure = recover(); failure != nil {
			mail, err = mime.Unparsed(), nil
			trust.Vouch(&mail, true, nil)
		}
	}()
	c.Sink, c.Truncated = sink, truncated
	mail, err = mime.Parse(ctx, content, c.Options)
	trust.Vouch(&mail, len(c.AuthServIDs) > 0 || c.DKIM.LookupTXT != nil, c.ReplyToFrom)
	return mail, nil, err
}

// mailboxURL is the URL of the mailbox (RFC 5092), without credentials.
func mailboxURL(config Config, uidValidity uint32) string {
	host := config.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if config.Port != 143 && config.Port != 993 {
		host = net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
	}
	levels := strings.Split(config.Mailbox, "/")
	for i := range levels {
		levels[i] = url.PathEscape(levels[i])
	}
	return fmt.Sprintf("imap://%s/%s;UIDVALIDITY=%d", host, strings.Join(levels, "/"), uidValidity)
}
