package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
	"podium/schemas/workflow"
)

// attemptsConfig has a supervisor ask another one, again and again, for what a doctor is asked by mail.
const attemptsConfig = `
mail:
  accounts:
    - name: support
      profile: front
      since: all
      imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret, poll: 1s}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: support@practice.example, sent: none}
people: {anna: {mail: anna@practice.example}}
agents:
  archive: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo fetched >>"$FETCHED"; echo The file says: healthy.'], env: ["FETCHED=%s"]}
  doctor: {kind: person, people: [anna], expires: 48h}
  desk: {kind: supervisor, profile: desk}
profiles:
  front:
    language: en
    agents: [desk]
    routers: [{kind: default, agent: desk}]
    deadlines: {queue: 10m, work: 4s}
    retry: {attempts: 20, wait: 3s, timeout_growth: 1}
  desk:
    language: en
    agents: [archive, doctor]
    routers: [{kind: keywords, groups: [{agent: archive, keywords: [fetch]}]}, {kind: default, agent: doctor}]
    complexity: {verbs: [fetch, examine], separators: [then]}
    execution: {mode: sequence}
`

// TestSecondAttemptFromUpstream: a supervisor whose attempts time out while a doctor is asked below it makes further ones, and the service is killed meanwhile.
// The doctor gets one letter, whose answer counts whenever it comes, and what was done before is not done again.
func TestSecondAttemptFromUpstream_X03(t *testing.T) {
	t.Parallel()
	between := func(a *attempts) bool {
		runs := a.below()
		return len(runs) > 0 && runs[len(runs)-1].Phase == workflow.PhaseComplete
	}
	adopted := func(a *attempts) bool { return a.adopted() > 0 }
	byMail := func(a *attempts) { // while the service is down
		a.deliver(a.doctorSays("It is a rash."))
		a.service.up()
	}
	byCommand := func(a *attempts) { // by the name that the first run has given the question
		a.service.up()
		if said := a.service.podium("answer", a.below()[0].ID+".1", "It is a rash."); said.code != exitOK {
			a.t.Fatalf("podium answer: %d %s", said.code, said.stderr)
		}
	}
	for name, c := range map[string]struct {
		until func(*attempts) bool
		says  func(*attempts)
	}{
		"answered between two attempts":                         {between, byMail},
		"answered when the second attempt has adopted":          {adopted, byMail},
		"answered by the command line by the name of the first": {adopted, byCommand},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := beginAttempts(t)
			a.service.up()
			a.deliver(letter("m1@example.net", "My arm", "Fetch the file, then examine my arm."))
			within(t, patience, "the doctor is asked", func() bool { return len(a.letters("anna@practice.example")) == 1 })
			within(t, patience, "the moment to be killed has come", func() bool { return c.until(a) })
			a.service.kill()
			c.says(a)
			within(t, 2*patience, "the patient is answered", func() bool { return len(a.letters("ada@example.net")) == 1 })
			within(t, patience, "every run has ended", func() bool { return len(a.runs("--status", "open")) == 0 })
			a.check()
			a.service.stop()
			a.service.verify()
		})
	}
}

// attempts is a test in which a doctor is asked by a supervisor below another.
type attempts struct {
	t       *testing.T
	service *deployment
	mailbox *memorymailbox.Server
	sink    *smtpsink.Server
	fetched string
}

func beginAttempts(t *testing.T) *attempts {
	t.Helper()
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	mailbox, err := memorymailbox.Start(t.Context(), "agent", "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mailbox.Close() })
	fetched := filepath.Join(t.TempDir(), "fetched")
	return &attempts{
		t: t, mailbox: mailbox, sink: sink, fetched: fetched,
		service: install(t, fmt.Sprintf(attemptsConfig, mailbox.Port(), sink.Port(), fetched), "ledger: {shards: 2, durability: fsync}"),
	}
}

func (a *attempts) deliver(raw []byte) {
	a.t.Helper()
	if err := a.mailbox.Deliver(raw); err != nil {
		a.t.Fatal(err)
	}
}

// letters are the Message-IDs of what somebody was sent.
func (a *attempts) letters(to string) map[string]string {
	sent := map[string]string{}
	for _, message := range a.sink.Messages() {
		for _, recipient := range message.To {
			if recipient == to {
				_, text, _ := strings.Cut(string(message.Data), "\r\n\r\n")
				sent[strings.Trim(message.Header().Get("Message-ID"), "<>")] = text
			}
		}
	}
	return sent
}

// doctorSays is the doctor's answer to her first letter.
func (a *attempts) doctorSays(words string) []byte {
	a.t.Helper()
	for id := range a.letters("anna@practice.example") {
		said := strings.ReplaceAll(string(letter("doctor@practice.example", "Re: My arm", words)), "Ada Example <ada@example.net>", "Anna <anna@practice.example>")
		return append([]byte("In-Reply-To: <"+id+">\r\n"), said...)
	}
	a.t.Fatal("the doctor was not asked")
	return nil
}

func (a *attempts) runs(filter ...string) []workflow.RunHistory {
	a.t.Helper()
	return lines[workflow.RunHistory](a.t, a.service.podium(append([]string{"runs", "list", "-o", "json", "--limit", "1000"}, filter...)...))
}

// below are the runs of the supervisor that is asked, the oldest first.
func (a *attempts) below() []workflow.RunHistory {
	a.t.Helper()
	found := map[int]workflow.RunHistory{}
	for _, run := range a.runs() {
		if run.Profile == "desk" {
			found[run.Number] = run
		}
	}
	var below []workflow.RunHistory
	for number := 1; number <= len(found); number++ {
		below = append(below, found[number])
	}
	return below
}

// adopted counts the runs below that have taken over what the doctor is asked.
func (a *attempts) adopted() (count int) {
	a.t.Helper()
	for _, run := range a.below() {
		for _, inquiry := range run.Inquiries {
			if inquiry.Adopts != nil {
				count++
			}
		}
	}
	return count
}

func (a *attempts) check() {
	a.t.Helper()
	if asked := a.letters("anna@practice.example"); len(asked) != 1 {
		a.t.Errorf("the doctor got %d letters: %q", len(asked), asked)
	}
	for _, text := range a.letters("ada@example.net") {
		if !strings.Contains(text, "It is a rash.") {
			a.t.Errorf("the patient is told %q", text)
		}
	}
	below := a.below()
	if a.adopted() == 0 || len(below) < 2 {
		a.t.Errorf("of %d runs below, %d have adopted the question", len(below), a.adopted())
	}
	answered := 0
	for i := range below {
		for _, inquiry := range below[i].Inquiries {
			if inquiry.Answered != nil {
				answered++
			}
		}
	}
	if last := &below[len(below)-1]; answered != 1 || last.Status != schemas.RunCompleted {
		a.t.Errorf("the doctor's words count %d times; the last run below ended %s (%s)", answered, last.Status, last.Reason)
	}
	if times, err := os.ReadFile(a.fetched); err != nil || string(times) != "fetched\n" {
		a.t.Errorf("the file was fetched as %q says (%v)", times, err)
	}
	if runs := a.runs(); len(runs) != len(below)+1 {
		a.t.Errorf("%d runs, of which %d below: an answer has begun one", len(runs), len(below))
	}
}
