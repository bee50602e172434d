package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"podium/cmd/podium/demo"
	"podium/schemas"
	"podium/schemas/workflow"
)

// TestDemoOnce_X08: the demonstration prints one object that says what happened, and
// every reading verb works on the ledger that it leaves.
func TestDemoOnce_X08(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "demo")
	printed := podium(t, "demo", "--once", "-o", "json", "--data", data).succeeds(t)
	if printed.stderr != "" {
		t.Errorf("it says %q on standard error", printed.stderr)
	}
	summary := theOneObject(t, printed.stdout)
	if !summary.OK || len(summary.Runs) != 2 {
		t.Fatalf("the summary is %+v", summary)
	}
	mail, chat := summary.Runs[0], summary.Runs[1]
	if mail.Channel != schemas.ChannelEmail || mail.Status != "completed" || strings.Join(mail.Agents, " ") != "calculator summary" {
		t.Errorf("the mail's run: %+v", mail)
	}
	if chat.Channel != schemas.ChannelChat || chat.Status != "completed" || strings.Join(chat.Agents, " ") != "calculator" {
		t.Errorf("the chat message's run: %+v", chat)
	}
	// (1250·12 − 3000) / 4 and 12.5·8 + 50; the summary is made of the report's own sentences.
	if !strings.Contains(mail.Answer, "3000") || !strings.Contains(chat.Answer, "150") {
		t.Errorf("the answers are %q and %q", mail.Answer, chat.Answer)
	}
	if !strings.Contains(mail.Answer, "northern line") || strings.Contains(mail.Answer, "boots") {
		t.Errorf("%q is no summary of the report", mail.Answer)
	}
	if summary.MailReply.InReplyTo != demo.MessageID || summary.MailReply.Subject != "Re: Figures and report for Thursday" {
		t.Errorf("the reply to the mail: %+v", summary.MailReply)
	}
	readable(t, data, &summary)
	again := podium(t, "demo", "--once", "--data", data)
	if again.code == exitOK || !strings.Contains(again.stderr, "another directory") {
		t.Errorf("a second demo on the same ledger: exit code %d, %q", again.code, again.stderr)
	}
}

// theOneObject reads a summary and allows no key more, and nothing after it.
func theOneObject(t *testing.T, text string) demo.Summary {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	var summary demo.Summary
	if err := decoder.Decode(&summary); err != nil || decoder.More() {
		t.Fatalf("it is not one object: %v\n%s", err, text)
	}
	var documented struct {
		OK   *bool `json:"ok"`
		Runs []struct{ Run, Channel, Status, Answer *string }
		Mail *struct {
			InReplyTo *string `json:"in_reply_to"`
			Subject   *string
		} `json:"mail_reply"`
		Ledger *struct{ Messages *int } `json:"ledger"`
	}
	if err := json.Unmarshal([]byte(text), &documented); err != nil || documented.OK == nil || documented.Mail == nil ||
		documented.Mail.InReplyTo == nil || documented.Mail.Subject == nil || documented.Ledger == nil || documented.Ledger.Messages == nil {
		t.Fatalf("the documented shape is missing: %v\n%s", err, text)
	}
	return summary
}

// readable runs every reading verb on a demonstration's ledger.
func readable(t *testing.T, data string, summary *demo.Summary) {
	t.Helper()
	at := func(arguments ...string) outcome {
		t.Helper()
		return podium(t, append([]string{"--data", data}, arguments...)...).succeeds(t)
	}
	verified := lines[struct {
		Records, Facts, Inputs int
		Faults                 []any
	}](t, at("replay", "--verify", "-o", "json"))
	records := 0
	for _, shard := range verified {
		records += shard.Records
		if len(shard.Faults) != 0 {
			t.Errorf("deciding again differs: %v", shard.Faults)
		}
	}
	if records < 4 {
		t.Errorf("%d records were verified", records)
	}
	runs := lines[workflow.RunHistory](t, at("runs", "-o", "json"))
	if len(runs) != 2 || runs[0].ID != summary.Runs[1].Run || runs[1].ID != summary.Runs[0].Run {
		t.Errorf("runs lists %+v, want the newest first", runs)
	}
	if quarantined := at("quarantine", "-o", "json").stdout; quarantined != "" {
		t.Errorf("in quarantine is %s", quarantined)
	}
	agents := at("agents").stdout
	for _, name := range []string{"calculator", "summary", "echo", "mail", "chat"} {
		if !strings.Contains(agents, "\n"+name+" ") {
			t.Errorf("agents does not list %s:\n%s", name, agents)
		}
	}
	shown := at("runs", "show", summary.Runs[0].Run[:9]).stdout
	for _, words := range []string{summary.Runs[0].Run, "completed", "why:", "calculator", "summary", "3000"} {
		if !strings.Contains(shown, words) {
			t.Errorf("runs show does not say %q:\n%s", words, shown)
		}
	}
	for _, told := range []string{
		at("runs", "show", summary.Runs[0].Run, "--why").stdout, at("runs", "show", summary.Runs[0].Run, "--why", "-o", "json").stdout,
		at("replay", "--run", summary.Runs[0].Run, "--why").stdout,
	} {
		for _, rule := range []string{": request to calculator, attempt 1  [start]", "  [input]", "  [finish]"} {
			if !strings.Contains(told, rule) || strings.Contains(told, "[?]") {
				t.Errorf("no rule is told as%s:\n%s", rule, told)
			}
		}
	}
	of := lines[replayed](t, at("replay", "--run", summary.Runs[0].Run, "-o", "json", "--work"))
	all := lines[replayed](t, at("replay", "-o", "json", "--work"))
	if len(of) == 0 || len(of) >= len(all) {
		t.Errorf("replay of one run prints %d of %d messages", len(of), len(all))
	}
	if last := all[len(all)-1]; last.Recorded.Before(all[0].Recorded) {
		t.Error("the ledger is not merged by time")
	}
	arrived := at("replay", "--subject", "podium.in.>").stdout
	if strings.Count(arrived, "\n") != 2 || !strings.Contains(arrived, "podium.email.received.v1") || !strings.Contains(arrived, "podium.chat.received.v1") {
		t.Errorf("what came in:\n%s", arrived)
	}
	if later := at("replay", "--since", "2099-01-01T00:00:00Z").stdout; later != "" {
		t.Errorf("the future holds %s", later)
	}
	for _, c := range []struct {
		code      int
		says      string
		arguments []string
	}{
		{exitUsage, "neither a time", []string{"replay", "--since", "yesterday"}},
		{exitNotFound, "podium runs", []string{"runs", "show", "ffffffff"}},
		{exitNotFound, "podium runs", []string{"replay", "--run", "ffffffff"}},
		{exitNotFound, "podium runs", []string{"runs", "cancel", schemas.RunID(schemas.SessionID("no", "one"), 1)}},
		{exitUsage, "podium runs", []string{"runs", "show", ""}},
		{exitNotFound, "podium up", []string{"send", "hello"}},
	} {
		o := podium(t, append([]string{"--data", data}, c.arguments...)...)
		if o.code != c.code || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%v: exit code %d, want %d; it says %q, want %q", c.arguments, o.code, c.code, o.stderr, c.says)
		}
	}
}

// TestDemoRunning: on the running demonstration the verbs work too, and it ends in order.
func TestDemoRunning(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "demo")
	shown := spawn(t, "demo", "--data", data)
	shown.says(t, "Still running")
	sent := podium(t, "--data", data, "send", "What is 6 * 7?", "--wait").succeeds(t)
	if !strings.HasSuffix(strings.TrimSpace(sent.stdout), "42") {
		t.Errorf("the answer is %s", sent.stdout)
	}
	runs := lines[workflow.RunHistory](t, podium(t, "--data", data, "runs", "-o", "json"))
	if len(runs) != 3 {
		t.Errorf("%d runs", len(runs))
	}
	podium(t, "--data", data, "replay", "--verify").succeeds(t)
	if again := podium(t, "demo", "--once", "--data", data); again.code != exitFailed || !strings.Contains(again.stderr, "already runs on") {
		t.Errorf("a second one on the same data: exit code %d, %s", again.code, again.stderr)
	}
	shown.stop(t)
	podium(t, "--data", data, "replay", "--verify").succeeds(t)
	for _, words := range []string{"A mail arrives", "In-Reply-To: <" + demo.MessageID + ">", "calculator", "podium replay --data " + data} {
		if !strings.Contains(shown.stdout.String(), words) {
			t.Errorf("the demonstration does not say %q", words)
		}
	}
}
