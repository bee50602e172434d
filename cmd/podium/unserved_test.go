package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// served is what /health says of an agent.
func (i *deployment) served(name string) (served bool, lastSeen time.Time) {
	i.t.Helper()
	status, body := i.fetch("/health")
	var report struct {
		Agents []struct {
			Name     string    `json:"name"`
			Served   bool      `json:"served"`
			LastSeen time.Time `json:"last_seen"`
		} `json:"agents"`
	}
	if err := json.Unmarshal([]byte(body), &report); err != nil || status != http.StatusOK {
		i.t.Fatalf("%d, %v in %s", status, err, body)
	}
	for _, agent := range report.Agents {
		if agent.Name == name {
			return agent.Served, agent.LastSeen
		}
	}
	i.t.Fatalf("%s is not in %s", name, body)
	return false, time.Time{}
}

// TestNobodyServesTheAgentIsSaid: a message for an agent that nobody serves says so
// within seconds, wherever one looks, and goes on when somebody comes.
func TestNobodyServesTheAgentIsSaid(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	if served, seen := i.served("alpha"); served || !seen.IsZero() {
		t.Errorf("nobody has ever served alpha, and /health says %t, %s", served, seen)
	}
	eventually(t, "the agent of this process is served", func() bool { served, _ := i.served("chat"); return served })
	sending := spawn(t, "--data", i.data, "send", "Who answers?", "--wait")
	within(t, patience, "it is said while the message is watched", func() bool {
		return strings.Contains(sending.stdout.String(), "t1: nobody serves alpha, and no sign of life of it is on record")
	})
	id := i.runs()[0].ID
	if shown := i.podium("runs", "show", id).succeeds(t).stdout; !strings.Contains(shown, "waits: nobody serves alpha, and no sign of life of it is on record") {
		t.Errorf("runs show says\n%s", shown)
	}
	agent := connectPlain(t, i, "alpha")
	if _, err := agent.conn.Request("podium.agent.alpha.announce", []byte(`{"name":"alpha","kind":"python"}`), patience); err != nil {
		t.Fatal(err)
	}
	if shown := i.podium("runs", "show", id).succeeds(t).stdout; strings.Contains(shown, "nobody serves") {
		t.Errorf("it has announced itself, and runs show says\n%s", shown)
	}
	request := agent.pull()
	agent.publish(request.replyTo, request.response("alpha", "completed", "here I am"))
	agent.acknowledge(request)
	sending.ends(t, exitOK)
	within(t, patience, "/health says that alpha was there", func() bool { served, seen := i.served("alpha"); return served && time.Since(seen) <= time.Minute })
	if shown := i.podium("runs", "show", id).succeeds(t).stdout; strings.Contains(shown, "nobody serves") {
		t.Errorf("runs show says\n%s", shown)
	}
	i.stop()
	i.verify()
}
