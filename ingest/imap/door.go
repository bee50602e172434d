package imap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/schemas"
)

// doorName is this door's token in subjects.
const doorName = "email"

// A Submitter takes events onto the ledger; *bus.Intake is one.
type Submitter interface {
	// Submit returns when the event is stored.
	Submit(ctx context.Context, door string, e schemas.Event) (bus.Receipt, error)
}

// Dependencies are what a door works with.
type Dependencies struct {
	Intake    Submitter
	Artifacts bus.Artifacts
	Store     bus.Store // of bus.MailboxBucket
	Log       zerolog.Logger
	// Dial opens a connection; nil is the one over TCP that Config describes.
	Dial func(ctx context.Context) (MailSource, error)
}

// A Door watches one mailbox.
type Door struct {
	config       Config
	dependencies Dependencies
	log          zerolog.Logger

	// careful asks for messages one by one, since the connection failed among
	// several. Only the goroutine of Run uses it.
	careful bool

	mu     sync.Mutex
	status Status
}

// Trust says how far a server's announcements of new mail are believed.
type Trust string

// The degrees of trust.
const (
	TrustNone     Trust = "poll"     // it announces nothing, or mail was found that it had not announced
	TrustUnproven Trust = "unproven" // it has announced nothing yet
	TrustPush     Trust = "push"     // it announced the mail that came
)

// Status says how a door is.
type Status struct {
	Account   string
	Mailbox   string
	Connected bool
	// LastSuccess is when everything that the server had was last dealt with.
	// It, not Connected, says that the door works.
	LastSuccess time.Time
	Lag         int // messages that are known of and not dealt with
	Failed      int // messages passed over; they stand in the mailbox ledger
	Trust       Trust
	Problem     string // why the last connection ended, in English, without personal data
}

// New returns a door that does nothing before Run.
func New(config Config, dependencies Dependencies) (*Door, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	if dependencies.Intake == nil || dependencies.Artifacts == nil || dependencies.Store == nil {
		return nil, fmt.Errorf("mailbox of account %q: intake, artifacts and store are required", config.Account)
	}
	if dependencies.Dial == nil {
		dependencies.Dial = func(ctx context.Context) (MailSource, error) { return dial(ctx, config) }
	}
	return &Door{
		config: config, dependencies: dependencies,
		log:    dependencies.Log.With().Str("door", doorName).Str("account", config.Account).Logger(),
		status: Status{Account: config.Account, Mailbox: config.Mailbox, Trust: TrustUnproven},
	}, nil
}

// Run takes mail until the context ends, connecting anew whenever it must. It
// returns nil.
func (d *Door) Run(ctx context.Context) error {
	failures := 0
	for {
		before := d.Status().LastSuccess
		err := d.connection(ctx)
		d.update(func(s *Status) { s.Connected, s.Problem = false, problem(err) })
		if d.Status().LastSuccess.After(before) {
			failures = 0
		}
		wait := d.backOff(failures, err)
		failures++
		if ctx.Err() == nil {
			d.log.Warn().Str("problem", problem(err)).Dur("retry_in", wait).Msg("the connection to the mailbox ended")
		}
		if !sleep(ctx, wait) {
			return nil
		}
	}
}

// Status returns how the door is now.
func (d *Door) Status() Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.status
}

func (d *Door) update(change func(*Status)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.status)
}

// connection is the life of one connection.
func (d *Door) connection(ctx context.Context) (err error) {
	source, err := d.dependencies.Dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	s, err := openSession(ctx, d, source)
	if err != nil {
		return err
	}
	d.log.Info().Uint32("uid_validity", s.mailbox.UIDValidity).Bool("announces", s.mailbox.Announces).Msg("watching the mailbox")
	return s.run(ctx)
}

// backOff returns how long to wait before connection number failures+2: with
// full jitter from a doubling limit, or long when the credentials were refused.
func (d *Door) backOff(failures int, err error) time.Duration {
	limit := d.config.BackOffMax
	if errors.Is(err, ErrAuthentication) {
		return limit/2 + jitter(limit/2)
	}
	if failures < 16 {
		limit = min(limit, d.config.BackOffMin<<failures)
	}
	return jitter(limit)
}

// jitter returns a duration between zero and limit. Its randomness spreads the
// reconnections of many doors and decides nothing else.
func jitter(limit time.Duration) time.Duration {
	return rand.N(limit + 1) //nolint:gosec // no secret depends on it
}

// sleep returns false when the context ends first.
func sleep(ctx context.Context, wait time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// problem describes an error without anything that a server or a mail said.
func problem(err error) string {
	var answer *RefusedError
	var network *net.OpError
	switch {
	case err == nil:
		return "the server ended the connection"
	case errors.Is(err, ErrAuthentication):
		return ErrAuthentication.Error()
	case errors.Is(err, ErrSilent):
		return ErrSilent.Error()
	case errors.Is(err, ErrTruncated):
		return ErrTruncated.Error()
	case errors.As(err, &answer):
		return answer.Error()
	case errors.Is(err, bus.ErrConflict):
		return "another door reads the same mailbox"
	case errors.Is(err, bus.ErrFull):
		return bus.ErrFull.Error()
	case errors.Is(err, errLedger):
		return errLedger.Error()
	case errors.Is(err, errSpool):
		return errSpool.Error()
	case errors.Is(err, errUIDValidity):
		return errUIDValidity.Error()
	case errors.As(err, &network):
		return "network: " + network.Error()
	}
	return "the connection was lost or its protocol broken"
}
