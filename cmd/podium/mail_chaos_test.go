package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"podium/ingest/imap/dovecot"
	"podium/schemas/workflow"
)

// The size of the mailbox's trial; `make chaos-mail` asks for more.
var (
	mailMessages = flag.Int("mail.messages", 200, "how many mails are delivered")
	mailFaults   = flag.Int("mail.faults", 20, "how many faults fall upon them")
	mailSeed     = flag.Uint64("mail.seed", 0, "what the faults are drawn from; 0 is by the clock")
)

const (
	mailPatience   = 3 * time.Minute // until the last mail has its run, after the last fault
	faultPatience  = time.Minute     // until the adapter has caught up after a fault
	otherValidity  = 424_242         // a UIDVALIDITY that Dovecot would not choose by itself
	mailChaosDesks = `
agents:
  echo: {kind: echo, concurrency: 16}
  mail: {kind: mail, concurrency: 16}
profiles:
  desk:
    agents: [echo]
    routers: [{kind: default, agent: echo}]
    deadlines: {queue: 10m, work: 1m}
`
)

// mailFault is one thing that can go wrong between mailbox and ledger.
type mailFault struct {
	name   string
	weight int
	strike func(*mailChaos)
}

// mailFaults are by how often they fall: what costs a second is rare.
var mailFaultKinds = []mailFault{
	{"the connection ends", 25, func(c *mailChaos) { c.link.cutAfter(0, false) }},
	{"the connection ends within an answer", 25, func(c *mailChaos) { c.link.cutAfter(c.random.Int64N(20_000), false) }},
	{"the connection is reset within an answer", 20, func(c *mailChaos) { c.link.cutAfter(c.random.Int64N(5_000), true) }},
	{"the server kicks the account", 15, func(c *mailChaos) { c.mailbox.Kick(c.t) }},
	{"the server is killed", 5, func(c *mailChaos) { c.mailbox.Stop(c.t); c.mailbox.Restart(c.t) }},
	{"adapter and ledger are killed", 10, func(c *mailChaos) { c.service.kill(); c.service.start() }},
}

// mailChaos is one trial of the mailbox.
type mailChaos struct {
	t       *testing.T
	random  *rand.Rand
	mailbox *dovecot.Server
	link    *brittleLink
	service *deployment
	mailed  answers

	delivered int
	struck    map[string]int
}

// TestMailboxMissesNothing: connections are cut, kicked and reset, the mail
// server and the service with its ledger are killed, and at last every UID
// changes. Every mail has one run and one answer, and the audit accounts for all.
func TestMailboxMissesNothing_X01_I01_I04_I08(t *testing.T) {
	t.Parallel()
	c := newMailChaos(t)
	for fault := range *mailFaults {
		share := (*mailMessages) * (fault + 1) / *mailFaults
		c.deliver(share - 1)
		c.strike()
		c.deliver(share) // so that a link that is to break has something to break at
		c.catchUp()
	}
	c.settle("run", *mailMessages)
	c.flip()
	c.check()
	c.service.stop()
	c.service.verify()
}

func newMailChaos(t *testing.T) *mailChaos {
	t.Helper()
	seed := *mailSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%d mails, %d faults; again with -mail.seed=%d", *mailMessages, *mailFaults, seed)
	binary(t)
	c := &mailChaos{t: t, random: rand.New(rand.NewPCG(seed, 2)), struck: map[string]int{}}
	c.mailbox = dovecot.Start(t, dovecot.Options{})
	c.link = newBrittleLink(t, c.mailbox.Host, c.mailbox.Port)
	sink := outbox(t, &c.mailed)
	c.service = install(t, mailAccount(c.link.port(), sink.Port())+mailChaosDesks, "ledger: {shards: 2, durability: interval}")
	c.service.up()
	return c
}

// deliver brings the mailbox to so many mails. Some are long, so that a cut falls
// into the middle of one.
func (c *mailChaos) deliver(total int) {
	for ; c.delivered < total; c.delivered++ {
		text := fmt.Sprintf("Question %d.", c.delivered)
		if c.delivered%5 == 0 {
			text += "\r\n\r\n" + strings.Repeat("More words about it. ", 400)
		}
		raw := letter(mailID(c.delivered), "Question", text)
		sender := fmt.Sprintf("person-%d@example.net", c.delivered)
		c.mailbox.Deliver(c.t, []byte(strings.Replace(string(raw), "ada@example.net", sender, 1)))
	}
}

// strike lets one fault happen at a random moment: while the server holds its
// announcement back, or while the mails that it has announced are fetched.
func (c *mailChaos) strike() {
	c.t.Helper()
	ctx, stop := context.WithTimeout(c.t.Context(), time.Duration(c.random.Int64N(int64(700*time.Millisecond))))
	<-ctx.Done()
	stop()
	draw := c.random.IntN(100)
	for _, kind := range mailFaultKinds {
		if draw -= kind.weight; draw < 0 {
			c.struck[kind.name]++
			kind.strike(c)
			break
		}
	}
}

// catchUp waits until the adapter has dealt with what is there. Faults come after
// that, or else the adapter would back off, from a server that never lets it finish,
// for minutes.
func (c *mailChaos) catchUp() {
	c.t.Helper()
	began := time.Now()
	within(c.t, faultPatience, "the adapter has caught up again", func() bool { return c.caughtUp(began) })
}

// A mailHealth is what the health page says of mailboxes.
type mailHealth struct {
	Mailboxes []struct {
		LastSuccess time.Time `json:"last_success"`
	} `json:"mailboxes"`
}

// caughtUp tells whether everything was dealt with since a moment.
func (c *mailChaos) caughtUp(since time.Time) bool {
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://"+c.service.listen+"/healthz", http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false // it is starting
	}
	defer func() { _ = answer.Body.Close() }()
	var health mailHealth
	err = json.NewDecoder(answer.Body).Decode(&health)
	return err == nil && len(health.Mailboxes) == 1 && health.Mailboxes[0].LastSuccess.After(since)
}

// mailAudit is the report on the one mailbox.
type mailAudit struct {
	UIDValidity uint32 `json:"uid_validity"`
	Present     int    `json:"present"`
	Outcomes    []struct {
		Outcome  string `json:"outcome"`
		Reason   string `json:"reason"`
		Messages int    `json:"messages"`
	} `json:"outcomes"`
	Gaps []json.RawMessage `json:"gaps"`
}

// count returns how many messages have an outcome, for whatever reason.
func (a *mailAudit) count(outcome string) (messages int) {
	for _, tally := range a.Outcomes {
		if tally.Outcome == outcome {
			messages += tally.Messages
		}
	}
	return messages
}

func (c *mailChaos) audit() (report mailAudit, clean bool) {
	c.t.Helper()
	o := c.service.podium("mail", "audit", "-c", c.service.config, "-o", "json")
	for line := range strings.Lines(o.stdout) {
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			c.t.Fatalf("%v in %s", err, line)
		}
	}
	if o.stdout == "" {
		c.t.Fatalf("mail audit: exit code %d\n%s", o.code, o.stderr)
	}
	return report, o.code == exitOK && len(report.Gaps) == 0
}

// settle waits until an audit without gaps has that many messages with an outcome.
func (c *mailChaos) settle(outcome string, messages int) {
	c.t.Helper()
	var last mailAudit
	defer func() {
		if c.t.Failed() {
			c.t.Logf("the last audit: %+v", last)
		}
	}()
	within(c.t, mailPatience, fmt.Sprintf("%d messages are accounted for as %s", messages, outcome), func() bool {
		report, clean := c.audit()
		last = report
		return clean && report.count(outcome) == messages
	})
	within(c.t, mailPatience, "every mail is answered", func() bool { return c.mailed.answered() >= *mailMessages })
}

// flip changes every UID, after which nothing is new.
func (c *mailChaos) flip() {
	c.t.Helper()
	c.service.stop()
	c.mailbox.SetUIDValidity(c.t, otherValidity)
	c.service.up()
	within(c.t, mailPatience, "the mailbox was read again", func() bool {
		report, clean := c.audit()
		return clean && report.UIDValidity == otherValidity && report.count("ignored") == *mailMessages
	})
}

func (c *mailChaos) check() {
	c.t.Helper()
	runs := lines[workflow.RunHistory](c.t, c.service.podium("runs", "-o", "json", "--limit", "1000000"))
	if len(runs) != *mailMessages {
		c.t.Errorf("%d runs for %d mails", len(runs), *mailMessages)
	}
	for number := range *mailMessages {
		ids := map[string]bool{}
		for _, one := range c.mailed.to(mailID(number)) {
			ids[one.id] = true
		}
		if len(ids) != 1 {
			c.t.Errorf("mail %d is answered by %d ids", number, len(ids))
		}
	}
	if quarantined := c.service.podium("quarantine", "-o", "json").succeeds(c.t).stdout; quarantined != "" {
		c.t.Errorf("in quarantine: %s", quarantined)
	}
	c.t.Logf("%d mails have one run and one answer each, after %v; the link was cut %d times within an answer", *mailMessages, c.struck, c.link.cuts.Load())
}
