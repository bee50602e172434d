package imap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"podium/ingest/imap/connection"
	"podium/ingest/mime"
	"podium/schemas"
)

// A Preview is what one message of a mailbox would become.
type Preview struct {
	UID     uint32
	Session string                 // that its event goes to
	Mail    *schemas.EmailReceived // nil when it could not be had
	Problem string                 // then why, in English
}

// LookAt reads the newest messages of a mailbox, the oldest of them first, as a
// adapter would, and changes nothing: neither in the mailbox, which is to be open for
// reading only, nor on the ledger. Attachments are measured and thrown away.
func LookAt(ctx context.Context, config Config, source connection.MailSource, newest int, see func(Preview) error) error {
	config = config.withDefaults()
	mailbox, err := source.Select(ctx)
	if err != nil {
		return err
	}
	uids, err := newestUIDs(ctx, source, mailbox.UIDNext, newest)
	if err != nil || len(uids) == 0 {
		return err
	}
	summaries, err := source.Describe(ctx, uids)
	if err != nil {
		return err
	}
	slices.SortFunc(summaries, func(a, b connection.Summary) int { return int(int64(a.UID) - int64(b.UID)) })
	for _, summary := range summaries {
		preview, err := config.preview(ctx, source, mailbox, summary)
		if err == nil {
			err = see(preview)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// newestUIDs searches from the end, in windows that grow.
func newestUIDs(ctx context.Context, source connection.MailSource, next uint32, count int) ([]uint32, error) {
	for width := uint64(connection.SearchWindow); ; width *= 2 {
		from := uint32(1)
		if uint64(next) > width {
			from = next - uint32(width) //nolint:gosec // below next
		}
		uids, err := source.Search(ctx, from, 0)
		if err != nil || len(uids) >= count || from == 1 {
			return uids[max(0, len(uids)-count):], err
		}
	}
}

func (c Config) preview(ctx context.Context, source connection.MailSource, mailbox connection.Mailbox, summary connection.Summary) (preview Preview, err error) {
	preview.UID = summary.UID
	one, whole, err := fetcher{source: source, config: c}.one(ctx, summary)
	content := one.content
	defer func() { err = errors.Join(err, content.close()) }()
	if refusal, ok := errors.AsType[*connection.RefusedError](err); ok {
		preview.Problem = refusal.Sentence()
		return preview, nil
	}
	if err != nil {
		return preview, err
	}
	if !whole {
		preview.Problem = "it is gone, or the server does not hand it over"
		return preview, nil
	}
	raw, err := content.open()
	if err != nil {
		return preview, err
	}
	mail, _, err := c.parse(ctx, raw, Measure{}, one.truncated)
	if err != nil {
		return preview, fmt.Errorf("read a mail: %w", err)
	}
	mail.Account, mail.Mailbox = c.Account, c.Mailbox
	mail.UIDValidity, mail.UID, mail.Received = mailbox.UIDValidity, summary.UID, summary.Received
	mail.Raw = schemas.Artifact{SHA256: content.sha256(), Size: content.size, MediaType: mediaTypeMail}
	event := schemas.Event{PartitionKey: mime.PartitionKey(&mail), SessionID: mime.Session(mime.Answered(&mail, c.Letter)), Profile: c.Profile}
	preview.Mail, preview.Session = &mail, event.Session()
	return preview, nil
}

// Measure is a sink that keeps nothing but sizes and hashes.
type Measure struct{}

// Put implements structure.Sink.
func (Measure) Put(_ context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	sum := sha256.New()
	size, err := io.Copy(sum, r)
	return schemas.Artifact{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size, MediaType: mediaType}, err
}
