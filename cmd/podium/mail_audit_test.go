package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/agents/mail/smtpsink"
	"podium/bus"
	"podium/cmd/podium/installation"
	"podium/ingest/imap"
	"podium/ingest/imap/audit"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

const mailDesk = `
mail:
  accounts:
    - name: support
      profile: desk
      imap: {host: 127.0.0.1, port: %d, tls: none, username: agent, password: secret, mailboxes: [INBOX, Orders], poll: 1s, canary: {every: 1h}}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: support@example.org, sent: none}
agents: {echo: {kind: echo}}
profiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}}
`

// mailInstallation is one with a real mailbox; what it sends to itself comes in.
func mailInstallation(t *testing.T) (*deployment, *dovecot.Server) {
	t.Helper()
	server := dovecot.Start(t, dovecot.Options{})
	server.Doveadm(t, "mailbox", "create", "-u", dovecot.Username, "Orders")
	sink, err := smtpsink.Start(t.Context(), smtpsink.Config{OnMessage: func(m *smtpsink.Message) error {
		if strings.Contains(string(m.Data), imap.CanaryHeader) {
			server.Deliver(t, m.Data)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close() })
	return install(t, fmt.Sprintf(mailDesk, server.Port, sink.Port())), server
}

func rawMail(number int, header string) []byte {
	return fmt.Appendf(nil, "From: Erika <erika@example.org>\r\nSubject: Mail %d\r\nMessage-ID: <%d@example.org>\r\n%s\r\nHow are you?\r\n", number, number, header)
}

func (i *deployment) audits(code int) map[string]audited {
	i.t.Helper()
	o := i.podium("mail", "audit", "support", "-c", i.config, "-o", "json")
	if o.code != code {
		i.t.Fatalf("exit code %d, want %d\n%s%s", o.code, code, o.stdout, o.stderr)
	}
	found := map[string]audited{}
	for line := range strings.Lines(o.stdout) {
		var one audited
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			i.t.Fatal(err)
		}
		found[one.Mailbox] = one
	}
	return found
}

// fetch gets a page of the running service.
func (i *deployment) fetch(path string) (status int, body string) {
	i.t.Helper()
	request, err := http.NewRequestWithContext(i.t.Context(), http.MethodGet, "http://"+i.listen+path, http.NoBody)
	if err != nil {
		i.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestMailAudit_I13: beside the running service and at rest, every mail is
// accounted for; a mail that the mailbox ledger leaves out is a gap with its exit
// code, and the service closes it.
func TestMailAudit_I13(t *testing.T) {
	t.Parallel()
	i, server := mailInstallation(t)
	server.Deliver(t, rawMail(99, "")) // before anybody looked
	i.up()
	healthy := func() bool { status, _ := i.fetch("/healthz"); return status == http.StatusOK }
	eventually(t, "it is healthy", healthy)
	server.Deliver(t, rawMail(1, ""))
	server.Deliver(t, rawMail(2, "Auto-Submitted: auto-replied\r\n"))
	settled := func() bool {
		inbox := i.audits(exitOK)["INBOX"]
		return inbox.Count(audit.OutcomeRun) == 1 && inbox.Count(audit.OutcomeIgnored) == 3 && inbox.Messages == 4
	}
	eventually(t, "all is accounted for: a run, an automatic answer, an old mail and a canary", settled)
	reasons := map[string]bool{}
	for _, tally := range i.audits(exitOK)["INBOX"].Tallies {
		reasons[tally.Reason] = true
	}
	if !reasons["canary"] || !reasons["older than was asked for"] || !reasons["autoreply"] || !reasons["started"] {
		t.Errorf("reasons %v", reasons)
	}
	if orders := i.audits(exitOK)["Orders"]; !orders.Clean || orders.Messages != 0 {
		t.Errorf("Orders: %+v", orders)
	}
	_, health := i.fetch("/healthz")
	for _, words := range []string{`"mailbox":"INBOX"`, `"mailbox":"Orders"`, `"healthy":true`, `"gaps":0`, `"canary_seconds":`} {
		if !strings.Contains(health, words) {
			t.Errorf("the health page lacks %s: %s", words, health)
		}
	}
	_, metrics := i.fetch("/metrics")
	for _, line := range []string{
		`podium_mail_published_total{account="support",mailbox="INBOX"} 2`, `podium_mail_gaps{account="support",mailbox="INBOX"} 0`,
		`podium_mail_lag{account="support",mailbox="Orders"} 0`, `podium_mail_last_success_seconds{account="support",mailbox="INBOX"} 1.`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s:\n%s", line, metrics)
		}
	}
	if running := i.instance(); running.Config != i.config {
		t.Errorf("the instance names the configuration %q, want %q", running.Config, i.config)
	}
	if o := i.podium("mail", "audit"); o.code != exitOK || !strings.Contains(o.stdout, "Orders") {
		t.Errorf("with the configuration of the running instance: %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := i.podium("mail", "try", "--account", "support", "--last", "1"); o.code != exitOK || !strings.Contains(o.stdout, "UID") {
		t.Errorf("try with the configuration of the running instance: %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	i.stop()
	for _, verb := range [][]string{{"audit"}, {"try", "--account", "support"}} {
		if o := i.podium(append([]string{"mail"}, verb...)...); o.code != exitNotFound || !strings.Contains(o.stderr, "-c FILE") || !strings.Contains(o.stderr, i.data) {
			t.Errorf("%s at rest without a configuration: %d\n%s%s", verb[0], o.code, o.stdout, o.stderr)
		}
	}

	server.Deliver(t, rawMail(3, ""))
	if inbox := i.audits(exitOK)["INBOX"]; inbox.Count(audit.OutcomePending) != 1 || !inbox.Clean {
		t.Errorf("at rest: %+v", inbox)
	}
	i.forgeLowWater(5)
	if inbox := i.audits(exitDiffers)["INBOX"]; len(inbox.Gaps) != 1 || inbox.Gaps[0].Kind != audit.GapUnknown || inbox.Gaps[0].Advice == "" {
		t.Errorf("with a gap: %+v", inbox)
	}
	plain := i.podium("mail", "audit", "-c", i.config)
	if plain.code != exitDiffers || !strings.Contains(plain.stdout, "GAP unknown") || !strings.Contains(plain.stderr, "1 messages are not accounted for") {
		t.Errorf("for people: %d\n%s%s", plain.code, plain.stdout, plain.stderr)
	}
	i.up()
	eventually(t, "the gap is closed", func() bool {
		_, metrics := i.fetch("/metrics")
		return !strings.Contains(metrics, `podium_mail_recovered_total{account="support",mailbox="INBOX"} 0`)
	})
	eventually(t, "the mail became a run", func() bool { return i.audits(exitOK)["INBOX"].Count(audit.OutcomeRun) == 2 })
	server.Stop(t)
	eventually(t, "a server that is gone is said to be", func() bool {
		o := i.podium("mail", "audit", "-c", i.config)
		return o.code == exitFailed && strings.Contains(o.stdout, "--offline")
	})
	if o := i.podium("mail", "audit", "--offline", "-c", i.config); o.code != exitOK || !strings.Contains(o.stdout, "not asked") {
		t.Errorf("offline: %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	o := i.podium("mail", "audit", "-c", i.config, "-o", "json")
	for line := range strings.Lines(o.stdout) {
		if strings.Contains(line, "null") || !strings.Contains(line, `"clean":false`) || !strings.Contains(line, `"error":"`) {
			t.Errorf("a mailbox that could not be audited: %s", line)
		}
	}
	i.stop()
}

// forgeLowWater lets the mailbox ledger at rest claim more than was dealt with.
func (i *deployment) forgeLowWater(uid uint32) {
	i.t.Helper()
	ledger, err := installation.OpenAtRest(i.t.Context(), i.data, zerolog.Nop())
	if err != nil {
		i.t.Fatal(err)
	}
	store := ledger.Core.KeyValue(bus.MailboxBucket)
	keys, err := store.Keys(i.t.Context())
	if err != nil {
		i.t.Fatal(err)
	}
	for _, key := range keys {
		value, revision, err := store.Get(i.t.Context(), key)
		var position map[string]any
		if err == nil && json.Unmarshal(value, &position) == nil && position["mailbox"] == "INBOX" {
			position["low_water"] = uid
			if value, err = json.Marshal(position); err == nil {
				_, err = store.Update(i.t.Context(), key, value, revision)
			}
		}
		if err != nil {
			i.t.Fatal(err)
		}
	}
	if err = ledger.Close(); err != nil {
		i.t.Fatal(err)
	}
}

// TestMailTry: what real mail would become and where it would go, with nothing
// changed on the server and no ledger made.
func TestMailTry(t *testing.T) {
	t.Parallel()
	i, server := mailInstallation(t)
	for number := range 3 {
		server.Deliver(t, rawMail(number, ""))
	}
	server.Deliver(t, rawMail(4, "Auto-Submitted: auto-replied\r\n"))
	state := func() string {
		return server.Doveadm(t, "-f", "tab", "fetch", "-u", dovecot.Username, "uid flags modseq", "mailbox", "INBOX") +
			server.Doveadm(t, "mailbox", "status", "-u", dovecot.Username, "uidnext uidvalidity unseen recent", "INBOX")
	}
	before := state()
	found := lines[tried](t, i.podium("mail", "try", "--account", "support", "--last", "2", "-c", i.config, "-o", "json"))
	if after := state(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if len(found) != 2 || found[0].UID != 3 || found[1].UID != 4 {
		t.Fatalf("found %+v", found)
	}
	if person := found[0]; person.Mail.Class != schemas.MailHuman || person.Mail.Ignored != "" || person.Route.Steps[0].Decision.NextAgent != "echo" || person.Mail.Session == "" || person.Mail.Origin != schemas.OriginUnchecked {
		t.Errorf("a person's mail: %+v", person)
	}
	if machine := found[1]; machine.Mail.Class != schemas.MailAutoReply || machine.Mail.Ignored == "" || machine.Route != nil {
		t.Errorf("a machine's mail: %+v", machine)
	}
	plain := i.podium("mail", "try", "--account", "support", "-c", i.config).succeeds(t).stdout
	if strings.Count(plain, "UID ") != 4 || !strings.Contains(plain, "→ echo") || !strings.Contains(plain, "→ nobody") {
		t.Errorf("for people:\n%s", plain)
	}
	if o := i.podium("runs"); o.code != exitNotFound {
		t.Errorf("a ledger was made: exit code %d\n%s", o.code, o.stdout)
	}
	for arguments, code := range map[string]int{
		"mail try --account none": exitNotFound, "mail try": exitUsage, "mail try --account support --last 0": exitUsage,
		"mail audit none": exitNotFound, "mail try --account support --mailbox Absent": exitFailed,
	} {
		if o := i.podium(append(strings.Fields(arguments), "-c", i.config)...); o.code != code || o.stderr == "" {
			t.Errorf("%s: exit code %d, want %d\n%s", arguments, o.code, code, o.stderr)
		}
	}
}
