package imap

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/ingest/imap/connection"
)

func statusAdapter(t *testing.T, config Config, dependencies Dependencies) *Adapter {
	t.Helper()
	core := memory.New(1)
	config.Account, config.Profile, config.Host, config.Username = "a", "p", "localhost", "u"
	config.Password = func(context.Context) (string, error) { return "", nil }
	dependencies.Intake, dependencies.Core, dependencies.Store = intake.NewIntake(core), core, core.KeyValue(bus.MailboxBucket)
	dependencies.Dial = func(ctx context.Context) (connection.MailSource, error) {
		<-ctx.Done() // a server that never greets
		return nil, ctx.Err()
	}
	adapter, err := New(config, dependencies)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// TestSilenceRaisesTheAlarm_I13: being connected or not has no part in it.
func TestSilenceRaisesTheAlarm_I13(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		var reports []Status
		adapter := statusAdapter(t, Config{AlarmAfter: 10 * time.Minute, StatusEvery: time.Minute}, Dependencies{
			Log: zerolog.New(&log), Report: func(s Status) { reports = append(reports, s) },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- adapter.Run(ctx) }()
		time.Sleep(9 * time.Minute)
		if status := adapter.Status(); !status.Healthy() {
			t.Errorf("too early: %+v", status)
		}
		time.Sleep(2 * time.Minute)
		if status := adapter.Status(); status.Healthy() || !status.Silent {
			t.Errorf("no alarm: %+v", status)
		}
		adapter.succeeded(time.Now())
		if status := adapter.Status(); !status.Healthy() {
			t.Errorf("after a success: %+v", status)
		}
		time.Sleep(11 * time.Minute)
		if adapter.Status().Healthy() {
			t.Error("no second alarm")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := strings.Count(log.String(), `"level":"error"`); got != 2 {
			t.Errorf("%d errors were logged:\n%s", got, log.String())
		}
		if len(reports) < 20 || reports[0].Silent || !reports[len(reports)-1].Silent {
			t.Errorf("%d reports", len(reports))
		}
	})
}

// TestCanaryThatDoesNotComeIn_I13 raises the alarm, and its arrival ends it.
func TestCanaryThatDoesNotComeIn_I13(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var marks []string
		adapter := statusAdapter(t, Config{CanaryEvery: time.Hour, CanaryWithin: 5 * time.Minute, CanaryKey: []byte("key"), AlarmAfter: 24 * time.Hour}, Dependencies{
			SendCanary: func(_ context.Context, mark string) error { marks = append(marks, mark); return nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- adapter.Run(ctx) }()
		time.Sleep(time.Hour)
		if len(marks) != 0 {
			t.Error("one was sent before first contact")
		}
		adapter.succeeded(time.Now())
		time.Sleep(4 * time.Minute)
		if !adapter.Status().Healthy() {
			t.Error("too early")
		}
		time.Sleep(2 * time.Minute)
		if status := adapter.Status(); status.Healthy() || !status.Canary.Overdue {
			t.Errorf("no alarm: %+v", status)
		}
		sent, ok := adapter.canarySent(strings.NewReader("Received: x\r\n" + CanaryHeader + ": " + marks[0] + "\r\n\r\n"))
		if !ok {
			t.Fatal("its own mark is not recognized")
		}
		adapter.canaryArrived(sent)
		if status := adapter.Status(); !status.Healthy() || status.Canary.RoundTrip != 6*time.Minute {
			t.Errorf("after its arrival: %+v", status.Canary)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestForgedCanaryIsAMail_I13(t *testing.T) {
	t.Parallel()
	adapter := statusAdapter(t, Config{CanaryKey: []byte("key")}, Dependencies{})
	other := statusAdapter(t, Config{CanaryKey: []byte("other key")}, Dependencies{})
	mark := adapter.canaryToken(time.Unix(1, 0))
	for name, content := range map[string]string{
		"of another installation": CanaryHeader + ": " + other.canaryToken(time.Unix(1, 0)) + "\r\n\r\n",
		"changed":                 CanaryHeader + ": B" + mark[1:] + "\r\n\r\n",
		"in the body":             "Subject: x\r\n\r\n" + CanaryHeader + ": " + mark + "\r\n",
		"empty":                   CanaryHeader + ":\r\n\r\n",
		"not base64":              CanaryHeader + ": !!!\r\n\r\n",
		"behind a long line":      "X: " + strings.Repeat("x", 1<<20) + "\r\n" + CanaryHeader + ": " + mark + "\r\n\r\n",
	} {
		if _, ok := adapter.canarySent(strings.NewReader(content)); ok {
			t.Errorf("%s: it is taken for a canary", name)
		}
	}
	if sent, ok := adapter.canarySent(strings.NewReader(strings.ToLower(CanaryHeader) + ": " + mark + "\n\nx")); !ok || !sent.Equal(time.Unix(1, 0)) {
		t.Errorf("its own: %v, %v", sent, ok)
	}
	if _, ok := statusAdapter(t, Config{}, Dependencies{}).canarySent(strings.NewReader(CanaryHeader + ": " + mark + "\r\n\r\n")); ok {
		t.Error("an adapter without a key takes one")
	}
}
