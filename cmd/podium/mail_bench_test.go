package main

import (
	"context"
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
	"podium/bus/jetstream"
	"podium/ingest/imap"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

const (
	pulledMails = 10_000
	pulledSize  = 4 << 10 // bytes of a mail
	pullRounds  = 3       // of each side, in turn; the medians count
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
// archived, parsed and acknowledged by a ledger at durability interval. Beside
// it mbsync (isync) pulls the same mailbox in turn, which writes files and does
// no more. Both are medians of three.
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
	core := benchLedger(b)
	for b.Loop() {
		var ours, theirs []float64
		for round := range pullRounds {
			theirs = append(theirs, pulledMails/mbsyncPull(b, mbsync, server).Seconds())
			ours = append(ours, pulledMails/doorPull(b, core, server, fmt.Sprintf("pull-%d", round)).Seconds())
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		b.ReportMetric(ours[pullRounds/2], "mails/s")
		b.ReportMetric(theirs[pullRounds/2], "mbsync-mails/s")
		b.ReportMetric(ours[pullRounds/2]/theirs[pullRounds/2], "ratio")
	}
}

// BenchmarkMailboxDelivery measures from the delivery of a mail, over IDLE, to
// its acknowledged event. Dovecot itself waits 0.5 s before it announces.
func BenchmarkMailboxDelivery(b *testing.B) {
	server := dovecot.Start(b, dovecot.Options{})
	watched := &watchedIntake{inner: bus.NewIntake(benchLedger(b)), stored: make(chan struct{}, 1)}
	door, stop := benchDoor(b, watched, server, "delivery")
	defer stop()
	eventually(b, "the door is connected", func() bool { return !door.Status().LastSuccess.IsZero() })
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
	line := "The quick brown fox jumps over the lazy dog, and nobody asks it why.\r\n"
	return letter(fmt.Sprintf("bench-%d@example.net", number), "Question", strings.Repeat(line, pulledSize/len(line)))
}

func benchLedger(b *testing.B) *jetstream.Core {
	b.Helper()
	server, err := embedded.Start(b.Context(), embedded.Config{
		Dir: b.TempDir(), Durability: embedded.Interval, Logger: zerolog.Nop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	core, err := server.Core(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		core.Close()
		if err := server.Close(); err != nil {
			b.Error(err)
		}
	})
	return core
}

// watchedIntake tells of every event that the ledger has.
type watchedIntake struct {
	inner  *bus.Intake
	core   *jetstream.Core
	count  atomic.Int64
	stored chan struct{} // after each one; nil tells nobody
}

// Submit implements imap.Submitter.
func (w *watchedIntake) Submit(ctx context.Context, door string, e schemas.Event) (bus.Receipt, error) {
	receipt, err := w.inner.Submit(ctx, door, e)
	if err == nil {
		w.count.Add(1)
		if w.stored != nil {
			w.stored <- struct{}{}
		}
	}
	return receipt, err
}

func doorPull(b *testing.B, core *jetstream.Core, server *dovecot.Server, account string) time.Duration {
	b.Helper()
	watched := &watchedIntake{inner: bus.NewIntake(core), core: core}
	began := time.Now()
	_, stop := benchDoor(b, watched, server, account)
	defer stop()
	within(b, 5*time.Minute, "every mail is on the ledger", func() bool { return watched.count.Load() == pulledMails })
	return time.Since(began)
}

func benchDoor(b *testing.B, watched *watchedIntake, server *dovecot.Server, account string) (door *imap.Door, stop func()) {
	b.Helper()
	core := watched.core
	if core == nil {
		core = benchLedger(b)
	}
	door, err := imap.New(imap.Config{
		Account: account, Profile: "desk", Host: server.Host, Port: server.Port, Security: imap.SecurityNone,
		Username: dovecot.Username, Password: func(context.Context) (string, error) { return dovecot.Password, nil },
		Since: time.Unix(0, 0), Spool: b.TempDir(),
	}, imap.Dependencies{
		Intake: watched, Artifacts: core.Artifacts(), Store: core.Store(bus.MailboxBucket), Log: zerolog.Nop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- door.Run(ctx) }()
	return door, func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}

func mbsyncPull(b *testing.B, mbsync string, server *dovecot.Server) time.Duration {
	b.Helper()
	folder := b.TempDir()
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
