package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"podium/agents/mail/smtpsink"
	"podium/bus"
	"podium/bus/history"
	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
	"podium/cmd/podium/view"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
)

//go:embed demo/demo.yaml
var demoConfig string

//go:embed demo/mail.eml
var demoMail []byte

const (
	demoProfile   = "office"
	demoMessageID = "thursday-figures@example.org" // of demo/mail.eml
	demoQuestion  = "How much is 12.5 * 8 + 50?"
	demoToken     = "demo-token-of-this-machine" //nolint:gosec // a demonstration on loopback, with nothing behind it
	demoPatience  = 60 * time.Second
)

// demoCommand shows the main job on real parts.
type demoCommand struct {
	Once bool `help:"Exit when the mail and the chat message are answered."`
}

// Help is shown by --help.
func (demoCommand) Help() string {
	return `Starts everything in this process: a ledger, a mailbox (IMAP), a mail server (SMTP), the supervisor
and three agents. A mail asks for a calculation and a summary, a chat message for a calculation. You
see what becomes of them; the ledger is kept, and the last lines say how to replay it.

  podium demo
  podium demo --once -o json       # one JSON object; exit code 0 only if all of it happened`
}

// demonstration is one run of the demo.
type demonstration struct {
	env     *environment
	mailbox *memorymailbox.Server
	sink    *smtpsink.Server
	service *service.Service
	mailed  chan smtpsink.Message
}

// Run implements the verb.
func (c *demoCommand) Run(env *environment) (err error) {
	d := &demonstration{env: env, mailed: make(chan smtpsink.Message, 16)}
	if err = d.start(); err != nil {
		return errors.Join(err, d.close())
	}
	running, stop := context.WithCancel(env.ctx)
	defer stop()
	var group errgroup.Group
	group.Go(func() error {
		defer stop()
		return d.service.Run(running)
	})
	summary, err := d.show(running)
	if err == nil && !c.Once {
		d.tell("\nStill running. In another terminal, try\n\n  %s send --data %s --wait \"What is 6 * 7?\"\n\nCtrl-C stops it.\n", program(), d.env.data)
		<-running.Done()
	}
	stop()
	err = errors.Join(err, group.Wait(), d.close())
	if env.json {
		err = errors.Join(err, json.NewEncoder(env.stdout).Encode(summary))
	}
	if err == nil && !summary.OK {
		err = errors.New("not everything happened that should have")
	}
	if !env.json {
		d.farewell()
	}
	return err
}

func (d *demonstration) start() error {
	if !d.env.dataGiven() {
		fresh, err := os.MkdirTemp("", "podium-demo-")
		if err != nil {
			return err
		}
		d.env.data = fresh
	} else if err := d.untouched(); err != nil {
		return err
	}
	var err error
	if d.mailbox, err = memorymailbox.Start(d.env.ctx, "demo", "demo"); err != nil {
		return err
	}
	if d.sink, err = smtpsink.Start(d.env.ctx, smtpsink.Config{OnKept: func(m *smtpsink.Message) { d.mailed <- *m }}); err != nil {
		return err
	}
	settings, err := d.settings()
	if err != nil {
		return err
	}
	d.service, err = service.Start(d.env.ctx, settings, d.env.log)
	return err
}

// untouched refuses the ledger of an earlier demo: it would know the mail again, and
// rightly not answer it twice. Of one in use the service says so.
func (d *demonstration) untouched() error {
	if _, err := os.Stat(filepath.Join(d.env.data, "ledger")); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if _, running, err := service.FindInstance(d.env.data); running || err != nil {
		return err
	}
	return fmt.Errorf("there is a ledger in %s already, and the demo makes its own: name another directory, or leave --data out", d.env.data)
}

func (d *demonstration) settings() (*config.Config, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	filled := strings.NewReplacer(
		"${PODIUM_DEMO_DATA}", d.env.data,
		"${PODIUM_DEMO_IMAP}", strconv.Itoa(d.mailbox.Port()),
		"${PODIUM_DEMO_SMTP}", strconv.Itoa(d.sink.Port()),
		"${PODIUM_DEMO_TOKEN}", demoToken,
		"${PODIUM_DEMO_PROGRAM}", program,
	).Replace(demoConfig)
	return config.Parse([]byte(filled), "demo.yaml")
}

func (d *demonstration) close() error {
	var failed error
	if d.service != nil {
		failed = d.service.Close()
	}
	if d.mailbox != nil {
		failed = errors.Join(failed, d.mailbox.Close())
	}
	if d.sink != nil {
		failed = errors.Join(failed, d.sink.Close())
	}
	return failed
}

func (d *demonstration) tell(format string, arguments ...any) {
	if !d.env.json {
		_, _ = fmt.Fprintf(d.env.stdout, format, arguments...)
	}
}

// demoSummary is what -o json prints.
type demoSummary struct {
	OK        bool       `json:"ok"`
	Runs      []demoRun  `json:"runs"`
	MailReply demoReply  `json:"mail_reply"`
	Ledger    demoLedger `json:"ledger"`
}

type demoRun struct {
	Run     string   `json:"run"`
	Channel string   `json:"channel"`
	Status  string   `json:"status"`
	Answer  string   `json:"answer"`
	Agents  []string `json:"agents"`
}

type demoReply struct {
	InReplyTo string `json:"in_reply_to"`
	Subject   string `json:"subject"`
}

type demoLedger struct {
	Messages uint64 `json:"messages"`
	Data     string `json:"data"`
}

// show delivers the mail and the chat message and follows both to their end.
func (d *demonstration) show(ctx context.Context) (demoSummary, error) {
	ctx, stop := context.WithTimeout(ctx, demoPatience)
	defer stop()
	var summary demoSummary
	d.tell("The ledger is in %s.\n\nA mail arrives:\n%s\n", d.env.data, indent(string(demoMail)))
	if err := d.mailbox.Deliver(bytes.ReplaceAll(demoMail, []byte("\n"), []byte("\r\n"))); err != nil {
		return summary, err
	}
	mail, err := d.follow(ctx, schemas.SessionID(demoProfile, demoMessageID))
	if err != nil {
		return summary, err
	}
	d.tell("\nA chat message arrives:\n%s\n", indent(demoQuestion))
	session, err := d.chat(ctx)
	if err != nil {
		return summary, err
	}
	chat, err := d.follow(ctx, session)
	if err != nil {
		return summary, err
	}
	summary.Runs = []demoRun{mail, chat}
	if summary.MailReply, err = d.reply(ctx); err != nil {
		return summary, err
	}
	summary.Ledger, err = d.ledger(ctx)
	summary.OK = mail.Status == string(schemas.RunCompleted) && chat.Status == string(schemas.RunCompleted) &&
		strings.Contains(mail.Answer, "3000") && strings.Contains(chat.Answer, "150") &&
		summary.MailReply.InReplyTo == demoMessageID
	return summary, err
}

// follow shows a session's first run until it has ended.
func (d *demonstration) follow(ctx context.Context, session string) (demoRun, error) {
	detail := view.Story
	if d.env.json {
		detail = view.Nothing
	}
	watched := view.Watch(d.env.stdout, detail)
	defer func() { _ = watched.Close() }()
	var conversation schemas.Conversation
	for record, err := range history.FollowSession(ctx, d.service.Ledger.Core, session, 1) {
		if err != nil {
			return demoRun{}, fmt.Errorf("the message was not answered within %s: %w", demoPatience, err)
		}
		if err = conversation.Apply(record.Record); err != nil {
			return demoRun{}, err
		}
		run := conversation.Run(1)
		watched.Show(&record.Record, run)
		if run != nil && run.State == schemas.RunStateEnded {
			return d.outcome(ctx, run)
		}
	}
	return demoRun{}, ctx.Err()
}

func (d *demonstration) outcome(ctx context.Context, run *schemas.Run) (demoRun, error) {
	answer, err := history.AnswerText(ctx, d.service.Ledger.Core, *run)
	outcome := demoRun{Run: run.ID, Channel: run.Channel, Status: string(run.Status), Answer: answer}
	for i := range run.Tasks {
		outcome.Agents = append(outcome.Agents, run.Tasks[i].Agent)
	}
	return outcome, err
}

// chat posts the question as any chat would, and returns its session.
func (d *demonstration) chat(ctx context.Context) (string, error) {
	body, err := json.Marshal(map[string]string{"text": demoQuestion, "message_id": "demo-1"})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.service.Address()+"/v1/chat/web", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+demoToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var receipt struct {
		Session string `json:"session"`
	}
	if err = json.NewDecoder(response.Body).Decode(&receipt); err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusAccepted {
		return "", fmt.Errorf("the chat door answered %s", response.Status)
	}
	return receipt.Session, nil
}

// reply waits for the answer to the mail.
func (d *demonstration) reply(ctx context.Context) (demoReply, error) {
	select {
	case message := <-d.mailed:
		header := message.Header()
		subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		d.tell("\nThe reply to the mail:\n%s\n", indent(legible(message.Data)))
		return demoReply{InReplyTo: strings.Trim(header.Get("In-Reply-To"), "<> "), Subject: subject}, err
	case <-ctx.Done():
		return demoReply{}, fmt.Errorf("no reply to the mail within %s", demoPatience)
	}
}

func (d *demonstration) ledger(ctx context.Context) (demoLedger, error) {
	core := d.service.Ledger.Core
	streams := []string{bus.WorkStream}
	for shard := range core.Shards() {
		streams = append(streams, bus.ShardStream(shard))
	}
	kept := demoLedger{Data: d.env.data}
	for _, stream := range streams {
		state, err := core.State(ctx, stream)
		if err != nil {
			return kept, err
		}
		kept.Messages += state.Messages
	}
	return kept, nil
}

func (d *demonstration) farewell() {
	d.tell("\nEvery step is on the ledger, which is kept:\n\n")
	for _, verb := range []string{"replay", "replay --verify", "runs"} {
		d.tell("  %s %s --data %s\n", program(), verb, d.env.data)
	}
}

// program is what a person types to run this program again.
func program() string {
	if path, err := exec.LookPath("podium"); err == nil {
		if self, err := os.Executable(); err == nil && path == self {
			return "podium"
		}
	}
	return os.Args[0]
}

// legible is a mail as a mail program shows it: its quoted-printable body decoded.
func legible(mail []byte) string {
	header, body, _ := bytes.Cut(mail, []byte("\r\n\r\n"))
	decoded, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
	if err != nil {
		decoded = body
	}
	return string(header) + "\n\n" + string(decoded)
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n", "\n    ")
}
