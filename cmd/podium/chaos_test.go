package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
)

// The size of the kill test; `make chaos` asks for more.
var (
	chaosRounds   = flag.Int("chaos.rounds", 2, "how often the service is killed")
	chaosMessages = flag.Int("chaos.messages", 0, "how many mails, and how many chat messages, flow meanwhile; 0 is ten a kill, and at least 40")
	chaosSeed     = flag.Uint64("chaos.seed", 0, "what the moments of the kills are drawn from; 0 is by the clock")
)

const (
	roundLength   = 3 * time.Second // a kill comes at a random moment of it, from the start of the process on
	chaosSenders  = 4               // that post chat messages at the same time
	stopLimit     = 5 * time.Second // for a service with nothing under way
	chaosPatience = 3 * time.Minute // until the last answer, after the last kill
)

const chaosConfig = `
chat: {channels: {web: {profile: desk, secret: %q, callback: %q}}}
agents:
  calculator: {kind: calculator, concurrency: 8}
  slow: {kind: exec, concurrency: 8, command: [sh, -c, "cat >/dev/null; sleep 0.2; echo done"]}
  mail: {kind: mail, concurrency: 8}
  chat: {kind: chat, concurrency: 8}
profiles:
  desk:
    agents: [calculator, slow]
    routers:
      - {kind: keywords, groups: [{agent: calculator, keywords: [calculate]}]}
      - {kind: default, agent: slow}
    complexity: {verbs: [calculate, repeat], separators: [then]}
    execution: {mode: sequence}
    deadlines: {queue: 10m, work: 1m}
`

// TestKill: the service is killed at random moments while mails and chat
// messages flow, and every one of them is answered, by exactly one id. The
// ledger is the default one: what is acknowledged survives power loss.
func TestKill(t *testing.T) {
	t.Parallel()
	newChaos(t, "fsync").run()
}

// TestKillInterval: a crash of the process costs nothing at the weaker durability either.
func TestKillInterval(t *testing.T) {
	t.Parallel()
	newChaos(t, "interval").run()
}

// A chaos is one kill test.
type chaos struct {
	t       *testing.T
	random  *rand.Rand
	mailbox *dovecot.Server
	service *deployment
	mailed  answers // by Message-ID
	chatted answers // by message_id

	messages int // mails, and as many chat messages
	mails    int // delivered so far

	mutex sync.Mutex
	tries int // of posting chat messages
}

func newChaos(t *testing.T, durability string) *chaos {
	t.Helper()
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	c := &chaos{t: t, random: rand.New(rand.NewPCG(seed, 1)), messages: *chaosMessages}
	if c.messages == 0 {
		c.messages = max(10**chaosRounds, 40)
	}
	t.Logf("%d kills, %d mails and %d chat messages; again with -chaos.seed=%d", *chaosRounds, c.messages, c.messages, seed)
	binary(t) // the time to build it is not for the messages
	c.mailbox = dovecot.Start(t, dovecot.Options{})
	sink := outbox(t, &c.mailed)
	c.service = install(t, mailAccount(c.mailbox.Port, sink.Port())+fmt.Sprintf(chaosConfig, webSecret, callback(t, &c.chatted)),
		"ledger: {shards: 2, durability: "+durability+"}")
	return c
}

func (c *chaos) run() {
	began := time.Now()
	ctx, stop := context.WithTimeout(c.t.Context(), time.Duration(*chaosRounds)*roundLength+chaosPatience)
	defer stop()
	var senders sync.WaitGroup
	for sender := range chaosSenders {
		senders.Go(func() { c.chat(ctx, sender) })
	}
	for round := range *chaosRounds {
		c.service.start()
		c.kill(round)
	}
	killed := time.Since(began)
	c.service.up()
	senders.Wait()
	c.settle()
	c.t.Logf("killed for %s, all answered after %s", killed.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	c.check()
	stopping := time.Now()
	c.service.stop()
	stopped := time.Since(stopping)
	if stopped > stopLimit {
		c.t.Errorf("with nothing under way the service took %s to stop", stopped)
	}
	c.service.verify()
	c.t.Logf("stopped in order within %s, decided again within %s", stopped.Round(time.Millisecond), (time.Since(stopping) - stopped).Round(time.Millisecond))
}

// kill delivers a round's share of the mails and kills the service: in every
// second round at a random moment, in the others in the middle of work, after a
// random number of answers.
func (c *chaos) kill(round int) {
	moment, answers := c.random.Int64N(int64(roundLength)), 2*c.messages
	if round%2 == 1 {
		moment, answers = int64(roundLength), c.answered()+c.random.IntN(max(1, 2*c.messages / *chaosRounds))
	}
	began := time.Now()
	share := c.messages*(round+1) / *chaosRounds - c.mails
	delivered, paced := 0, roundLength/3/time.Duration(max(share, 1))
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for time.Since(began) < time.Duration(moment) && c.answered() <= answers {
		<-ticker.C
		for ; delivered < share && time.Since(began) >= paced*time.Duration(delivered); delivered++ {
			c.mail()
		}
	}
	c.service.kill()
	for ; delivered < share; delivered++ { // while it is down
		c.mail()
	}
}

func (c *chaos) answered() int { return c.mailed.answered() + c.chatted.answered() }

func (c *chaos) mail() {
	text, _ := question(c.mails)
	c.mailbox.Deliver(c.t, letter(mailID(c.mails), "Question", text))
	c.mails++
}

// chat posts every chaosSenders-th chat message, spread over the rounds.
func (c *chaos) chat(ctx context.Context, sender int) {
	all := time.Duration(*chaosRounds) * roundLength / 2
	next := time.NewTicker(max(time.Millisecond, all*chaosSenders/time.Duration(c.messages)))
	defer next.Stop()
	for number := sender; number < c.messages; number += chaosSenders {
		text, _ := question(number)
		w := webhook{id: chatID(number), text: text}
		if number%3 == 0 { // some share a conversation, and have to wait for each other
			w.thread = fmt.Sprintf("thread-%d", number%9)
		}
		_, tries, err := w.deliver(ctx, c.service.listen)
		if err != nil {
			c.t.Error(err)
			return
		}
		c.mutex.Lock()
		c.tries += tries
		c.mutex.Unlock()
		select {
		case <-next.C:
		case <-ctx.Done():
		}
	}
}

func mailID(number int) string { return fmt.Sprintf("mail-%d@example.net", number) }
func chatID(number int) string { return fmt.Sprintf("chat-%d", number) }

// question is the n-th question, and what its answer must hold. Every fourth
// needs a plan of two steps.
func question(number int) (text, want string) {
	text, want = fmt.Sprintf("calculate %d * 3 + 1", 1000+number), strconv.Itoa((1000+number)*3+1)
	if number%4 == 0 {
		text += ", then repeat it"
	}
	return text, want
}

// settle waits until every message is answered and every run has ended.
func (c *chaos) settle() {
	c.t.Helper()
	defer func() {
		if c.t.Failed() {
			c.t.Logf("%d of %d mails and %d of %d chat messages are answered; open runs: %+v",
				c.mailed.answered(), c.messages, c.chatted.answered(), c.messages, c.open())
		}
	}()
	within(c.t, chaosPatience, "everything is answered and every run has ended", func() bool {
		return c.answered() >= 2*c.messages && len(c.open()) == 0
	})
}

func (c *chaos) open() []workflow.RunHistory {
	c.t.Helper()
	return lines[workflow.RunHistory](c.t, c.service.podium("runs", "list", "--status", "open", "-o", "json"))
}

// check holds what reached people against what was asked, and against the ledger.
func (c *chaos) check() {
	c.t.Helper()
	replied := map[string]string{} // id of the answer → of its run
	for _, run := range lines[workflow.RunHistory](c.t, c.service.podium("runs", "-o", "json", "--limit", "1000000")) {
		if run.Status != schemas.RunCompleted {
			c.t.Errorf("run %s ended %s (%s): %+v", run.ID, run.Status, run.Reason, run.Tasks)
		}
		if other := replied[run.Replied]; other != "" || run.Replied == "" {
			c.t.Errorf("runs %s and %s are answered by %q", run.ID, other, run.Replied)
		}
		replied[run.Replied] = run.ID
	}
	if len(replied) != 2*c.messages {
		c.t.Errorf("%d runs for %d messages", len(replied), 2*c.messages)
	}
	repeats := 0
	for number := range c.messages {
		_, want := question(number)
		repeats += c.answeredOnce(mailID(number), c.mailed.to(mailID(number)), want, replied)
		repeats += c.answeredOnce(chatID(number), c.chatted.to(chatID(number)), want, replied)
	}
	if c.answered() != 2*c.messages {
		c.t.Errorf("%d answers to questions that nobody asked", c.answered()-2*c.messages)
	}
	if quarantined := c.service.podium("quarantine", "-o", "json").succeeds(c.t).stdout; quarantined != "" {
		c.t.Errorf("in quarantine: %s", quarantined)
	}
	c.t.Logf("every message is answered by one id; %d ids were on the wire again; chat messages took %d posts", repeats, c.tries)
}

// answeredOnce checks the answers to one message and returns how many of them
// were repeats of the same id.
func (c *chaos) answeredOnce(question string, given []answer, want string, replied map[string]string) (repeats int) {
	c.t.Helper()
	ids := map[string]bool{}
	for _, one := range given {
		ids[one.id] = true
		if !strings.Contains(one.text, want) {
			c.t.Errorf("%s is answered %q, without %s", question, one.text, want)
		}
		if replied[one.id] == "" {
			c.t.Errorf("%s is answered by %s, which the ledger does not know", question, one.id)
		}
	}
	if len(ids) != 1 {
		c.t.Errorf("%s is answered by %d ids: %+v", question, len(ids), given)
	}
	return len(given) - len(ids)
}
