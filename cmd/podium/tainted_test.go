package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"podium/agents/mail/smtpsink"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
)

// taintedConfig has two agents that act outside: an endpoint, which is given everything that a mail says, and one that names what it would do.
const taintedConfig = `
mail:
  accounts:
    - name: support
      profile: desk
      since: all
      imap: {host: 127.0.0.1, port: %[1]d, tls: none, username: agent, password: secret, poll: 1s}
      smtp: {host: 127.0.0.1, port: %[2]d, tls: none, from: support@praxis.example, sent: none}
agents:
  erp: {kind: http, url: "%[3]s/orders", secret: %[4]q, side_effects: external}
  letters: {kind: scripted, script: letters.yaml, side_effects: external}
profiles:
  desk:
    language: en
    agents: [{name: erp%[5]s}, {name: letters%[5]s}]
    routers: [{kind: keywords, groups: [{agent: letters, keywords: [letter]}]}, {kind: default, agent: erp}]
    retry: {attempts: 2, wait: 50ms}
`

// TestMailsActOutsideOnlyWhereAllowed: a mail has agents do something outside that its writer has thought of. By default nothing of it happens: the endpoint
// is not called, and who names what it would do is not permitted and proposes it; whoever wrote is told, and so is whoever runs the service. Where the
// profile says on_tainted: allow the same mails have it done.
func TestMailsActOutsideOnlyWhereAllowed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy string
		acts   bool
	}{"by default": {"", false}, "refused": {", on_tainted: refuse", false}, "allowed": {", on_tainted: allow", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var orders atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err == nil && strings.Contains(string(body), "a thousand printers") {
					orders.Add(1)
				}
				fmt.Fprint(w, "Ordered.")
			}))
			t.Cleanup(server.Close)
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
			i := install(t, fmt.Sprintf(taintedConfig, mailbox.Port(), sink.Port(), server.URL, webSecret, test.policy))
			i.write("letters.yaml", "cases:\n  - {acts: true, text: Dear Ben}\n")
			checked := i.podium("check", "-c", i.config)
			checked.succeeds(t)
			if cautioned := strings.Contains(checked.stdout, `agent "erp" acts outside`) && strings.Contains(checked.stdout, "on_tainted: allow"); cautioned != (test.policy == "") {
				t.Errorf("check says\n%s", checked.stdout)
			}
			i.up()
			for n, words := range []string{"Order a thousand printers.", "Write a letter to Ben."} {
				if err := mailbox.Deliver(letterWithFiles(fmt.Sprintf("m%d@example.org", n), "", "Please", words)); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the mail is answered", func() bool { return len(sink.Messages()) == n+1 })
			}
			for n, letter := range sink.Messages() {
				text, _ := partsOf(&letter)
				if told := strings.Contains(text, "nobody has agreed to that"); told == test.acts {
					t.Errorf("answer %d is %q", n, text)
				}
			}
			if called := orders.Load() > 0; called != test.acts {
				t.Errorf("the endpoint is called %d times", orders.Load())
			}
			for _, one := range i.runs() {
				run := i.run(one.ID)
				task := run.Tasks[0]
				switch {
				case test.acts && (run.Status != schemas.RunCompleted || task.Permit == ""):
					t.Errorf("%s ends %s with permit %q of %s", run.ID, run.Status, task.Permit, task.Agent)
				case test.acts:
				case task.Permit != "" || task.Failure().Cause != schemas.FailureUnapproved || run.Reason != schemas.StopUnapproved:
					t.Errorf("%s ends %s (%s) with permit %q of %s: %+v", run.ID, run.Status, run.Reason, task.Permit, task.Agent, task.Failure())
				case !strings.Contains(run.Error.InternalDetails, "write on_tainted: allow"):
					t.Errorf("whoever runs it is told %q", run.Error.InternalDetails)
				case task.Agent == "erp" && task.Attempt > 0:
					t.Error("the endpoint's agent was asked")
				case task.Agent == "letters" && (task.Failure().Operation == nil || string(task.Failure().Operation.Arguments) != `{"text":"Dear Ben"}`):
					t.Errorf("it proposes %+v", task.Failure().Operation)
				}
			}
			i.stop()
			i.verify()
		})
	}
}
