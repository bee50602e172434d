// Package demo shows Podium's main job on real parts: a ledger, a mailbox (IMAP), a
// mail server (SMTP), the supervisor and agents, all in one process and on loopback.
// It is part of the product, and so is what it runs on; no test aid is in it.
package demo

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
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/bus/history"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/runlog"
	"podium/cmd/podium/service"
	"podium/cmd/podium/view"
	"podium/ingest/imap/memorymailbox"
	"podium/schemas"
	"podium/schemas/workflow"
)

//go:embed demo.yaml
var configuration string

//go:embed mail.eml
var letter []byte

const (
	// MessageID is that of the mail.
	MessageID = "thursday-figures@example.org"

	profile  = "office"
	question = "How much is 12.5 * 8 + 50?"
	token    = "demo-token-of-this-machine" //nolint:gosec // a demonstration on loopback, with nothing behind it
	patience = 60 * time.Second
)

// Config says where the demonstration takes place and who sees it.
type Config struct {
	// Data is the directory of the ledger. It must not hold one; empty makes a new directory.
	Data string
	// Once ends it when both messages are answered; else it runs until its context ends.
	Once bool
	// Out is told what happens, in words or with JSON as one Summary at the end.
	Out  io.Writer
	JSON bool
	Log  zerolog.Logger
}

// demonstration is one run of the demo.
type demonstration struct {
	config     Config
	mailbox    *memorymailbox.Server
	mailServer *mailServer
	service    *service.Service
}

// Show gives the demonstration. Its error is nil only if everything happened that should.
func Show(ctx context.Context, config Config) (err error) {
	d := &demonstration{config: config}
	if err = d.start(ctx); err != nil {
		return errors.Join(err, d.close())
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	group.Go(func() error {
		defer stop()
		return d.service.Run(running)
	})
	summary, err := d.show(running)
	if err == nil && !config.Once {
		d.tell("\nStill running. In another terminal, try\n\n  %s send --data %s --wait \"What is 6 * 7?\"\n\nCtrl-C stops it.\n", program(), d.config.Data)
		<-running.Done()
	}
	stop()
	err = errors.Join(err, group.Wait(), d.close())
	if config.JSON {
		err = errors.Join(err, json.NewEncoder(config.Out).Encode(summary))
	}
	if err == nil && !summary.OK {
		err = errors.New("not everything happened that should have")
	}
	if !config.JSON {
		d.farewell()
	}
	return err
}

func (d *demonstration) start(ctx context.Context) error {
	if d.config.Data == "" {
		fresh, err := os.MkdirTemp("", "podium-demo-")
		if err != nil {
			return err
		}
		d.config.Data = fresh
	} else if err := d.untouched(); err != nil {
		return err
	}
	var err error
	if d.mailbox, err = memorymailbox.Start(ctx, "demo", "demo"); err != nil {
		return err
	}
	if d.mailServer, err = openMailServer(ctx); err != nil {
		return err
	}
	settings, err := d.settings()
	if err != nil {
		return err
	}
	d.service, err = service.Start(ctx, settings, d.config.Log)
	return err
}

// untouched refuses the ledger of an earlier demo: it would know the mail again, and
// rightly not answer it twice. Of one in use the service says so.
func (d *demonstration) untouched() error {
	if _, err := os.Stat(filepath.Join(d.config.Data, "ledger")); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if _, running, err := installation.FindInstance(d.config.Data); running || err != nil {
		return err
	}
	return fmt.Errorf("there is a ledger in %s already, and the demo makes its own: name another directory, or leave --data out", d.config.Data)
}

func (d *demonstration) settings() (*config.Config, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	filled := strings.NewReplacer(
		"${PODIUM_DEMO_DATA}", d.config.Data,
		"${PODIUM_DEMO_IMAP}", strconv.Itoa(d.mailbox.Port()),
		"${PODIUM_DEMO_SMTP}", strconv.Itoa(d.mailServer.port()),
		"${PODIUM_DEMO_TOKEN}", token,
		"${PODIUM_DEMO_PROGRAM}", program,
	).Replace(configuration)
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
	if d.mailServer != nil {
		failed = errors.Join(failed, d.mailServer.close())
	}
	return failed
}

func (d *demonstration) tell(format string, arguments ...any) {
	if !d.config.JSON {
		_, _ = fmt.Fprintf(d.config.Out, format, arguments...)
	}
}

// A Summary is what happened, as -o json prints it.
type Summary struct {
	OK        bool   `json:"ok"`
	Runs      []Run  `json:"runs"`
	MailReply Reply  `json:"mail_reply"`
	Ledger    Ledger `json:"ledger"`
}

// A Run is one message on its way to its answer.
type Run struct {
	Run     string   `json:"run"`
	Channel string   `json:"channel"`
	Status  string   `json:"status"`
	Answer  string   `json:"answer"`
	Agents  []string `json:"agents"`
}

// A Reply is the mail that answered the mail.
type Reply struct {
	InReplyTo string `json:"in_reply_to"`
	Subject   string `json:"subject"`
}

// A Ledger is what was kept, and where.
type Ledger struct {
	Messages uint64 `json:"messages"`
	Data     string `json:"data"`
}

// show delivers the mail and the chat message and follows both to their end.
func (d *demonstration) show(ctx context.Context) (Summary, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var summary Summary
	d.tell("The ledger is in %s.\n\nA mail arrives:\n%s\n", d.config.Data, indent(string(letter)))
	if err := d.mailbox.Deliver(bytes.ReplaceAll(letter, []byte("\n"), []byte("\r\n"))); err != nil {
		return summary, err
	}
	mailed, err := d.follow(ctx, schemas.SessionID(profile, MessageID))
	if err != nil {
		return summary, err
	}
	d.tell("\nA chat message arrives:\n%s\n", indent(question))
	session, err := d.chat(ctx)
	if err != nil {
		return summary, err
	}
	chat, err := d.follow(ctx, session)
	if err != nil {
		return summary, err
	}
	summary.Runs = []Run{mailed, chat}
	if summary.MailReply, err = d.reply(ctx); err != nil {
		return summary, err
	}
	summary.Ledger, err = d.ledger(ctx)
	summary.OK = mailed.Status == string(schemas.RunCompleted) && chat.Status == string(schemas.RunCompleted) &&
		strings.Contains(mailed.Answer, "3000") && strings.Contains(chat.Answer, "150") &&
		summary.MailReply.InReplyTo == MessageID
	return summary, err
}

// follow shows a session's first run until it has ended.
func (d *demonstration) follow(ctx context.Context, session string) (Run, error) {
	detail := view.Story
	if d.config.JSON {
		detail = view.Nothing
	}
	watched := view.Watch(d.config.Out, detail)
	defer func() { _ = watched.Close() }()
	reader, first := runlog.Reader{Core: d.service.Ledger.Core}, &workflow.Excerpt{Session: session, Number: 1}
	run, err := reader.AwaitEnd(ctx, first, runlog.Sent{}, func(record *schemas.Record, run *workflow.RunHistory) {
		watched.Show(view.Place{}, record, run)
	}, nil)
	if err != nil {
		return Run{}, fmt.Errorf("the message was not answered within %s: %w", patience, err)
	}
	return d.outcome(ctx, run)
}

func (d *demonstration) outcome(ctx context.Context, run *workflow.RunHistory) (Run, error) {
	answer, err := history.AnswerText(ctx, d.service.Ledger.Core, *run)
	outcome := Run{Run: run.ID, Channel: run.Message.Channel, Status: string(run.Status), Answer: answer}
	for i := range run.Tasks {
		outcome.Agents = append(outcome.Agents, run.Tasks[i].Agent)
	}
	return outcome, err
}

// chat posts the question as any chat would, and returns its session.
func (d *demonstration) chat(ctx context.Context) (string, error) {
	body, err := json.Marshal(map[string]string{"text": question, "message_id": "demo-1"})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.service.Address()+"/v1/chat/web", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
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
		return "", fmt.Errorf("the chat adapter answered %s", response.Status)
	}
	return receipt.Session, nil
}

// reply waits for the answer to the mail.
func (d *demonstration) reply(ctx context.Context) (Reply, error) {
	select {
	case sent := <-d.mailServer.sent:
		message, err := mail.ReadMessage(bytes.NewReader(sent))
		if err != nil {
			return Reply{}, fmt.Errorf("the reply to the mail: %w", err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
		d.tell("\nThe reply to the mail:\n%s\n", indent(legible(sent)))
		return Reply{InReplyTo: strings.Trim(message.Header.Get("In-Reply-To"), "<> "), Subject: subject}, err
	case <-ctx.Done():
		return Reply{}, fmt.Errorf("no reply to the mail within %s", patience)
	}
}

func (d *demonstration) ledger(ctx context.Context) (Ledger, error) {
	core := d.service.Ledger.Core
	streams := []string{bus.WorkStream}
	for shard := range core.Shards() {
		streams = append(streams, bus.ShardStream(shard))
	}
	kept := Ledger{Data: d.config.Data}
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
		d.tell("  %s %s --data %s\n", program(), verb, d.config.Data)
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
func legible(letter []byte) string {
	header, body, _ := bytes.Cut(letter, []byte("\r\n\r\n"))
	decoded, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
	if err != nil {
		decoded = body
	}
	return string(header) + "\n\n" + string(decoded)
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n", "\n    ")
}
