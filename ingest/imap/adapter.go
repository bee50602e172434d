package imap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/intake"
	"podium/cleartext"
	"podium/ingest/imap/connection"
	"podium/ingest/imap/mailbox"
	"podium/schemas"
)

// renewPause is the least time between two connections that are replaced because
// their tokens end.
const renewPause = time.Second

// A Submitter takes events onto the ledger; *intake.Intake is one.
type Submitter interface {
	// SubmitAll returns when it is known of each event whether it is stored. Those of
	// one conversation are stored in their order, or not beyond one that failed.
	SubmitAll(ctx context.Context, adapter string, events []schemas.Event) []intake.Outcome
}

// Dependencies are what an adapter works with.
type Dependencies struct {
	Intake Submitter
	Core   bus.Core     // where events and artifacts stand
	Store  bus.KeyValue // of bus.MailboxBucket
	Log    zerolog.Logger
	// Pseudonym is what stands in the log for an address or a mailbox's name, so that lines about the same one are
	// found; nil leaves them out.
	Pseudonym func(value string) string
	// Dial opens a connection; nil is the one over TCP that Config describes.
	Dial func(ctx context.Context) (connection.MailSource, error)
	Host *Host // shared by all adapters to the same server; nil is one of its own
	// Report is told the status now and then, and whenever health changes; nil is nobody.
	Report func(Status)
	// SendCanary sends a mail to the mailbox, with the mark as its CanaryHeader.
	SendCanary func(ctx context.Context, mark string) error
}

// A Adapter watches one mailbox.
type Adapter struct {
	config       Config
	dependencies Dependencies
	log          zerolog.Logger

	// careful asks for messages one by one, since the connection failed among
	// several. Only the goroutine of Run uses it.
	singly bool
	// checked is the UID up to which the mailbox was compared with the ledger.
	checked uint32
	// first is the first look at a mailbox without a ledger.
	first firstLook
	// unread: nothing of the mailbox stood on the event ledger before first contact.
	unread bool
	// incomplete: the mailbox ledger lacks what is not read when it is opened.
	incomplete bool
	// checkSize is how many UIDs the next comparison covers at once.
	checkSize uint64

	read chan struct{} // closed when the mailbox was read to its end for the first time

	mu     sync.Mutex
	status Status
}

// New returns an adapter that does nothing before Run.
func New(config Config, dependencies Dependencies) (*Adapter, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	if dependencies.Intake == nil || dependencies.Core == nil || dependencies.Store == nil {
		return nil, fmt.Errorf("mailbox of account %q: intake, core and store are required", config.Account)
	}
	if dependencies.Dial == nil {
		dependencies.Dial = func(ctx context.Context) (connection.MailSource, error) {
			return connection.Dial(ctx, config.Config)
		}
	}
	if dependencies.Host == nil {
		dependencies.Host = NewHost()
	}
	if dependencies.Report == nil {
		dependencies.Report = func(Status) {}
	}
	return &Adapter{
		config: config, dependencies: dependencies, read: make(chan struct{}),
		log:    dependencies.Log.With().Str("adapter", mailbox.AdapterName).Str("account", config.Account).Str("mailbox", dependencies.mailboxTag(config.Mailbox)).Logger(),
		status: Status{Account: config.Account, Mailbox: config.Mailbox, Trust: TrustUnproven},
	}, nil
}

// mailboxTag names a mailbox where its name, which may be a person's, must not stand.
func (d *Dependencies) mailboxTag(mailbox string) string {
	switch {
	case strings.EqualFold(mailbox, "INBOX"):
		return "INBOX"
	case d.Pseudonym == nil:
		return ""
	}
	return d.Pseudonym(mailbox)
}

// Run takes mail until the context ends, connecting anew whenever it must. It
// returns nil.
func (d *Adapter) Run(ctx context.Context) error {
	d.update(func(s *Status) { s.Started = d.config.Clock() })
	var aside sync.WaitGroup
	defer aside.Wait()
	aside.Go(func() { d.watch(ctx) })
	if d.dependencies.SendCanary != nil && d.config.CanaryEvery > 0 {
		aside.Go(func() { d.sendCanaries(ctx) })
	}
	own := NewHost() // what is nobody's fault but this adapter's
	var renewed time.Time
	for d.dependencies.Host.enter(ctx, d.config.Username, d.config.Clock) {
		opened := d.config.Clock()
		source, err := d.dependencies.Dial(ctx)
		connected := err == nil
		if connected {
			d.dependencies.Host.leave()
			err = d.serve(ctx, source)
			d.update(func(s *Status) { s.Connected = false })
		}
		if errors.Is(err, errRenew) { // at once, unless tokens end as soon as they are given
			if !sleep(ctx, renewPause-d.config.Clock().Sub(renewed)) {
				return nil
			}
			renewed = d.config.Clock()
			continue
		}
		wait := d.backOff(ctx, own, opened, err)
		if !connected {
			d.dependencies.Host.leave() // only now: the next one must not try what was refused
		}
		if ours(err) && !sleep(ctx, wait) {
			return nil
		}
	}
	return nil
}

// backOff notes why a connection failed that was opened at a time, and returns how long there is none.
func (d *Adapter) backOff(ctx context.Context, own *Host, opened time.Time, err error) (wait time.Duration) {
	d.update(func(s *Status) { s.Problem = problem(err) })
	if d.Status().LastSuccess.After(opened) {
		own.succeeded()
	}
	now := d.config.Clock()
	switch {
	case errors.Is(err, connection.ErrAuthentication):
		wait = d.dependencies.Host.deny(d.config.Username, now, d.config.BackOffMax)
	case ours(err):
		wait = own.failed(opened, now, d.config.BackOffMin, d.config.BackOffMax)
	default:
		wait = d.dependencies.Host.failed(opened, now, d.config.BackOffMin, d.config.BackOffMax)
	}
	if ctx.Err() == nil {
		d.log.Warn().Str("problem", problem(err)).Dur("retry_in", wait).Msg("the connection to the mailbox ended")
	}
	return wait
}

// ours tells a failure that concerns this adapter from one of the server.
func ours(err error) bool {
	return firstOf(err, errLedger, errSpool, errUIDValidity, errNotSticky) != nil
}

// firstOf returns the first of these errors that an error is; nil when it is none.
func firstOf(err error, kinds ...error) error {
	if at := slices.IndexFunc(kinds, func(kind error) bool { return errors.Is(err, kind) }); at >= 0 {
		return kinds[at]
	}
	return nil
}

// serve reads the mailbox over a connection until that ends, and closes it.
func (d *Adapter) serve(ctx context.Context, source connection.MailSource) (err error) {
	defer func() { err = errors.Join(err, source.Close()) }()
	s, err := openSession(ctx, d, source)
	if err != nil {
		return err
	}
	d.log.Info().Uint32("uid_validity", s.mailbox.UIDValidity).Bool("announces", s.mailbox.Announces).Msg("watching the mailbox")
	return s.run(ctx)
}

// Connect opens a connection as an adapter with this configuration does. Close it.
func Connect(ctx context.Context, config Config) (connection.MailSource, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	source, err := connection.Dial(ctx, config.Config)
	if err != nil {
		return nil, fmt.Errorf("account %q: %w", config.Account, err)
	}
	return source, nil
}

// problem describes an error without anything that a server or a mail said.
func problem(err error) string {
	const problemEnded = "the server ended the connection"
	if err == nil {
		return problemEnded
	}
	if known := firstOf(err, connection.ErrAuthentication, connection.ErrToken, connection.ErrSilent, cleartext.ErrForbidden, connection.ErrTruncated); known != nil {
		return known.Error()
	}
	if answer, ok := errors.AsType[*connection.RefusedError](err); ok {
		return answer.Error()
	}
	if errors.Is(err, bus.ErrConflict) {
		return "another adapter reads the same mailbox"
	}
	if known := firstOf(err, bus.ErrFull, errLedger, errSpool, errUIDValidity, errNotSticky); known != nil {
		return known.Error()
	}
	if errors.Is(err, net.ErrClosed) { // at its end the connection was closed here as well
		return problemEnded
	}
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return "network: " + network.Error()
	}
	return "the connection was lost or its protocol broken"
}
