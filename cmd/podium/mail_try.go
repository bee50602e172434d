package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
	"podium/cmd/podium/view"
	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// mailCommand is about mail.
type mailCommand struct {
	Audit mailAuditCommand `cmd:"" help:"Prove that every message of the mailboxes is accounted for."`
	Try   mailTryCommand   `cmd:"" help:"Show what the newest messages of a real mailbox would become; changes nothing."`
	Parse mailParseCommand `cmd:"" help:"Show the events that messages in files would become."`
}

func (mailCommand) Help() string {
	return `Nothing here changes a mailbox or the ledger.

  podium mail audit                           # is anything missing?
  podium mail try --account support --last 10 # what would become of real mail?
  podium mail parse mail.eml -o json`
}

// mailTryCommand shows what real mail would become.
type mailTryCommand struct {
	Account string `required:"" help:"The mail account." placeholder:"NAME"`
	Config  string `help:"The configuration. Default: podium.yaml, else that of the instance that runs on --data." short:"c" placeholder:"FILE"`
	Mailbox string `help:"Another mailbox than the account's first." placeholder:"NAME"`
	Last    int    `help:"How many of the newest messages." default:"50"`
}

func (mailTryCommand) Help() string {
	return `Connects to the mailbox for reading only, and shows what each of its newest messages would become and
where it would be routed. Nothing is changed on the server, not even a flag, and nothing is written to the
ledger; no instance and no ledger are needed.

  podium mail try --account support
  podium mail try --account support --last 10 -o json    # one message a line

Exit codes:
  0  the messages were shown, those included that could not be had, which say why; or there are none
  1  the mailbox could not be read
  2  the command line or the configuration is wrong
  3  there is no such account or file`
}

// The lengths, in characters, to which what a person wrote is cut for a terminal.
const (
	triedSubject = 60
	triedText    = 200
)

// tried is one line of -o json.
type tried struct {
	UID     uint32       `json:"uid"`
	Problem string       `json:"problem,omitempty"` // why it could not be had
	Mail    *triedMail   `json:"mail,omitempty"`
	Route   *explanation `json:"route,omitempty"` // absent when nothing would answer it
}

type triedMail struct {
	Session     string                   `json:"session"`
	Class       schemas.MailClass        `json:"class"`
	Ignored     string                   `json:"ignored,omitempty"` // why no run would begin
	Parse       schemas.ParseState       `json:"parse"`
	Problems    []string                 `json:"problems,omitzero"`
	Auth        schemas.MailAuth         `json:"auth,omitzero"`
	Origin      schemas.MailOrigin       `json:"origin"`
	Withheld    schemas.WithheldReason   `json:"withheld,omitempty"` // why nobody would be answered
	AnswerTo    schemas.Address          `json:"answer_to,omitzero"` // whom an answer would go to
	From        []schemas.Address        `json:"from"`
	Subject     string                   `json:"subject"`
	Text        string                   `json:"text"`
	Attachments []schemas.MailAttachment `json:"attachments,omitzero"`
}

func (c *mailTryCommand) Run(env *environment) error {
	if c.Last < 1 {
		return usage(errors.New("--last is at least 1"))
	}
	settings, err := env.configInForce(c.Config)
	if err != nil {
		return err
	}
	chosen, err := chooseAccounts(settings, c.Account)
	if err != nil {
		return err
	}
	profile, err := plan.Compile(settings.Profile(chosen[0].Profile))
	if err != nil {
		return err
	}
	env.use(settings)
	return c.look(env, settings, chosen[0], profile)
}

func (c *mailTryCommand) look(env *environment, settings *config.Config, account *config.Account, profile *plan.Profile) error {
	mailbox := cmp.Or(c.Mailbox, account.IMAP.Mailbox)
	about, err := service.MailboxConfig(settings, env.data, account, mailbox)
	if err != nil {
		return err
	}
	about.ReadOnly = true
	source, err := imap.Connect(env.ctx, about)
	if refusal, ok := errors.AsType[*connection.RefusedError](err); ok {
		return fmt.Errorf("account %q: %s", account.Name, refusal.Sentence())
	}
	if err != nil {
		return err
	}
	seen := 0
	err = imap.LookAt(env.ctx, about, source, c.Last, func(preview imap.Preview) error {
		seen++
		return env.printTried(tryMail(profile, &preview))
	})
	if refusal, ok := errors.AsType[*connection.RefusedError](err); ok && seen == 0 {
		err = fmt.Errorf("account %q: %s; is %q the name of a mailbox there?", account.Name, refusal.Sentence(), mailbox)
	}
	if err == nil && seen == 0 {
		err = env.tell("%s is empty\n", mailbox)
	}
	return errors.Join(err, source.Close())
}

func tryMail(profile *plan.Profile, preview *imap.Preview) tried {
	line := tried{UID: preview.UID, Problem: preview.Problem}
	mail := preview.Mail
	if mail == nil {
		return line
	}
	message, err := messageOf(mail)
	if err != nil {
		line.Problem = err.Error()
		return line
	}
	line.Mail = &triedMail{
		Session: preview.Session, Class: mail.Class, Ignored: message.Ignore,
		Parse: mail.Parse, Problems: mail.Problems, Auth: mail.Auth, Origin: mail.Origin, From: mail.From, Subject: mail.Subject, Text: mail.Text,
		Attachments: mail.Attachments,
	}
	if message.Ignore == "" {
		if line.Mail.Withheld = profile.Conversation.Answer.Withheld(mail.Origin); line.Mail.Withheld == "" && message.Reply.Agent != "" {
			line.Mail.AnswerTo = mail.AnswerTo
		}
	}
	if message.Ignore == "" && line.Mail.Withheld != schemas.WithheldRefuted {
		explained := explain(profile, message.Text, schemas.ChannelEmail)
		line.Route = &explained
	}
	return line
}

// messageOf reads a mail as its session would.
func messageOf(mail *schemas.EmailReceived) (*session.Message, error) {
	body, err := schemas.Marshal(mail)
	if err != nil {
		return nil, err
	}
	input, err := session.ParseInput(schemas.Event{Type: schemas.TypeEmailReceived, Data: body}, session.Publisher{}, 1)
	if err != nil {
		return nil, fmt.Errorf("its event could not be used: %w", err)
	}
	return input.Message, nil
}

func (e *environment) printTried(line tried) error {
	mail := line.Mail
	switch {
	case e.json:
		return e.printLine(line)
	case mail == nil:
		return e.print("UID %d: %s\n\n", line.UID, line.Problem)
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "UID %d  %s  %s\n", line.UID, mail.Class, view.Line(mail.Subject, triedSubject))
	for _, author := range mail.From {
		_, _ = fmt.Fprintf(&b, "  from     %s\n", view.Line(strings.TrimSpace(author.Name+" <"+author.Address+">"), triedSubject))
	}
	_, _ = fmt.Fprintf(&b, "  text     %s\n", view.Line(mail.Text, triedText))
	if mail.Parse != schemas.ParseOK {
		_, _ = fmt.Fprintf(&b, "  parse    %s: %s\n", mail.Parse, strings.Join(mail.Problems, "; "))
	}
	if mail.Auth.Verdict != "" {
		_, _ = fmt.Fprintf(&b, "  auth     %s\n", strings.TrimSpace(string(mail.Auth.Verdict)+" "+mail.Auth.Domain))
	}
	for i := range mail.Attachments {
		attachment := &mail.Attachments[i]
		_, _ = fmt.Fprintf(&b, "  attached %s, %d bytes\n", attachment.MediaType, attachment.Artifact.Size)
	}
	switch {
	case line.Route == nil && mail.Withheld != "":
		_, _ = fmt.Fprintf(&b, "  → nobody: it is not worked on (%s)\n", mail.Withheld)
	case line.Route == nil:
		_, _ = fmt.Fprintf(&b, "  → nobody: it is ignored (%s)\n", mail.Ignored)
	default:
		for _, step := range line.Route.Steps {
			_, _ = fmt.Fprintf(&b, "  → %s: %s\n", cmp.Or(step.Decision.NextAgent, "nobody"), step.Why)
		}
		if mail.Withheld != "" {
			_, _ = fmt.Fprintf(&b, "  → its answer is withheld (%s)\n", mail.Withheld)
		}
	}
	return e.print("%s\n", b.String())
}
