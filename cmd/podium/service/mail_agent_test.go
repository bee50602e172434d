package service_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/agents/mail/smtpsink"
	"podium/bus/agent"
	"podium/bus/history"
	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/verify"
)

// A post is an installation with a mailbox of a real Dovecot and a server that
// takes its answers.
type post struct {
	*testing.T
	mailbox *dovecot.Server
	sink    *smtpsink.Server
	service *service.Service
	data    string // directory
	desk    string // its configuration, with places
}

const patience = 2 * time.Minute

// desk echoes what it is asked.
const desk = `
ledger: {data: %q, durability: interval, shards: 1}
http: {listen: "127.0.0.1:0"}
mail:
  accounts:
    - name: support
      profile: desk
      since: all
      imap: {host: 127.0.0.1, port: %d, tls: none, username: %s, password: %s, poll: 1s}
      smtp: {host: 127.0.0.1, port: %d, tls: none, from: "Support <support@praxis.example>", %s}
agents: {%s}
profiles: {desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}], delivery: {attempts: 3, wait: 100ms}}}
`

func openPost(t *testing.T, config smtpsink.Config, settings string, agents ...string) *post {
	t.Helper()
	return openDesk(t, desk, config, settings, agents...)
}

func openDesk(t *testing.T, desk string, config smtpsink.Config, settings string, agents ...string) *post {
	t.Helper()
	p := &post{T: t, desk: desk, mailbox: dovecot.Start(t, dovecot.Options{})}
	p.mailbox.Doveadm(t, "mailbox", "create", "-u", dovecot.Username, "Sent")
	var err error
	if p.sink, err = smtpsink.Start(context.WithoutCancel(t.Context()), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.sink.Close() })
	p.start(settings, append(agents, "echo: {kind: echo}")[0])
	return p
}

func (p *post) start(settings, agents string) {
	p.Helper()
	p.data = p.TempDir()
	read, err := config.Parse(fmt.Appendf(nil, p.desk, p.data, p.mailbox.Port, dovecot.Username, dovecot.Password, p.sink.Port(), settings, agents), "podium.yaml")
	if err != nil {
		p.Fatal(err)
	}
	if p.service, err = service.Start(p.Context(), read, zerolog.Nop()); err != nil {
		p.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Context()))
	ended := make(chan error, 1)
	go func() { ended <- p.service.Run(ctx) }()
	p.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			p.Errorf("run: %v", err)
		}
		if err := p.service.Close(); err != nil {
			p.Errorf("close: %v", err)
		}
	})
}

// letter is a mail of a person, in a thread when it answers something.
func letter(id, answers, text string) []byte {
	header := "From: Ada Example <ada@example.org>\r\nTo: support@praxis.example\r\nSubject: Question\r\n" +
		"Date: Mon, 21 Sep 2026 14:13:20 +0000\r\nMessage-ID: <" + id + "@example.org>\r\n"
	if answers != "" {
		header += "In-Reply-To: <" + answers + ">\r\nReferences: <m1@example.org> <" + answers + ">\r\n"
	}
	return []byte(header + "\r\n" + text + "\r\n")
}

// conversation is the only one that there is, as far as it can be read.
func (p *post) conversation() *workflow.SessionHistory {
	p.Helper()
	return p.session(schemas.SessionID("desk", "m1@example.org"))
}

func (p *post) session(id string) *workflow.SessionHistory {
	p.Helper()
	core := p.service.Ledger.Core
	folded := &workflow.SessionHistory{Session: id}
	for record, err := range history.LoadSession(p.Context(), core, folded.Session) {
		if err != nil {
			p.Fatal(err)
		}
		if err = folded.Apply(record.Record); err != nil {
			p.Fatal(err)
		}
	}
	return folded
}

// await returns the conversation once it is as wanted.
func (p *post) await(what string, wanted func(*workflow.SessionHistory) bool) *workflow.SessionHistory {
	p.Helper()
	return p.awaitSession(schemas.SessionID("desk", "m1@example.org"), what, wanted)
}

func (p *post) awaitSession(id, what string, wanted func(*workflow.SessionHistory) bool) *workflow.SessionHistory {
	p.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-ticker.C {
		if folded := p.session(id); wanted(folded) {
			return folded
		}
	}
	p.Fatalf("%s: %+v", what, p.session(id))
	return nil
}

// ended says that so many runs have ended.
func ended(count int) func(*workflow.SessionHistory) bool {
	return func(c *workflow.SessionHistory) bool {
		return len(c.Runs) >= count && c.Runs[count-1].Phase == workflow.PhaseComplete
	}
}

func (p *post) sentFolder() string {
	p.Helper()
	return p.mailbox.Doveadm(p.T, "fetch", "-u", dovecot.Username, "hdr.message-id flags", "mailbox", "Sent", "all")
}

// An answer is in the folder of sent mail as it was sent, and a report on it leads
// to its run (I21, I25).
func TestAnswersAreFiledAndReportsOnThemFind_I21(t *testing.T) {
	t.Parallel()
	p := openPost(t, smtpsink.Config{}, `templates: {default: {before: "Hello {name},", after: "Your practice"}}`)
	p.mailbox.Deliver(t, letter("m1", "", "what is it?"))
	run := p.await("the answer", ended(1)).Runs[0]
	kept := p.sink.Messages()
	if len(kept) != 1 || kept[0].Header().Get("Message-ID") != "<"+run.Replied+">" || kept[0].To[0] != "ada@example.org" {
		t.Fatalf("%d letters were sent; the run was answered as %s", len(kept), run.Replied)
	}
	if !strings.Contains(string(kept[0].Data), "Hello Ada Example,") {
		t.Errorf("the letter is %s", kept[0].Data)
	}
	if folder := p.sentFolder(); !strings.Contains(folder, run.Replied) || !strings.Contains(folder, `\Seen`) {
		t.Errorf("in the folder is %s", folder)
	}
	if data := string(run.Delivery.Result.Data); !strings.Contains(data, `"sent":"appended"`) {
		t.Errorf("the result is %s", data)
	}
	p.mailbox.Deliver(t, report(kept[0].Data))
	folded := p.await("the report", func(c *workflow.SessionHistory) bool { return len(c.Messages) == 2 })
	run = folded.Runs[0]
	if len(folded.Runs) != 1 || len(run.Bounces) != 1 || run.Bounces[0].Status != "5.1.1" || !run.Bounces[0].Failed || run.Delivery.State != workflow.TaskFailed {
		t.Errorf("runs %d, %+v, delivery %s", len(folded.Runs), run.Bounces, run.Delivery.State)
	}
	if len(p.sink.Messages()) != 1 {
		t.Error("a report was answered")
	}
}

// report is what a mail system says of a letter that it could not deliver (RFC 3464).
func report(letter []byte) []byte {
	header, _, _ := strings.Cut(string(letter), "\r\n\r\n")
	return []byte(strings.ReplaceAll(`Return-Path: <>
From: Mail Delivery System <MAILER-DAEMON@mx.example.org>
To: support@praxis.example
Subject: Undelivered Mail Returned to Sender
Message-ID: <b1@mx.example.org>
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

Unknown user.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.org

Final-Recipient: rfc822; ada@example.org
Action: failed
Status: 5.1.1

--b
Content-Type: text/rfc822-headers

`, "\n", "\r\n") + header + "\r\n\r\n--b--\r\n")
}

// A letter whose confirmation was lost is sent again under the same Message-ID
// when nobody can say what became of it; where the server files by itself what it
// sends, the folder says so, and it is sent once (I25).
func TestLostConfirmationIsResolvedByTheFolder_I25(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings string
		files    bool // the server does
		letters  int
		resolved bool
	}{
		"the server files": {"sent: server", true, 1, true},
		"the agent files":  {"sent: append", false, 2, false},
		"nobody does":      {"sent: none", false, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mailbox atomic.Pointer[dovecot.Server]
			var tried atomic.Int32
			p := openPost(t, smtpsink.Config{OnMessage: func(m *smtpsink.Message) error {
				if tried.Add(1) > 1 {
					return nil
				}
				if test.files {
					if err := file(mailbox.Load(), m.Data); err != nil {
						return err
					}
				}
				return smtpsink.ErrKeepAndCut
			}}, test.settings)
			mailbox.Store(p.mailbox)
			p.mailbox.Deliver(t, letter("m1", "", "what is it?"))
			run := p.await("the answer", ended(1)).Runs[0]
			kept := p.sink.Messages()
			if len(kept) != test.letters || run.Status != schemas.RunCompleted || run.Reason != schemas.StopCompleted {
				t.Fatalf("%d letters, the run is %s (%s)", len(kept), run.Status, run.Reason)
			}
			for _, letter := range kept {
				if got := letter.Header().Get("Message-ID"); got != "<"+run.Replied+">" {
					t.Errorf("a letter is %s, the answer %s", got, run.Replied)
				}
			}
			if data := string(run.Delivery.Result.Data); strings.Contains(data, `"resolved":"sent"`) != test.resolved {
				t.Errorf("the result is %s", data)
			}
			if unknown := run.Delivery.LastFailure != nil; unknown == test.resolved {
				t.Errorf("an attempt has failed: %v", unknown)
			}
		})
	}
}

// file puts a letter into the folder of sent mail, as some servers do by themselves.
func file(mailbox *dovecot.Server, raw []byte) error {
	return connection.NewSentFolder(connection.Config{
		Host: mailbox.Host, Port: mailbox.Port, Security: connection.SecurityNone, Username: dovecot.Username,
		Password: func(context.Context) (string, error) { return dovecot.Password, nil },
	}, "Sent").Append(context.Background(), raw)
}

// employ runs a handler as the agent echo, in a connection of its own.
func (p *post) employ(handle agent.HandlerFunc) {
	p.Helper()
	worker, err := p.service.Ledger.Worker(p.Context(), "echo")
	if err != nil {
		p.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Context()))
	served := make(chan error, 1)
	go func() {
		served <- agent.Serve(ctx, worker, handle, agent.ServeConfig{AckWait: service.AckWait, DrainTimeout: time.Second, Log: zerolog.Nop()})
	}()
	p.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			p.Errorf("serve: %v", err)
		}
		worker.Close()
	})
}

// attachedTo returns the attachment of a name; false when the letter has none.
func attachedTo(t *testing.T, letter smtpsink.Message, name string) (string, bool) {
	t.Helper()
	_, encoded, found := strings.Cut(string(letter.Data), `filename="`+name+`"`)
	if !found {
		return "", false
	}
	_, encoded, _ = strings.Cut(encoded, "\r\n\r\n")
	encoded, _, _ = strings.Cut(encoded, "\r\n\r\n--")
	content, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\r", "", "\n", "").Replace(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return string(content), true
}

// A file that an agent has put and that its result names is attached to the answer:
// it comes from the object store, by the artifact service of the agent that sends.
// Deciding all of it again comes to the same.
func TestAnswersComeWithTheirFiles(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("a;b;c\n", 200_000) // more than one piece of the service
	p := openPost(t, smtpsink.Config{}, "sent: none", "echo: {kind: external}")
	p.employ(func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
		put, err := request.Artifacts.Put(ctx, strings.NewReader(content), "text/csv")
		if err != nil {
			return agent.Outcome{}, err
		}
		data, err := schemas.Marshal(map[string]any{"attachments": []schemas.Attachment{{Name: "sums.csv", MediaType: "text/csv", Artifact: put}}})
		return agent.Outcome{Result: schemas.Result{Text: "here it is", Data: data}}, err
	})
	p.mailbox.Deliver(t, letter("m1", "", "what are the sums?"))
	run := p.await("the answer", ended(1)).Runs[0]
	if run.Reason != schemas.StopCompleted || len(p.sink.Messages()) != 1 {
		t.Fatalf("the run is %s (%s), %d letters", run.Status, run.Reason, len(p.sink.Messages()))
	}
	got, attached := attachedTo(t, p.sink.Messages()[0], "sums.csv")
	if !attached || got != content {
		t.Errorf("attached are %d bytes of %d", len(got), len(content))
	}
	for shard := range p.service.Ledger.Core.Shards() {
		verified, err := verify.Shard(t.Context(), p.service.Ledger.Core, p.service.Profiles, shard, "")
		if err != nil || len(verified.Faults) > 0 {
			t.Errorf("deciding again: %+v, %v", verified.Faults, err)
		}
	}
}

// A hash that an agent prints is no file: what somebody else has put is not mailed
// out, whatever the agent calls it, and the run says what was left out.
func TestAHashIsNoFile(t *testing.T) {
	t.Parallel()
	content := "somebody else's diagnosis"
	sum := sha256.Sum256([]byte(content))
	program := fmt.Sprintf(`{"text":"here it is","data":{"attachments":[{"name":"stolen.txt","media_type":"text/plain","artifact":{"sha256":"%x","size":%d}}]}}`, sum, len(content))
	p := openPost(t, smtpsink.Config{}, "sent: none", "echo: {kind: exec, command: [printf, '%s', '"+program+"']}")
	if _, err := p.service.Ledger.Core.Artifacts().Put(t.Context(), strings.NewReader(content), "text/plain"); err != nil {
		t.Fatal(err)
	}
	p.mailbox.Deliver(t, letter("m1", "", "what is the diagnosis?"))
	run := p.await("the answer", ended(1)).Runs[0]
	if run.Reason != schemas.StopCompleted || len(p.sink.Messages()) != 1 {
		t.Fatalf("the run is %s (%s), %d letters", run.Status, run.Reason, len(p.sink.Messages()))
	}
	letter := p.sink.Messages()[0]
	if got, attached := attachedTo(t, letter, "stolen.txt"); attached || !strings.Contains(string(letter.Data), "here it is") {
		t.Errorf("attached is %q to\n%s", got, letter.Data)
	}
	if left := run.Tasks[0].Unproven; !slices.Equal(left, []string{"stolen.txt"}) {
		t.Errorf("left out is %q", left)
	}
}

// Two programs that answer each other, and of which one does not say that it is
// one, are slowed down: three answers an hour go out, and the fourth waits for the
// hour to end, with the run that it is of (I20).
func TestTwoProgramsThatAnswerEachOtherAreSlowedDown_I20(t *testing.T) {
	t.Parallel()
	sent := make(chan smtpsink.Message, 100)
	p := openPost(t, smtpsink.Config{OnKept: func(m *smtpsink.Message) { sent <- *m }}, "sent: none")
	p.mailbox.Deliver(t, letter("m1", "", "what is it?"))
	for n := 2; n <= 4; n++ {
		select {
		case message := <-sent:
			answered := strings.Trim(message.Header().Get("Message-ID"), "<>")
			p.mailbox.Deliver(t, letter(fmt.Sprint("m", n), answered, "I am back tomorrow."))
		case <-time.After(patience):
			t.Fatalf("answer %d does not come", n-1)
		}
	}
	folded := p.await("the fourth answer waits", func(session *workflow.SessionHistory) bool {
		return len(session.Runs) == 4 && session.Runs[3].AnswerDelayed()
	})
	for i := range folded.Runs {
		run := &folded.Runs[i]
		if run.Status != schemas.RunCompleted || len(run.Answer) != 1 || run.Withheld != nil || (run.Phase == workflow.PhaseComplete) != (i < 3) {
			t.Errorf("run %d is %s, %s, withheld %+v", i+1, run.Phase, run.Status, run.Withheld)
		}
	}
	if until := folded.Runs[3].Delivery.RetryAt(); !until.After(time.Now()) || until.After(time.Now().Add(time.Hour)) {
		t.Errorf("the fourth answer waits until %s", until)
	}
	if got := len(p.sink.Messages()); got != 3 {
		t.Errorf("%d answers went out", got)
	}
}
