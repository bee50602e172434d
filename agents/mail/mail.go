// Package mail sends an answer as a threaded mail over SMTP.
//
// The Message-ID is made of the request's effect id and run, so every attempt of one
// answer carries the same one, and an answer to it finds the conversation. When a connection breaks after the last byte,
// nobody knows whether the server took the mail: then, and before every further
// attempt, the folder of sent mail is asked. What it cannot say is reported as
// temporary and unknown.
//
// An answer says Auto-Submitted: auto-replied (RFC 3834) and names what it answers
// (RFC 5322, section 3.6.4). It goes to whoever the request names, never to an
// address of the system's own or to a program, and in copy to those that the
// account allows. Nothing that a requester wrote can add a header, a recipient or
// an SMTP command, and the HTML beside the plain text loads nothing.
//
// Budgets bound the answers to one address and the letters of an account. They are
// kept in memory: of the process, since its start.
package mail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rs/zerolog"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
)

// MaxRecipients bounds the recipients of one answer, copies included: a mail with
// a long Reply-To must not make a mailing of it.
const MaxRecipients = 10

// A Config holds the accounts that may send.
type Config struct {
	// Accounts are the accounts by name.
	Accounts map[string]Account
	// Now is the clock of the Date header and of the budgets; nil means time.Now.
	Now func() time.Time
	Log zerolog.Logger
}

// A Receipt is the result's data.
type Receipt struct {
	MessageID string `json:"message_id"` // without angle brackets
	// Resolved is "sent" when an earlier attempt, or this one without being told,
	// had sent it, as the folder of sent mail says.
	Resolved string   `json:"resolved,omitzero"`
	Sent     string   `json:"sent,omitzero"`    // of the copy in the folder of sent mail: appended or append_failed
	Copies   []string `json:"copies,omitzero"`  // who got a copy
	Dropped  []string `json:"dropped,omitzero"` // who was named by the letter that is answered, and got none
	Left     []string `json:"left,omitzero"`    // attachments that were left out
}

// An Agent sends answers. It is safe for use by several goroutines at once.
type Agent struct {
	accounts map[string]*sender
	own      map[string]bool // the system's own mailboxes
	now      func() time.Time
	log      zerolog.Logger
	words    sentences.Catalog
	prefixes []string
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent, or an error that names the account that is unusable.
// It does not connect.
func New(config Config) (*Agent, error) {
	loaded, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	prefixes, err := loadPrefixes()
	if err != nil {
		return nil, err
	}
	agent := &Agent{
		accounts: make(map[string]*sender, len(config.Accounts)),
		own:      map[string]bool{},
		now:      config.Now,
		log:      config.Log,
		words:    loaded,
		prefixes: prefixes,
	}
	if agent.now == nil {
		agent.now = time.Now
	}
	for name, account := range config.Accounts {
		made, err := newSender(name, account)
		if err != nil {
			return nil, fmt.Errorf("mail account %q: %w", name, err)
		}
		agent.accounts[name] = made
		for _, address := range append([]string{made.from.Address}, account.Own...) {
			agent.own[schemas.Mailbox(address)] = true
		}
	}
	return agent, nil
}

// Description is the agent's entry in the registry, but for its name.
func (*Agent) Description() schemas.Agent {
	return schemas.Agent{
		Kind:        "mail",
		Description: "Sends an answer as a threaded mail.",
		InputSchema: jsontext.Value(inputSchema),
		SideEffects: "external",
	}
}

const inputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["account", "to", "text"],
  "properties": {
    "agent": {"type": "string"},
    "account": {"type": "string", "minLength": 1},
    "to": {
      "type": "array", "minItems": 1, "maxItems": 10,
      "items": {
        "type": "object",
        "required": ["address"],
        "properties": {"name": {"type": "string"}, "address": {"type": "string"}}
      }
    },
    "cc": {"type": "array", "items": {"type": "object", "required": ["address"]}},
    "subject": {"type": "string"},
    "in_reply_to": {"type": "string"},
    "references": {"type": "array", "items": {"type": "string"}},
    "text": {"type": "string", "minLength": 1},
    "attachments": {"type": "array", "items": {"type": "object", "required": ["artifact"]}},
    "data": {"type": "array", "items": {"type": "object", "required": ["name", "media_type", "text"]}},
    "requester": {"type": "string"}
  }
}`

// Handle implements agent.Handler. It fails for good when the arguments are
// unusable or the server answers 5xx to sender, recipient or letter; every other failure
// may be tried again. Beyond the budget of a recipient it says when there is capacity. It asks for its permit when the server has
// taken sender and recipients, right before the letter itself.
//
// A letter beyond the rate of its account waits for its turn, and fails for want of
// room (schemas.CategoryResource) when its turn comes too late for the request. What
// was surely not sent and may be later, as when the server is away, fails so too.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	letter, account, receipt, err := a.compose(ctx, request)
	if err != nil {
		return agent.Outcome{}, err
	}
	if request.Attempt > 1 || request.Deliveries != 1 {
		if sent, err := account.look(ctx, letter.messageID); err == nil && sent {
			receipt.Resolved = resolvedSent
			return agent.Data(receipt)
		}
	}
	giveBack, err := account.admit(ctx, a.now(), letter, func(wait time.Duration) {
		report(0, a.words.Say(language, "rate", "{seconds}", inSeconds(wait)))
	})
	v := voice{a.words, language, letter.question}
	if err != nil {
		return agent.Outcome{}, failure(ctx, v, err)
	}
	var refused error
	raw, err := account.send(ctx, letter, func(ctx context.Context) error {
		refused = request.PermitFor(ctx, letter.action)
		return refused
	})
	_, unknown := errors.AsType[*unknownError](err)
	if unknown && account.resolve(ctx, letter.messageID) {
		receipt.Resolved, err = resolvedSent, nil
	}
	if err != nil && !unknown {
		giveBack()
	}
	switch {
	case refused != nil:
		return agent.Outcome{}, refused
	case err != nil:
		return agent.Outcome{}, failure(ctx, v, err)
	}
	receipt.Dropped = append(receipt.Dropped, letter.refused...)
	for _, recipient := range letter.cc {
		receipt.Copies = append(receipt.Copies, recipient.Address)
	}
	if receipt.Resolved == "" {
		receipt.Sent = a.store(ctx, account, raw)
	}
	return agent.Data(receipt)
}

// compose makes the letter that a request asks for, without touching anything but
// the artifacts that it comes with.
func (a *Agent) compose(ctx context.Context, request *agent.Request) (*letter, *sender, *Receipt, error) {
	language := request.Task().Context.Language()
	var given schemas.DeliveryArguments
	err := schemas.Unmarshal(request.Task().Context.Arguments, &given)
	v := voice{a.words, language, given.Inquiry > 0}
	if err != nil {
		return nil, nil, nil, refuse(v, "arguments")
	}
	account, known := a.accounts[given.Account]
	if !known {
		return nil, nil, nil, refuse(v, "account", "{account}", given.Account)
	}
	if strings.TrimSpace(given.Text) == "" {
		return nil, nil, nil, refuse(v, "text")
	}
	recipients, err := a.recipients(v, given.To)
	if err != nil {
		return nil, nil, nil, err
	}
	receipt := &Receipt{MessageID: account.messageID(request, given.Inquiry)}
	made := &letter{
		from:       account.from,
		to:         recipients,
		subject:    replySubject(given.Subject, a.prefixes),
		messageID:  receipt.MessageID,
		inReplyTo:  given.InReplyTo,
		references: given.References,
		date:       a.now(),
		question:   given.Inquiry > 0,
		requester:  given.Requester,
	}
	made.cc, receipt.Dropped = a.copiesOf(account, given.Cc, recipients)
	if made.action, err = actionOf(made.subject, slices.Concat(recipients, made.cc), &given); err != nil {
		return nil, nil, nil, err
	}
	made.attachments, receipt.Left, err = account.attachmentsOf(ctx, request.Artifacts, given.Data, given.Attachments)
	if err != nil {
		return nil, nil, nil, err
	}
	answer := given.Text
	if len(receipt.Left) > 0 {
		answer += "\n\n" + a.words.Say(language, "left", "{names}", strings.Join(receipt.Left, ", "))
	}
	made.text = account.around(answer, language, recipients[0].Name, given.Subject, request.Run)
	if !account.account.Plain {
		made.html = htmlOf(made.text, language)
	}
	return made, account, receipt, nil
}

// recipients are those that a letter is for; none of them is the system itself or
// a program.
func (a *Agent) recipients(v voice, to []schemas.Address) ([]*mail.Address, error) {
	if len(to) == 0 || len(to) > MaxRecipients {
		return nil, refuse(v, "recipients", "{limit}", strconv.Itoa(MaxRecipients))
	}
	recipients, err := recipientsOf(to)
	if err != nil {
		return nil, refuse(v, "recipient")
	}
	for _, recipient := range recipients {
		if a.own[schemas.Mailbox(recipient.Address)] || isRobot(recipient.Address) {
			return nil, refuse(v, "robot")
		}
	}
	return recipients, nil
}

// refuse is the failure for arguments that no attempt can make right.
func refuse(v voice, key string, places ...string) error {
	return &agent.Failure{
		Message:   v.say(key, places...),
		Permanent: true,
		Err:       errors.New("the arguments are not those of a mail reply: " + key),
	}
}

// failure puts an error of sending into words.
func failure(ctx context.Context, v voice, err error) error {
	_, unknown := errors.AsType[*unknownError](err)
	if ctx.Err() != nil {
		return &agent.Failure{Unknown: unknown, Err: fmt.Errorf("send a mail: %w", context.Cause(ctx))}
	}
	failed := &agent.Failure{Unknown: unknown, Err: fmt.Errorf("send a mail: %w", err), Message: v.trouble(err)}
	refused, answered := errors.AsType[*replyError](err)
	limited, beyond := errors.AsType[*limitError](err)
	failed.Permanent = answered && refused.final()
	if !unknown && !failed.Permanent {
		failed.Category = schemas.CategoryResource
	}
	if beyond && limited.peer {
		failed.RetryAfter = limited.wait
	}
	return failed
}

// inSeconds is a wait in words: rounded up, so that nobody comes too early.
func inSeconds(wait time.Duration) string { return strconv.Itoa(int(math.Ceil(wait.Seconds()))) }
