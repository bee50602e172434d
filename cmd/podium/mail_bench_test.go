package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/intake"
	"podium/bus/jetstream"
	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

const (
	pulledMails = 10_000
	pulledSize  = 4 << 10 // bytes of a mail

	pullPatience = 5 * time.Minute
)

const mbsyncConfig = `FSync no

IMAPAccount account
Host %s
Port %d
User %s
Pass %s
SSLType None
AuthMechs LOGIN
PipelineDepth 50
Timeout 60

IMAPStore remote
Account account

MaildirStore local
Path %s/
Inbox %s/INBOX

Channel pull
Far :remote:
Near :local:
Patterns INBOX
Sync PullNew
Create Near
SyncState *
`

// BenchmarkMailboxPull takes 10,000 mails of 4 KiB from a real Dovecot, fetched,
// archived, parsed and acknowledged by a new ledger at durability interval. Beside
// it mbsync (isync) pulls the same mailbox in turn, which writes files and does
// no more. The medians of all rounds count.
func BenchmarkMailboxPull(b *testing.B) {
	mbsync, err := exec.LookPath("mbsync")
	if err != nil {
		b.Fatal("this benchmark needs mbsync (Debian package isync): run `make tools`")
	}
	server := dovecot.Start(b, dovecot.Options{})
	for number := range pulledMails {
		server.Deliver(b, benchLetter(number))
	}
	server.Flags(b) // Dovecot numbers them, once
	var ours, theirs []float64
	for b.Loop() {
		theirs = append(theirs, pulledMails/mbsyncPull(b, mbsync, server).Seconds())
		ours = append(ours, pulledMails/adapterPull(b, server).Seconds())
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(ours[len(ours)/2], "mails/s")
	b.ReportMetric(theirs[len(theirs)/2], "mbsync-mails/s")
	b.ReportMetric(ours[len(ours)/2]/theirs[len(theirs)/2], "ratio")
}

// BenchmarkMailboxDelivery measures from the delivery of a mail, over IDLE, to
// its acknowledged event. Dovecot itself waits 0.5 s before it announces.
func BenchmarkMailboxDelivery(b *testing.B) {
	server := dovecot.Start(b, dovecot.Options{})
	core, end := benchLedger(b)
	defer end()
	watched := &watchedIntake{inner: intake.NewIntake(core), stored: make(chan struct{}, 1), after: 1}
	adapter, stop := benchAdapter(b, core, watched, server)
	defer stop()
	eventually(b, "the adapter is connected", func() bool { return !adapter.Status().LastSuccess.IsZero() })
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		server.Deliver(b, benchLetter(len(took)))
		<-watched.stored
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "p99-ms")
}

func benchLetter(number int) []byte {
	line := "The quick brown fox jumps over the lazy dog, and nobody asks it why.\n" // a letter has CRLF
	return letter(fmt.Sprintf("bench-%d@example.net", number), "Question", strings.Repeat(line, pulledSize/len(line)))
}

// benchLedger returns a new ledger, and what ends it and removes its files.
func benchLedger(b *testing.B) (core *jetstream.Core, end func()) {
	b.Helper()
	folder := b.TempDir()
	server, err := embedded.Start(b.Context(), embedded.Config{Dir: folder, Durability: embedded.Interval, Logger: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	if core, err = server.Core(b.Context()); err != nil {
		b.Fatal(err)
	}
	return core, func() {
		core.Close()
		if err := errors.Join(server.Close(), os.RemoveAll(folder)); err != nil {
			b.Error(err)
		}
	}
}

// watchedIntake tells when the ledger has as many events as are waited for, and
// again after as many more.
type watchedIntake struct {
	inner  *intake.Intake
	after  int64
	count  atomic.Int64
	stored chan struct{}
}

// SubmitAll implements imap.Submitter.
func (w *watchedIntake) SubmitAll(ctx context.Context, adapter string, events []schemas.Event) []intake.Outcome {
	outcomes := w.inner.SubmitAll(ctx, adapter, events)
	for _, outcome := range outcomes {
		if outcome.Err == nil && w.count.Add(1)%w.after == 0 {
			w.stored <- struct{}{}
		}
	}
	return outcomes
}

func adapterPull(b *testing.B, server *dovecot.Server) time.Duration {
	b.Helper()
	core, end := benchLedger(b)
	defer end()
	watched := &watchedIntake{inner: intake.NewIntake(core), stored: make(chan struct{}, 1), after: pulledMails}
	began := time.Now()
	_, stop := benchAdapter(b, core, watched, server)
	defer stop()
	select {
	case <-watched.stored:
		return time.Since(began)
	case <-time.After(pullPatience):
		b.Fatalf("%d of %d mails are on the ledger", watched.count.Load(), pulledMails)
		return 0
	}
}

func benchAdapter(b *testing.B, core *jetstream.Core, watched *watchedIntake, server *dovecot.Server) (adapter *imap.Adapter, stop func()) {
	b.Helper()
	adapter, err := imap.New(imap.Config{
		Config: connection.Config{
			Account: "pull", Host: server.Host, Port: server.Port, Security: connection.SecurityNone,
			Username: dovecot.Username, Password: func(context.Context) (string, error) { return dovecot.Password, nil },
		},
		Profile: "desk", Since: time.Unix(0, 0), Spool: b.TempDir(),
	}, imap.Dependencies{
		Intake: watched, Core: core, Store: core.KeyValue(bus.MailboxBucket), Log: zerolog.Nop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- adapter.Run(ctx) }()
	return adapter, func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}

func mbsyncPull(b *testing.B, mbsync string, server *dovecot.Server) time.Duration {
	b.Helper()
	folder := b.TempDir()
	defer os.RemoveAll(folder) //nolint:errcheck // it is removed at the end besides
	config := filepath.Join(folder, "mbsyncrc")
	pulled := filepath.Join(folder, "pull")
	text := fmt.Sprintf(mbsyncConfig, server.Host, server.Port, dovecot.Username, dovecot.Password, pulled, pulled)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.Mkdir(pulled, 0o700); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if output, err := exec.CommandContext(b.Context(), mbsync, "-c", config, "-q", "pull").CombinedOutput(); err != nil {
		b.Fatalf("mbsync: %v\n%s", err, output)
	}
	took := time.Since(began)
	files, err := filepath.Glob(filepath.Join(pulled, "INBOX", "new", "*"))
	if err != nil || len(files) != pulledMails {
		b.Fatalf("mbsync pulled %d mails: %v", len(files), err)
	}
	return took
}
