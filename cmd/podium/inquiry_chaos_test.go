package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
)

const askingConfig = `
agents:
  booking:
    kind: exec
    concurrency: 8
    command: [sh, -c, 'cat >/dev/null; mkdir -p "$BOOKED/$PODIUM_EFFECT"; sleep 0.1; echo Gebucht.']
    env: ["BOOKED=%s"]
    side_effects: external
    input_schema: {type: object, required: [date], properties: {date: {type: string, format: date}}}
    arguments: [{path: date, find: date, ask: {de: "Für welchen Tag?"}}]
  mail: {kind: mail, concurrency: 8}
profiles:
  desk:
    language: de
    timezone: Europe/Berlin
    agents: [{name: booking, on_tainted: allow}]
    routers: [{kind: default, agent: booking}]
    conversation: {replies_per_hour: 10}
    deadlines: {queue: 10m, work: 1m}
`

// appointmentsAtOnce is how many people ask for an appointment in each round.
const appointmentsAtOnce = 3

// TestKillWhileAsked: people ask for an appointment and leave out the day; they are asked for it, and answer in a
// thread of its own, while the service is killed at random moments. Each is asked once and answered once, each appointment is made once, and
// no answer begins a run of its own.
func TestKillWhileAsked(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%d kills; again with -chaos.seed=%d", *chaosRounds, seed)
	binary(t)
	a := &asked{t: t, random: rand.New(rand.NewPCG(seed, 2)), mailbox: dovecot.Start(t, dovecot.Options{}), booked: t.TempDir(), replied: map[int]string{}}
	a.service = install(t, mailAccount(a.mailbox.Port, outbox(t, &a.mailed).Port())+fmt.Sprintf(askingConfig, a.booked), "ledger: {shards: 2, durability: fsync}")
	for range *chaosRounds {
		a.service.start()
		for range appointmentsAtOnce {
			a.mailbox.Deliver(t, letter(appointmentID(a.people), "Termin", "Bitte einen Termin mit Frau Müller buchen."))
			a.people++
		}
		a.reply(time.Duration(a.random.Int64N(int64(roundLength))))
		a.service.kill()
		a.reply(0) // while it is down
	}
	a.service.up()
	within(t, chaosPatience, "everybody is asked, and answered", func() bool {
		a.reply(0)
		return len(a.replied) == a.people && len(a.runs("--status", "open")) == 0
	})
	a.check()
	a.service.stop()
	a.service.verify()
}

// asked is a test with people who are asked something.
type asked struct {
	t       *testing.T
	random  *rand.Rand
	mailbox *dovecot.Server
	service *deployment
	mailed  answers
	booked  string
	people  int
	replied map[int]string // the question that each has answered
}

func appointmentID(person int) string { return fmt.Sprintf("termin-%d@example.net", person) }

const askedFor = "welchen Tag"

// reply has everybody who is asked answer, for so long.
func (a *asked) reply(within time.Duration) {
	a.t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		for person := range a.people {
			for _, told := range a.mailed.to(appointmentID(person)) {
				if a.replied[person] != "" || !strings.Contains(told.text, askedFor) {
					continue
				}
				a.replied[person] = told.id
				reply := letter(fmt.Sprintf("antwort-%d@example.net", person), "AW: Ihr Anliegen", "Am 3.12.2030 bitte.")
				a.mailbox.Deliver(a.t, append([]byte("In-Reply-To: <"+told.id+">\r\n"), reply...))
			}
		}
		if !time.Now().Before(end) {
			return
		}
	}
}

func (a *asked) runs(filter ...string) []workflow.RunHistory {
	a.t.Helper()
	return lines[workflow.RunHistory](a.t, a.service.podium(append([]string{"runs", "list", "-o", "json", "--limit", "1000000"}, filter...)...))
}

func (a *asked) check() {
	a.t.Helper()
	runs := a.runs()
	if len(runs) != a.people {
		a.t.Errorf("%d runs for %d people: an answer has begun one", len(runs), a.people)
	}
	for i := range runs {
		run := &runs[i]
		if run.Status != schemas.RunCompleted || len(run.Inquiries) != 1 || run.Inquiries[0].Answered == nil || string(run.Tasks[0].Arguments()) != `{"date":"2030-12-03"}` {
			a.t.Errorf("run %s ended %s (%s): %+v", run.ID, run.Status, run.Reason, run.Inquiries)
		}
	}
	for person := range a.people {
		asked, answered := map[string]bool{}, map[string]bool{}
		for _, told := range a.mailed.to(appointmentID(person)) {
			into := answered
			if strings.Contains(told.text, askedFor) {
				into = asked
			}
			into[told.id] = true
		}
		if len(asked) != 1 || len(answered) != 1 {
			a.t.Errorf("person %d was asked by %d letters and answered by %d", person, len(asked), len(answered))
		}
	}
	made, err := os.ReadDir(a.booked)
	if err != nil || len(made) != a.people {
		a.t.Errorf("%d appointments in %s for %d people (%v)", len(made), filepath.Base(a.booked), a.people, err)
	}
}
