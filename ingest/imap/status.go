package imap

import (
	"cmp"
	"context"
	"time"

	"podium/bus/backoff"
)

// Trust says how far a server's announcements of new mail are believed.
type Trust string

// The degrees of trust.
const (
	TrustNone     Trust = "poll"     // it announces nothing, or mail was found that it had not announced
	TrustUnproven Trust = "unproven" // it has announced nothing yet
	TrustPush     Trust = "push"     // it announced the mail that came
)

// Status says how an adapter is.
type Status struct {
	Account   string
	Mailbox   string
	Started   time.Time
	Connected bool
	// LastSuccess is when everything that the server had was last dealt with.
	// It, not Connected, says that the adapter works.
	LastSuccess time.Time
	// Silent: nothing has succeeded for Config.AlarmAfter.
	Silent bool
	Lag    int // messages that are known of and not dealt with
	Failed int // messages passed over; they stand in the mailbox ledger
	// Gaps are messages that the server has and the ledger should account for and
	// does not. They are taken at once; it stays above zero as long as that fails.
	Gaps      int
	Published uint64 // events over the life of the mailbox
	Recovered uint64 // gaps that were closed, over the life of the mailbox
	// Rebuilt is when the mailbox ledger was last found lost, or a part of it, and made
	// again from the events; zero is never.
	Rebuilt time.Time
	Trust   Trust
	Problem string // why the last connection ended, in English, without personal data
	Canary  CanaryStatus
}

// CanaryStatus says how the adapter's mail to itself fares.
type CanaryStatus struct {
	Sent      time.Time     // the newest; zero before the first
	Received  time.Time     // the newest
	RoundTrip time.Duration // of that
	// Overdue: the newest has not come in within Config.CanaryWithin, or could
	// not be sent.
	Overdue bool
}

// Healthy reports whether mail that comes now would be dealt with: the last
// success is recent, nothing is unaccounted for, and no canary is overdue. An adapter
// that has just begun is given the same time. Being connected is no part of it.
func (s Status) Healthy() bool { return !s.Silent && s.Gaps == 0 && !s.Canary.Overdue }

// Status returns how the adapter is now.
func (d *Adapter) Status() Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.status
}

func (d *Adapter) update(change func(*Status)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.status)
}

// succeeded notes that everything was dealt with.
func (d *Adapter) succeeded(now time.Time) {
	d.dependencies.Host.succeeded()
	d.update(func(s *Status) {
		if s.Silent {
			d.log.Info().Msg("the mailbox is being read again")
		}
		if s.LastSuccess.IsZero() {
			close(d.read)
		}
		s.LastSuccess, s.Silent = now, false
	})
}

// watch raises the alarm when nothing succeeds, and reports the status now and
// then and whenever its health has changed.
func (d *Adapter) watch(ctx context.Context) {
	var reported time.Time
	healthy := true
	look := func() {
		status, now := d.evaluate(), d.config.Clock()
		if status.Healthy() != healthy || now.Sub(reported) >= d.config.StatusEvery {
			healthy, reported = status.Healthy(), now
			d.dependencies.Report(status)
		}
	}
	look()
	backoff.Every(ctx, min(d.config.StatusEvery, max(d.config.AlarmAfter/4, time.Millisecond)), look)
}

// evaluate looks at how long nothing has succeeded.
func (d *Adapter) evaluate() Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, now := &d.status, d.config.Clock()
	if silence := now.Sub(cmp.Or(s.LastSuccess, s.Started)); silence >= d.config.AlarmAfter && !s.Silent {
		s.Silent = true
		d.log.Error().Dur("silence", silence).Str("problem", s.Problem).Int("lag", s.Lag).
			Msg("the mailbox has not been read for too long: mail is waiting, or may be")
	}
	if s.Canary.Sent.After(s.Canary.Received) && now.Sub(s.Canary.Sent) >= d.config.CanaryWithin && !s.Canary.Overdue {
		s.Canary.Overdue = true
		d.log.Error().Dur("waited", now.Sub(s.Canary.Sent)).Msg("the mail that the adapter has sent to itself does not come in")
	}
	return *s
}
