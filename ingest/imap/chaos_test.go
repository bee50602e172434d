package imap_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"podium/bus"
	"podium/ingest/imap"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

// The size of the trial; `make chaos-mail` asks for more.
var (
	chaosMails = flag.Int("chaos.mails", 400, "how many mails are delivered")
	chaosCuts  = flag.Int("chaos.cuts", 40, "how many faults fall upon them")
	chaosSeed  = flag.Uint64("chaos.seed", 1, "what the faults are drawn from")
)

// TestNothingIsLostAtAnyCut_I02 delivers mail to a real server while connections
// are cut, kicked and silenced, the server is killed, the ledger refuses, notes
// are lost, and adapters end and begin: in the end every mail is on the ledger under
// one id, and the audit is clean.
func TestNothingIsLostAtAnyCut_I02(t *testing.T) {
	t.Parallel()
	mails, cuts, seed := *chaosMails, *chaosCuts, *chaosSeed
	random := rand.New(rand.NewPCG(seed, seed))
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	f.intake.submitted = make(chan schemas.Event, 100*mails)
	between := newProxy(t, server.Host, server.Port)
	settings := config(server.Host, between.port(t))
	settings.AnswerDeadline, settings.Heartbeat, settings.PollInterval = 500*time.Millisecond, 200*time.Millisecond, 100*time.Millisecond
	settings.BackOffMin, settings.BackOffMax = time.Millisecond, 20*time.Millisecond
	adapter, stop := f.run(t, settings, nil)
	delivered := 0
	for cut := range cuts {
		for ; delivered < (cut+1)*mails/cuts; delivered++ {
			server.Deliver(t, message(delivered))
		}
		switch random.IntN(8) {
		case 0, 1, 2:
			between.cut()
		case 3:
			between.setSilent(true)
			eventually(t, "the silence is noticed", func() bool { return !adapter.Status().Connected })
			between.setSilent(false)
		case 4:
			server.Kick(t)
		case 5:
			server.Stop(t)
			server.Restart(t)
		case 6:
			f.intake.setError(bus.ErrFull)
			f.store.setLosing(true)
			pauseFor(t, random.IntN(20))
			f.intake.setError(nil)
			pauseFor(t, random.IntN(20))
			f.store.setLosing(false)
		case 7:
			stop()
			adapter, stop = f.run(t, settings, nil)
		}
		pauseFor(t, random.IntN(30))
	}
	stop()
	settings.AnswerDeadline = patience // on a busy machine no answer may come within the deadline that notices silence
	_, stop = f.run(t, settings, nil)
	eventually(t, "everything is dealt with", func() bool { return f.position(t).LowWater == uint32(mails) && len(f.position(t).Open) == 0 })
	stop()

	ids, subjects, again := map[string]bool{}, map[string]int{}, 0
	for len(f.intake.submitted) > 0 {
		e := <-f.intake.submitted
		if ids[e.ID] {
			again++
			continue
		}
		ids[e.ID] = true
		var mail schemas.EmailReceived
		if err := schemas.Unmarshal(e.Data, &mail); err != nil {
			t.Fatal(err)
		}
		subjects[mail.Subject]++
	}
	for number := range mails {
		if subjects[fmt.Sprintf("Mail %d", number)] != 1 {
			t.Errorf("mail %d came %d times", number, subjects[fmt.Sprintf("Mail %d", number)])
		}
	}
	settings.Port, settings.ReadOnly = server.Port, true
	source, err := imap.Connect(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	report := f.audit(t, settings, source)
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	if !report.Clean() || report.Present != mails || report.Messages != uint64(mails) {
		t.Errorf("audit %+v", report)
	}
	t.Logf("seed %d: %d mails, %d cuts, %d offered again under the same id", seed, mails, cuts, again)
}

// pauseFor lets some milliseconds pass, so that faults meet every moment of a cycle.
func pauseFor(tb testing.TB, milliseconds int) {
	tb.Helper()
	timer := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer timer.Stop()
	<-timer.C
}
