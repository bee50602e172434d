package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"podium/schemas"
)

// TestAgentsComeAndGo: an agent that podium.yaml has got meanwhile is taken in and asked by its profile, without a restart;
// once it is revoked it is cut off, nobody asks it, and a restart does not let it in; taken in again, it has another key.
func TestAgentsComeAndGo(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	if said := i.podium("agents", "add", "gamma"); said.code != exitFailed || !strings.Contains(said.stderr, "gamma: {kind: external}") {
		t.Errorf("an agent that nobody has declared: exit code %d, %s", said.code, said.stderr)
	}
	if said := i.podium("agents", "revoke", "chat"); said.code != exitFailed || !strings.Contains(said.stderr, "serves chat itself") {
		t.Errorf("an agent of the instance itself: exit code %d, %s", said.code, said.stderr)
	}
	i.replace("  beta: {kind: external}", "  beta: {kind: external}\n  gamma: {kind: external}")
	i.replace("agents: [alpha, beta]", "agents: [alpha, beta, gamma]")
	i.replace("groups: [{agent: beta, keywords: [beta]}", "groups: [{agent: gamma, keywords: [gamma]}, {agent: beta, keywords: [beta]}")
	if said := i.podium("agents", "add", "gamma").succeeds(t).stdout; !strings.Contains(said, "agent-gamma.nk") || !strings.Contains(said, "it is asked by desk") {
		t.Errorf("%s", said)
	}
	seed := filepath.Join(i.data, "credentials", "agent-gamma.nk")
	before, err := os.ReadFile(seed)
	if err != nil {
		t.Fatal(err)
	}
	works := func() *plainAgent {
		t.Helper()
		gamma := connectPlain(t, i, "gamma")
		sending := spawn(t, "--data", i.data, "send", "Please, gamma", "--wait")
		request := gamma.pull()
		gamma.publish(request.replyTo, request.response("gamma", "completed", "here I am"))
		gamma.acknowledge(request)
		sending.ends(t, exitOK)
		return gamma
	}
	gamma := works()
	i.discovers(gamma)

	if said := i.podium("agents", "revoke", "gamma").succeeds(t).stdout; !strings.Contains(said, "cut off") {
		t.Errorf("%s", said)
	}
	eventually(t, "its connection ends", func() bool { return !gamma.conn.IsConnected() })
	revoked := func() {
		t.Helper()
		if run, _ := i.asksInVain("Please, gamma"); run.Reason != schemas.StopUnavailable {
			t.Errorf("asked in vain, it ends by %s", run.Reason)
		}
		if listed := i.podium("agents").succeeds(t).stdout; !regexp.MustCompile(`(?m)^gamma +external +revoked `).MatchString(listed) || !strings.Contains(listed, "podium agents add gamma takes it in again") {
			t.Errorf("listed\n%s", listed)
		}
		if login, err := nats.NkeyOptionFromSeed(seed); err == nil {
			if _, err := nats.Connect(i.instance().NATS, login); err == nil {
				t.Error("it connects")
			}
		}
	}
	revoked()
	i.stop()
	i.up()
	revoked()
	i.podium("agents", "add", "gamma").succeeds(t)
	if after, err := os.ReadFile(seed); err != nil || string(after) == string(before) {
		t.Errorf("taken in again, it has the key that it had: %v", err)
	}
	works()
	i.stop()
	i.verify()
}

// discovers holds what tools for NATS services are told to the registry: every agent that is there answers, by name and id too, and
// no agent can answer, or ask, in its place.
func (i *deployment) discovers(posing *plainAgent) {
	i.t.Helper()
	asking := connectCore(i.t, i)
	if _, err := posing.conn.Request("podium.agent.gamma.announce", []byte(`{"name":"gamma","id":"one","version":"2"}`), patience); err != nil {
		i.t.Fatal(err)
	}
	const silence = 500 * time.Millisecond // after which no other answer is waited for
	gather := func(subject string, want int) (found []micro.Info) {
		i.t.Helper()
		inbox := asking.NewInbox()
		heard, err := asking.SubscribeSync(inbox)
		if err == nil {
			err = asking.PublishRequest(subject, inbox, nil)
		}
		if err != nil {
			i.t.Fatal(err)
		}
		for {
			wait := patience
			if len(found) >= want {
				wait = silence
			}
			m, err := heard.NextMsg(wait)
			if err != nil {
				return found
			}
			var info micro.Info
			if err := json.Unmarshal(m.Data, &info); err != nil {
				i.t.Fatalf("%v in %s", err, m.Data)
			}
			found = append(found, info)
		}
	}
	names := func(found []micro.Info) (names []string) {
		for _, one := range found {
			names = append(names, one.Name)
		}
		slices.Sort(names)
		return names
	}
	for verb, kind := range map[string]string{"PING": micro.PingResponseType, "INFO": micro.InfoResponseType, "STATS": micro.StatsResponseType} {
		found := gather("$SRV."+verb, 2)
		if got := names(found); !slices.Equal(got, []string{"chat", "gamma"}) {
			i.t.Errorf("%s: %v answer", verb, got)
		}
		for _, one := range found {
			if version := map[string]string{"chat": "0.0.0", "gamma": "2.0.0"}[one.Name]; one.Type != kind || one.Version != version || one.ID == "" {
				i.t.Errorf("%s: %+v", verb, one)
			}
			if by := gather("$SRV."+verb+"."+one.Name+"."+one.ID, 1); len(by) != 1 || by[0].Name != one.Name {
				i.t.Errorf("%s of %s by its id: %+v", verb, one.Name, by)
			}
		}
		if by := gather("$SRV."+verb+".nobody", 0); len(by) != 0 {
			i.t.Errorf("%s of nobody: %+v", verb, by)
		}
	}
	refused := make(chan error, 4)
	posing.conn.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err })
	if _, err := posing.conn.SubscribeSync("$SRV.PING"); err != nil {
		i.t.Fatal(err)
	}
	if err := posing.conn.Publish("$SRV.PING", nil); err != nil {
		i.t.Fatal(err)
	}
	for range 2 {
		select {
		case err := <-refused:
			if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
				i.t.Errorf("an agent that poses as a service meets %v", err)
			}
		case <-time.After(patience):
			i.t.Error("an agent may pose as a service, or look for others")
		}
	}
}

const requiredConfig = `
agents:
  alpha: {kind: external, required: true}
  beta: {kind: external}
  echo: {kind: echo, required: true}
profiles: {desk: {agents: [alpha, beta, echo], routers: [{kind: default, agent: alpha}]}}
`

// TestHealthOfEachAgent_G35: each agent has a page of its own, fed by what it says of itself, and one page has all of them. Only agents
// that are marked so make the installation unwell; a stranger's words are on no page.
func TestHealthOfEachAgent_G35(t *testing.T) {
	t.Parallel()
	i := install(t, requiredConfig)
	i.up()
	page := func(path string) (status int, said servedPage) {
		t.Helper()
		status, body := i.fetch(path)
		if err := json.Unmarshal([]byte(body), &said); err != nil {
			t.Fatalf("%s: %v in %s", path, err, body)
		}
		if strings.Contains(body, "Mrs Miller") {
			t.Errorf("%s tells a stranger's words: %s", path, body)
		}
		return status, said
	}
	is := func(path string, status int, state schemas.AgentState) {
		t.Helper()
		within(t, patience, fmt.Sprintf("%s says %d, %s", path, status, state), func() bool {
			got, said := page(path)
			return got == status && said.State == state
		})
	}
	is("/health/agents/echo", http.StatusOK, schemas.AgentOK)
	is("/health/agents/alpha", http.StatusServiceUnavailable, schemas.AgentNever)
	is("/health/agents/beta", http.StatusOK, schemas.AgentNever)
	is("/health", http.StatusServiceUnavailable, "")
	if status, _ := i.fetch("/health/agents/nobody"); status != http.StatusNotFound {
		t.Errorf("nobody is %d", status)
	}
	if status, _ := i.fetch("/healthz"); status != http.StatusOK {
		t.Errorf("the process itself is %d", status)
	}
	alpha := connectPlain(t, i, "alpha")
	tell := func(service, body string) {
		t.Helper()
		if _, err := alpha.conn.Request("podium.agent.alpha."+service, []byte(body), patience); err != nil {
			t.Fatal(err)
		}
	}
	tell("announce", `{"name":"alpha","id":"desk-1"}`)
	is("/health/agents/alpha", http.StatusOK, schemas.AgentOK)
	is("/health", http.StatusOK, "")
	tell("alive", `{"id":"desk-1","problem":"cannot reach Mrs Miller"}`)
	is("/health/agents/alpha", http.StatusServiceUnavailable, schemas.AgentDegraded)
	if listed := i.podium("agents").succeeds(t).stdout; !strings.Contains(listed, "process desk-1 cannot do its work since") || !strings.Contains(listed, "cannot reach Mrs Miller") {
		t.Errorf("listed\n%s", listed)
	}
	if run, _ := i.asksInVain("Anybody?"); run.Reason != schemas.StopUnavailable {
		t.Errorf("who cannot do its work is asked: the run ends by %s", run.Reason)
	}
	tell("alive", `{"id":"desk-1"}`)
	is("/health", http.StatusOK, "")
	i.stop()
	i.verify()
}

// servedPage is what the pages on agents say.
type servedPage struct {
	State schemas.AgentState `json:"state"`
}
