package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	goimap "github.com/emersion/go-imap/v2"
)

// A MailSource is one connection to one mailbox. It is for one goroutine. Every
// method ends with its context or, when the server does not answer, with
// ErrSilent. After an error that is no *RefusedError the connection is lost.
type MailSource interface {
	// Select opens the mailbox. It is called once, before all others.
	Select(ctx context.Context) (Mailbox, error)
	// Search returns the UIDs between two, both included, ascending; a last one
	// of 0 is no limit.
	Search(ctx context.Context, from, last uint32) ([]uint32, error)
	// Describe returns what the server knows of messages, in no order. Messages
	// that are gone are left out.
	Describe(ctx context.Context, uids []uint32) ([]Summary, error)
	// Fetch hands over the bytes of messages as they come; content is whole or
	// its reading fails. Messages that are gone are left out.
	Fetch(ctx context.Context, uids []uint32, receive func(uid uint32, content io.Reader) error) error
	// FetchLarge writes the beginning of one message, at most limit bytes, in
	// pieces that are fetched one by one.
	FetchLarge(ctx context.Context, uid uint32, limit int64, w io.Writer) error
	// Flag adds a flag or keyword to messages.
	Flag(ctx context.Context, uids []uint32, flag string) error
	// Move puts messages into another mailbox. It takes away only what the server
	// has confirmed to be there; after a *RefusedError all are where they were.
	Move(ctx context.Context, uids []uint32, folder string) error
	// Create makes a mailbox.
	Create(ctx context.Context, folder string) error
	// Remove deletes messages, and no others. A server that cannot delete single
	// messages (UIDPLUS) keeps them, flagged \Deleted.
	Remove(ctx context.Context, uids []uint32) error
	// Wait returns when the server announces a change, or after a while.
	Wait(ctx context.Context, limit time.Duration) error
	// Announcements counts the changes that the server has announced so far.
	Announcements() uint64
	// Renew is when the connection is to be replaced by another, because what it
	// was authenticated with ends; zero is never.
	Renew() time.Time
	// Close ends the connection. It may be called more than once.
	Close() error
}

// A Mailbox is what a server says of a mailbox when it is opened.
type Mailbox struct {
	UIDValidity uint32
	UIDNext     uint32 // 0 when the server does not say
	Announces   bool   // the server announces new mail while the client waits (IDLE)
	NotSticky   bool   // UIDs do not outlive the connection (RFC 4315, UIDNOTSTICKY)
	Flags       []string
}

// A Summary is what a server knows of a message.
type Summary struct {
	UID      uint32
	Size     int64     // RFC822.SIZE, which some servers guess
	Received time.Time // INTERNALDATE
}

var (
	// ErrSilent reports a server that has not answered in time.
	ErrSilent = errors.New("the mail server does not answer")
	// ErrAuthentication reports that the server refused the credentials. Trying
	// again at once would lock the account.
	ErrAuthentication = errors.New("the mail server refused the credentials")
	// ErrTruncated reports a message that ended before its announced size.
	ErrTruncated = errors.New("the message ended before its announced size")
)

// A RefusedError is a command that the server answered with NO or BAD.
type RefusedError struct {
	Command string
	Type    string // NO or BAD
	Code    string // response code (RFC 5530); may be empty
	// Said is the server's sentence. It may name people: it is for whoever has asked, and
	// no part of the error, which is logged.
	Said string
}

// meanings are those of the response codes (RFC 5530, RFC 9051).
var meanings = map[string]string{ //nolint:gochecknoglobals // never written
	"UNAVAILABLE": "a part of it is out of service", "AUTHENTICATIONFAILED": "name or password are wrong",
	"AUTHORIZATIONFAILED": "this name may not open that mailbox", "EXPIRED": "the password has expired",
	"PRIVACYREQUIRED": "it wants TLS first", "CONTACTADMIN": "whoever runs it has to be asked",
	"NOPERM": "the account has no right to do that", "INUSE": "the mailbox is in use elsewhere",
	"EXPUNGEISSUED": "the mail is gone", "CORRUPTION": "it has found damage in the mailbox", "SERVERBUG": "it reports a fault of its own",
	"CLIENTBUG": "it takes the command for a mistake", "CANNOT": "it can never do that", "LIMIT": "a limit of it is reached",
	"OVERQUOTA": "the mailbox is full", "ALREADYEXISTS": "that is there already", "NONEXISTENT": "there is no such mailbox",
	"TRYCREATE": "there is no such mailbox yet",
}

// Error implements error: what the answer means, and the answer itself.
func (e *RefusedError) Error() string {
	means, answer := meanings[strings.ToUpper(e.Code)], e.Type
	if e.Code != "" {
		answer += " [" + e.Code + "]"
	}
	if means == "" && e.Type == "BAD" {
		means = "it does not know the command, or not at this moment"
	}
	if means != "" {
		means = ": " + means
	}
	return fmt.Sprintf("the mail server refused the command %s%s (its answer: %s)", e.Command, means, answer)
}

// Sentence is the error with the server's own words behind it, on one line, for whoever
// has asked; it may name people.
func (e *RefusedError) Sentence() string {
	said := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(e.Said, "\uFFFD"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if said == "" {
		return e.Error()
	}
	if runes := []rune(said); len(runes) > maxSentence {
		said = string(runes[:maxSentence-1]) + "…"
	}
	return e.Error() + fmt.Sprintf("; it says: %q", said)
}

// maxSentence bounds what is shown of a server's words, in characters.
const maxSentence = 512

// refusedWith reports whether an error is a refusal with one of the codes.
func refusedWith(err error, codes ...goimap.ResponseCode) bool {
	refused, answered := errors.AsType[*RefusedError](err)
	return answered && slices.Contains(codes, goimap.ResponseCode(refused.Code))
}

// Refused reports whether an error is a command that the server answered with NO or BAD.
func Refused(err error) bool {
	_, refused := errors.AsType[*RefusedError](err)
	return refused
}
