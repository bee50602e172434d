// Package mail sends an answer as a threaded mail over SMTP.
//
// The Message-ID is made of the request's effect id, so every attempt of one
// answer carries the same one: when a connection breaks after the last byte,
// nobody knows whether the server took the mail, and the next attempt repeats
// it recognizably. That case is reported as temporary and unknown.
//
// An answer says Auto-Submitted: auto-replied (RFC 3834), names what it answers
// (RFC 5322, section 3.6.4) and is plain text. Nothing that a requester wrote
// can add a header, a recipient or an SMTP command.
package mail

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/schemas"
)

// MaxRecipients bounds the recipients of one answer: a mail with a long
// Reply-To must not make a mailing of it.
const MaxRecipients = 10

// A Config holds the accounts that may send.
type Config struct {
	// Accounts are the accounts by name.
	Accounts map[string]Account
	// Now is the clock of the Date header; nil means time.Now.
	Now func() time.Time
}

// A Receipt is the result's data.
type Receipt struct {
	MessageID string `json:"message_id"` // without angle brackets
}

// An Agent sends answers. It is safe for use by several goroutines at once.
type Agent struct {
	accounts map[string]*sender
	now      func() time.Time
	words    schemas.Sentences
	prefixes []string
}

var _ bus.Handler = (*Agent)(nil)

// New returns the agent, or an error that names the account that is unusable.
// It does not connect.
func New(config Config) (*Agent, error) {
	loaded, err := schemas.ReadSentences(wordsFile)
	if err != nil {
		return nil, err
	}
	prefixes, err := loadPrefixes()
	if err != nil {
		return nil, err
	}
	agent := &Agent{
		accounts: make(map[string]*sender, len(config.Accounts)),
		now:      config.Now,
		words:    loaded,
		prefixes: prefixes,
	}
	if agent.now == nil {
		agent.now = time.Now
	}
	for name, account := range config.Accounts {
		if agent.accounts[name], err = newSender(account); err != nil {
			return nil, fmt.Errorf("mail account %q: %w", name, err)
		}
	}
	return agent, nil
}

// Description is the agent's entry in the registry, but for its name.
func (*Agent) Description() schemas.Agent {
	return schemas.Agent{
		Kind:        "mail",
		Description: "Sends an answer as a threaded plain-text mail.",
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
    "subject": {"type": "string"},
    "in_reply_to": {"type": "string"},
    "references": {"type": "array", "items": {"type": "string"}},
    "text": {"type": "string", "minLength": 1}
  }
}`

// arguments are a schemas.Reply and the words to send.
type arguments struct {
	schemas.Reply
	Text string `json:"text"`
}

// Handle implements bus.Handler. It fails for good when the arguments are
// unusable or the server answers 5xx; every other failure may be tried again. It
// asks for its permit when the server has taken sender and recipients, right
// before the letter itself.
func (a *Agent) Handle(ctx context.Context, request bus.Request, _ bus.Report) (schemas.Result, error) {
	task := request.Task()
	language := task.Context.Language()
	var given arguments
	if err := schemas.Unmarshal(task.Context.Arguments, &given); err != nil {
		return schemas.Result{}, a.refuse(language, "arguments")
	}
	account, known := a.accounts[given.Account]
	if !known {
		return schemas.Result{}, a.refuse(language, "account", "{account}", given.Account)
	}
	if strings.TrimSpace(given.Text) == "" {
		return schemas.Result{}, a.refuse(language, "text")
	}
	if len(given.To) == 0 || len(given.To) > MaxRecipients {
		return schemas.Result{}, a.refuse(language, "recipients", "{limit}", strconv.Itoa(MaxRecipients))
	}
	recipients, err := recipientsOf(given.To)
	if err != nil {
		return schemas.Result{}, a.refuse(language, "recipient")
	}
	letter := letter{
		from:       account.from,
		to:         recipients,
		subject:    replySubject(given.Subject, a.prefixes),
		messageID:  messageID(&request, account.domain),
		inReplyTo:  given.InReplyTo,
		references: given.References,
		date:       a.now(),
		text:       given.Text,
	}
	var refused error
	err = account.send(ctx, letter, func(ctx context.Context) error {
		refused = request.Permit(ctx)
		return refused
	})
	switch {
	case refused != nil:
		return schemas.Result{}, refused
	case err != nil:
		return schemas.Result{}, a.failure(ctx, language, err)
	}
	data, err := schemas.Marshal(Receipt{MessageID: letter.messageID})
	if err != nil {
		return schemas.Result{}, err
	}
	return schemas.Result{Data: data}, nil
}

// refuse is the failure for arguments that no attempt can make right.
func (a *Agent) refuse(language, key string, places ...string) error {
	return &bus.Failure{
		Message:   a.words.Say(language, key, places...),
		Permanent: true,
		Err:       errors.New("the arguments are not those of a mail reply: " + key),
	}
}

// failure puts an error of sending into words.
func (a *Agent) failure(ctx context.Context, language string, err error) error {
	_, unknown := errors.AsType[*unknownError](err)
	if ctx.Err() != nil {
		return &bus.Failure{Unknown: unknown, Err: fmt.Errorf("send a mail: %w", context.Cause(ctx))}
	}
	key, code, permanent := "unreachable", "", false
	if answered, ok := errors.AsType[*replyError](err); ok {
		code, permanent = strconv.Itoa(answered.code), answered.code >= 500
		key = "later"
		if permanent {
			key = "refused"
		}
	}
	return &bus.Failure{
		Message:   a.words.Say(language, key, "{code}", code),
		Permanent: permanent,
		Unknown:   unknown,
		Err:       fmt.Errorf("send a mail: %w", err),
	}
}

// recipientsOf parses the addresses before anything else sees them, so that
// none can hold a line break, a second address or a comment. Repeated addresses
// count once.
func recipientsOf(addresses []schemas.Address) ([]*mail.Address, error) {
	var recipients []*mail.Address
	seen := make(map[string]bool, len(addresses))
	for _, given := range addresses {
		parsed, err := parseAddress(given.Address)
		if err != nil {
			return nil, err
		}
		if key := strings.ToLower(parsed.Address); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		parsed.Name = oneLine(given.Name, nameLimit)
		recipients = append(recipients, parsed)
	}
	return recipients, nil
}

// errAddress reports an address that is not one mailbox (RFC 5321, section 4.1.2).
var errAddress = errors.New("not the address of one mailbox")

// parseAddress accepts "local@domain" and nothing around it.
func parseAddress(text string) (*mail.Address, error) {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Name != "" || parsed.Address != text || len(text) > 254 || strings.ContainsFunc(text, isUnsafe) {
		return nil, errAddress
	}
	return parsed, nil
}
