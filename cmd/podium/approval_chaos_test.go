package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/agents/mail/smtpsink"
	"podium/schemas"
	"podium/schemas/workflow"
)

// agreedConfig has an agent that has one effect for each task, and takes a while before and after it; begun counts how often it was asked to.
const agreedConfig = deskByMail + `
people: {anna: {mail: anna@practice.example}}
agents:
  orders:
    kind: exec
    concurrency: 8
    command: [sh, -c, 'cat >/dev/null; sleep 0.05; mkdir -p "$ORDERED/$PODIUM_EFFECT"; sleep 0.1; echo Bestellt.']
    env: ["ORDERED=%[3]s"]
    side_effects: external
  mail: {kind: mail, concurrency: 8}
profiles:
  desk:
    language: de
    agents: [orders]
    routers: [{kind: default, agent: orders}]
    conversation: {replies_per_hour: 60}
    deadlines: {queue: 10m, work: 1m}
    approval: [{agents: [orders], tainted: true, people: [anna], expires: 24h}]
`

// killedAt is a step from a question to its effect at which the service is killed.
type killedAt int

const (
	whileAsking    killedAt = iota // the mail server has the letter that asks, and has not said so
	afterAsking                    // the letter has gone out, and nobody has answered
	whileAnswering                 // the word is taken, decided and handed out
	whileActing                    // the effect has just come about, and nobody has said so
	afterActing                    // the agent answers, and so does the run
	killingSteps
)

// TestKillWhileAgreed_O31: people want something ordered; anna is asked about each of it, and agrees, while the service is killed at each step from the question to the
// effect, in turn. She is asked once about each, her word counts once, each is ordered once, and whoever wrote gets one answer.
func TestKillWhileAgreed_O31(t *testing.T) {
	t.Parallel()
	rounds, seed := max(*chaosRounds, int(killingSteps)), cmp.Or(*chaosSeed, uint64(time.Now().UnixNano()))
	t.Logf("%d kills; again with -chaos.seed=%d", rounds, seed)
	binary(t)
	a := &agreed{random: rand.New(rand.NewPCG(seed, 3)), agreedTo: map[string]bool{}}
	a.approvers = practiceOf(t, agreedConfig, smtpsink.Config{OnKept: a.keeps})
	for round := range rounds {
		a.round(killedAt(round % int(killingSteps)))
	}
	a.service.up()
	within(t, chaosPatience, "everything is agreed to, and everybody is answered", func() bool {
		a.agree()
		return len(a.agreedTo) >= a.people && len(a.runs("--status", "open")) == 0
	})
	a.check()
	a.service.stop()
	a.service.verify()
}

// agreed is a practice in which anna agrees to what people want.
type agreed struct {
	*approvers

	random   *rand.Rand
	people   int
	agreedTo map[string]bool // the letters that anna has answered

	mutex  sync.Mutex
	killed chan struct{} // closed by the kill that the next letter to anna brings; nil is none
}

// keeps kills the service while the mail server has kept a letter to anna and has not answered, if that is the step.
func (a *agreed) keeps(letter *smtpsink.Message) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.killed != nil && slices.Contains(letter.To, "anna@practice.example") {
		a.service.kill()
		close(a.killed)
		a.killed = nil
	}
}

// round has one more person write, and ends the service at a step of what comes of that.
func (a *agreed) round(step killedAt) {
	a.t.Helper()
	killed := make(chan struct{})
	if step == whileAsking {
		a.mutex.Lock()
		a.killed = killed
		a.mutex.Unlock()
	}
	person := a.people
	a.people++
	a.write(writer(person), "", fmt.Sprintf("Bitte bestellen Sie Drucker %d.", person), true)
	a.service.start()
	if step == whileAsking {
		select {
		case <-killed:
		case <-time.After(patience):
			a.t.Fatal("anna is not written to")
		}
		return
	}
	within(a.t, patience, "anna is asked", func() bool { return a.asks(person) != "" })
	before := a.effects()
	if step > afterAsking {
		a.agree()
	}
	switch step {
	case whileActing, afterActing:
		within(a.t, patience, "it is ordered", func() bool { return a.effects() > before })
	case whileAsking, afterAsking, whileAnswering, killingSteps:
	}
	pause := map[killedAt]time.Duration{afterAsking: 100 * time.Millisecond, whileAnswering: time.Second, afterActing: 300 * time.Millisecond}[step]
	time.Sleep(time.Duration(a.random.Int64N(int64(pause + 1))))
	a.service.kill()
	a.agree() // while it is down
}

func writer(person int) string { return fmt.Sprintf("ada-%d@example.net", person) }

// asks returns the id of the letter by which anna is asked about what somebody wants; empty while there is none.
func (a *agreed) asks(person int) string {
	for _, letter := range a.letters("anna@practice.example") {
		if strings.Contains(string(letter.Data), fmt.Sprintf("Drucker %d.", person)) {
			return strings.Trim(letter.Header().Get("Message-ID"), "<>")
		}
	}
	return ""
}

// agree has anna agree to all that she was asked about and has not answered. She is asked again where two kills have hit the same order.
func (a *agreed) agree() {
	a.t.Helper()
	for _, letter := range a.letters("anna@practice.example") {
		if question := strings.Trim(letter.Header().Get("Message-ID"), "<>"); !a.agreedTo[question] {
			a.agreedTo[question] = true
			a.write("anna@practice.example", question, "freigeben", true)
		}
	}
}

func (a *agreed) runs(filter ...string) []workflow.RunHistory {
	a.t.Helper()
	return lines[workflow.RunHistory](a.t, a.service.podium(append([]string{"runs", "list", "-o", "json", "--limit", "1000000"}, filter...)...))
}

func (a *agreed) check() {
	a.t.Helper()
	runs := a.runs()
	if len(runs) != a.people || a.effects() != a.people {
		a.t.Errorf("%d runs and %d orders for %d people", len(runs), a.effects(), a.people)
	}
	questions := 0
	for i := range runs {
		run := &runs[i]
		questions += len(run.Inquiries)
		agreed := !slices.ContainsFunc(run.Inquiries, func(asked *workflow.Inquiry) bool { return asked.Answered == nil || asked.Answered.Actor.ID != "anna" })
		if run.Status != schemas.RunCompleted || len(run.Inquiries) == 0 || !agreed {
			a.t.Errorf("run %s ended %s (%s): %+v", run.ID, run.Status, run.Reason, run.Inquiries)
		}
	}
	asked, answered := map[string]bool{}, map[string]bool{}
	for _, letter := range a.letters("anna@practice.example") {
		asked[letter.Header().Get("Message-ID")] = true
	}
	for person := range a.people {
		for _, letter := range a.letters(writer(person)) {
			answered[letter.Header().Get("Message-ID")] = true
		}
	}
	if len(asked) != questions || len(answered) != a.people {
		a.t.Errorf("for %d questions anna is asked by %d letters, and %d people are answered by %d", questions, len(asked), a.people, len(answered))
	}
}
