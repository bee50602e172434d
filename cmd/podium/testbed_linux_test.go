//go:build powercut

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/agent"
	"podium/bus/backoff"
	"podium/bus/jetstream/worker"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
)

const (
	powercutSenders = 6 // of chat messages, at the same time
	chatEvery       = 400 * time.Millisecond
	mailEvery       = 300 * time.Millisecond
	actsFor         = 300 * time.Millisecond // at most, between an effect and its answer
)

const powercutConfig = `
ledger: {durability: %s, shards: 2}
http: {listen: "0.0.0.0:8080"}
chat: {channels: {web: {profile: desk, secret: %q, callback: %q}}}
agents:
  calculator: {kind: calculator, concurrency: 8}
  courier: {kind: external, side_effects: external, concurrency: 8}
  mail: {kind: mail, concurrency: 8}
  chat: {kind: chat, concurrency: 8}
profiles:
  desk:
    agents: [calculator, {name: courier, on_unknown: %s, on_tainted: allow}]
    routers:
      - {kind: keywords, groups: [{agent: courier, keywords: [deliver]}]}
      - {kind: default, agent: calculator}
    delivery: {on_unknown: %s}
    deadlines: {queue: 2m, work: 1m}
`

// serve is the service's process in the machine, from its start to its exit code.
const serve = `podium up -c /tmp/podium.yaml --data /data/podium &
echo $! >/tmp/service
wait $!
echo $? >/tmp/ended
`

// A testbed is one disk with all that stands around its machine: a mailbox, a mail
// server that answers are sent by, a callback, and an agent.
type testbed struct {
	t          *testing.T // the whole trial
	random     *rand.Rand
	durability string
	filesystem string
	machine    *machine
	config     string
	relays     string // commands that bring connections out of and into the machine

	mailbox         *dovecot.Server
	mailed, chatted answers
	delivered       deliveries
	courier         *worker.Worker
	found           map[string]bool // by a verdict

	mutex     sync.Mutex
	inquiries []*inquiry
	life      int // how often the service was started
}

func newTestbed(t *testing.T, random *rand.Rand, durability, filesystem string) *testbed {
	t.Helper()
	b := &testbed{t: t, random: random, durability: durability, filesystem: filesystem, found: map[string]bool{}}
	b.mailbox = dovecot.Start(t, dovecot.Options{})
	sink := outbox(t, &b.mailed)
	b.machine = newMachine(t, *powercutMachine, b.disk(t), filesystem)
	unknown := map[string]string{"fsync": "ask", "interval": "resend"}[durability]
	hook := strings.Replace(callback(t, &b.chatted), "127.0.0.1", hostAddress, 1)
	b.config = mailAccount(143, 25) + fmt.Sprintf(powercutConfig, durability, webSecret, hook, unknown, unknown)
	relay := func(port int, command string) string {
		return fmt.Sprintf("nc -ll -p %d -e %s </dev/null >/dev/null 2>&1 &\n", port, command)
	}
	b.relays = relay(143, fmt.Sprintf("nc %s %d", hostAddress, b.mailbox.Port)) + relay(25, fmt.Sprintf("nc %s %d", hostAddress, sink.Port())) +
		relay(4222, `sh -c 'exec nc 127.0.0.1 $(cat /data/podium/ledger/port)'`)
	return b
}

// start switches the power on and starts the service, without waiting for it.
func (b *testbed) start(t *testing.T) {
	t.Helper()
	b.machine.boot(t)
	if empty := b.machine.does(t, "find /data -type f -size 0 ! -name lock ! -name '*.blk'"); strings.TrimSpace(empty) != "" {
		t.Logf("what the cut has left empty:\n%s", tail(empty))
	}
	b.mutex.Lock()
	b.life++
	b.mutex.Unlock()
	b.machine.does(t, b.relays+"cat >/tmp/podium.yaml <<'END'\n"+b.config+"END\ncat >/tmp/serve <<'END'\n"+serve+"END\n"+
		`sh /tmp/serve </dev/null >/dev/ttyS0 2>&1 &`)
}

// comesUp waits until the service is well. Nobody lends it a hand.
func (b *testbed) comesUp(t *testing.T) {
	t.Helper()
	within(t, startLimit, "the service is up", func() bool {
		if _, well := b.health(t); well {
			return true
		}
		if ended, _, err := b.machine.run(t.Context(), "[ ! -e /tmp/ended ] || cat /tmp/ended"); err == nil && ended != "" {
			small, _, _ := b.machine.run(t.Context(), "find /data/podium -type f -size -2 | xargs ls -l")
			t.Fatalf("a start needs a hand: it has ended with exit code %s\n%s\nsmall files:\n%s", ended, tail(b.machine.console.String()), small)
		}
		b.passes(0, 500*time.Millisecond)
		return false
	})
}

func (b *testbed) health(t *testing.T) (health mailHealth, well bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.machine.chat+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return health, false
	}
	defer func() { _ = answer.Body.Close() }()
	err = json.NewDecoder(answer.Body).Decode(&health)
	return health, err == nil && answer.StatusCode == http.StatusOK
}

// firstStart cuts the power while the service starts for the first time. Once it has
// started again, an agent outside joins it, which lives as long as the testbed.
func (b *testbed) firstStart(t *testing.T) {
	t.Helper()
	b.start(t)
	b.passes(0, 10*time.Second)
	b.machine.cut()
	b.start(t)
	b.comesUp(t)
	seed := filepath.Join(b.t.TempDir(), "courier.nk")
	if err := os.WriteFile(seed, []byte(b.machine.does(t, "cat /data/podium/credentials/agent-courier.nk")), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := os.Create(b.machine.disk + ".agent")
	if err != nil {
		t.Fatal(err)
	}
	log := zerolog.New(said).With().Timestamp().Logger()
	var failed error
	within(t, startLimit, "the agent has joined", func() bool {
		b.courier, failed = worker.Connect(b.t.Context(), worker.Config{
			URL: "nats://" + b.machine.nats, SeedFile: seed, Agent: "courier", Logger: log,
		})
		return failed == nil
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var serving sync.WaitGroup
	serving.Go(func() {
		config := agent.ServeConfig{Concurrency: 8, Remember: 1 << 16, Log: log, DrainTimeout: time.Second}
		if err := agent.Serve(ctx, b.courier, agent.HandlerFunc(b.deliver), config); err != nil {
			b.t.Errorf("the agent outside: %v", err)
		}
	})
	b.t.Cleanup(func() { stop(); serving.Wait(); b.courier.Close(); _ = said.Close() })
}

var parcelNumber = regexp.MustCompile(`parcel (\d+)`)

// deliver is the work of the agent outside: it asks, acts, and remembers that.
func (b *testbed) deliver(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	named := parcelNumber.FindStringSubmatch(request.Task().Description)
	if named == nil {
		return agent.Outcome{}, &agent.Failure{Message: "There is no parcel.", Permanent: true}
	}
	if err := request.Permit(ctx); err != nil {
		return agent.Outcome{}, err
	}
	b.delivered.add(request.EffectID, named[1])
	_ = backoff.Pause(ctx, rand.N(actsFor)) //nolint:gosec // it has acted, whatever comes
	return agent.Text("parcel " + named[1] + " is delivered"), nil
}

// load sends chat messages, each until it is acknowledged, and mails, until ctx ends.
func (b *testbed) load(ctx context.Context, t *testing.T, large bool) (ceased func()) {
	t.Helper()
	var senders sync.WaitGroup
	for range powercutSenders {
		senders.Go(func() {
			paced(ctx, chatEvery, func() { b.post(ctx, t, b.ask(false, large)) })
		})
	}
	senders.Go(func() { paced(ctx, mailEvery, func() { b.mail(t) }) })
	return senders.Wait
}

func paced(ctx context.Context, pace time.Duration, do func()) {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do()
		case <-ctx.Done():
			return
		}
	}
}

// ask makes up the next inquiry.
func (b *testbed) ask(mail, large bool) *inquiry {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	q := &inquiry{number: len(b.inquiries), mail: mail, large: large, promised: mail}
	b.inquiries = append(b.inquiries, q)
	return q
}

func (b *testbed) mail(t *testing.T) {
	t.Helper()
	q := b.ask(true, false)
	b.mailbox.Deliver(t, letter(q.id(), q.subject(), q.text()))
}

// post posts a chat message until it is acknowledged or the power is gone.
func (b *testbed) post(ctx context.Context, t *testing.T, q *inquiry) {
	t.Helper()
	w := webhook{id: q.id(), text: q.text()}
	if q.number%3 == 0 { // some share a conversation
		w.thread = fmt.Sprintf("thread-%d", q.number%7)
	}
	accepted, _, err := w.deliver(ctx, b.machine.chat)
	switch {
	case err == nil:
		b.mutex.Lock()
		defer b.mutex.Unlock()
		q.promised, q.event, q.life = true, accepted.ID, b.life
	case ctx.Err() == nil:
		t.Error(err)
	}
}

// settle repeats what was not acknowledged, as its senders would, and waits until
// nothing is under way any more.
func (b *testbed) settle(t *testing.T, r *round, since time.Time) *evidence {
	t.Helper()
	for _, q := range b.inquiries {
		if !q.promised {
			ctx, stop := context.WithTimeout(t.Context(), settleLimit)
			b.post(ctx, t, q)
			stop()
		}
	}
	e := &evidence{inquiries: b.inquiries, mailed: &b.mailed, chatted: &b.chatted, delivered: &b.delivered}
	for deadline := time.Now().Add(settleLimit); time.Now().Before(deadline) && !t.Failed(); {
		if health, well := b.health(t); !well || len(health.Mailboxes) != 1 || !health.Mailboxes[0].LastSuccess.After(since) {
			b.passes(0, time.Second)
			continue
		}
		e.runs = b.runs(t)
		if open(e.runs) > 0 {
			continue
		}
		e.arrived = b.arrived(t)
		if v := e.judge(); len(v.waiting) == 0 && (r.durability != "fsync" || len(v.lost) == 0) && b.known(e) {
			break
		}
	}
	return e
}

// known reports whether everything is there that was acknowledged since the cut.
func (b *testbed) known(e *evidence) bool {
	for _, q := range e.inquiries {
		if q.life == b.life && e.arrived[q.event] == 0 {
			return false
		}
	}
	return true
}

func (b *testbed) runs(t *testing.T) []workflow.RunHistory {
	t.Helper()
	return lines[workflow.RunHistory](t, outcome{stdout: b.machine.does(t, "podium runs --data /data/podium -o json --limit 1000000")})
}

// arrived counts the messages that came in, by event id.
func (b *testbed) arrived(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	printed := b.machine.does(t, "podium replay --data /data/podium --subject 'podium.in.>' -o json")
	for _, line := range lines[replayed](t, outcome{stdout: printed}) {
		var event struct {
			ID string `json:"id"`
		}
		if err := schemas.Unmarshal(line.Event, &event); err != nil {
			t.Fatal(err)
		}
		count[event.ID]++
	}
	return count
}
