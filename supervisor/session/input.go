package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/schemas"
)

// An Input is one thing that happened to a session. Exactly one of the pointers
// is set.
type Input struct {
	Now      time.Time // when it is decided
	Sequence uint64    // in the shard; 0 for a deadline
	Event    schemas.Event
	Agent    string // whose subject it came by: answers, progress and permits
	// References are the artifacts that it names with a grant, which stands nowhere
	// else; Proven those of them whose grant is valid, as whoever can check it says.
	References []schemas.Artifact
	Proven     []string

	Message  *Message
	Response *schemas.ExecutionResponse
	Progress *schemas.ProgressUpdate
	Permit   *schemas.PermitRequest
	Control  *schemas.Control
	// Malformed is an answer that cannot be read; it is in quarantine by then.
	Malformed *schemas.Malformed
	Deadline  *schemas.Deadline
	Grant     *schemas.Grant
	Absence   *schemas.Absence
}

// A Message is a mail or a chat message, as far as deciding goes.
type Message struct {
	Channel        string
	Subject        string
	Text           string
	Language       string          // as the writer says
	Ignore         string          // why nothing answers it; empty for a person's message
	DeliveryStatus *DeliveryStatus // on an answer that was sent; nothing answers it
	Origin         schemas.MailOrigin
	Reply          schemas.Reply
	// Upstream, Tasks and Entities are those of an execution_request.
	Upstream *schemas.Upstream
	Tasks    []schemas.Task // the plan that it brings, or the one task that says more than words
	Entities map[string]string
	Context  *RequestContext
	Files    []schemas.Attachment // that a person has sent with the words
	Author   *schemas.Author      // nil when nobody is named
	Quoted   string               // of earlier messages
	Wordless bool                 // nothing was written but a subject
	Answers  *schemas.Letter      // of ours that it is an answer to; nil when it names none
}

// A Publisher is who has published an input, by its subject: an agent or an adapter.
type Publisher struct {
	Agent   string
	Adapter string
}

// ParseInput takes an event of a shard apart. An error says what is malformed.
func ParseInput(event schemas.Event, by Publisher, sequence uint64) (Input, error) {
	input := Input{Sequence: sequence, Event: event, Agent: by.Agent}
	switch event.Type {
	case schemas.TypeEmailReceived:
		var mail schemas.EmailReceived
		if err := unmarshalValid("email_received", event.Data, &mail); err != nil {
			return input, err
		}
		input.Message = readMail(&mail)
	case schemas.TypeChatReceived:
		var chat schemas.ChatReceived
		if err := unmarshalValid("chat_received", event.Data, &chat); err != nil {
			return input, err
		}
		input.Message = readChat(&chat)
	case schemas.TypeExecutionRequest:
		request, err := schemas.DecodeExecutionRequest(event.Data)
		if err != nil {
			return input, err
		}
		if request.MessageID != event.ID {
			return input, errors.New("the event's id is not its message_id")
		}
		if !schemas.ValidAgentName(request.To) {
			return input, fmt.Errorf("%q is not the name of an agent", request.To)
		}
		input.References = takeFromTasks(request.Payload.Tasks)
		input.Message = readRequest(&event, &request, by.Adapter == schemas.ChannelAgent)
	case schemas.TypeExecutionResponse:
		response, err := schemas.DecodeExecutionResponse(event.Data)
		input.References = takeFromAnswer(&response.Payload)
		input.Response = &response
		return input, err
	case schemas.TypeProgressUpdate:
		progress, err := schemas.DecodeProgressUpdate(event.Data)
		input.Progress = &progress
		return input, err
	case schemas.TypePermitRequest:
		var permit schemas.PermitRequest
		if err := unmarshalValid(schemas.EnvelopeTypePermitRequest, event.Data, &permit); err != nil {
			return input, err
		}
		if permit.MessageID != event.ID {
			return input, errors.New("the event's id is not its message_id")
		}
		input.Permit = &permit
	case schemas.TypeControl:
		var control schemas.Control
		if err := unmarshalValid("control", event.Data, &control); err != nil {
			return input, err
		}
		input.Control = &control
	default:
		return input, fmt.Errorf("type %q is not one that a session takes", event.Type)
	}
	return input, nil
}

// errTooDeep is why an answer that can be read is of no use.
var errTooDeep = errors.New("/payload/result/data is nested too deep to be handed on")

// Usable says what keeps an input that was read from being used.
func (in *Input) Usable() error {
	if in.Response != nil && in.Response.Payload.Result != nil && schemas.Deep(in.Response.Payload.Result.Data) {
		return errTooDeep
	}
	return nil
}

// MalformedInput is the input of an answer by an agent that cannot be read, with the
// request that it names, what is wrong with it, and its id in quarantine.
func MalformedInput(event schemas.Event, agent string, sequence uint64, request, detail, quarantine string) Input {
	return Input{Sequence: sequence, Event: event, Agent: agent, Malformed: &schemas.Malformed{
		Request: request, Detail: cut(detail, maxDetail), Quarantine: quarantine,
	}}
}

// unmarshalValid reads a message that its schema accepts.
func unmarshalValid(schema string, body []byte, into any) error {
	if err := schemas.Validate(schema, body); err != nil {
		return err
	}
	return schemas.Unmarshal(body, into)
}

// The agents that deliver answers.
const (
	MailAgent = "mail"
	ChatAgent = "chat"
)

func readMail(mail *schemas.EmailReceived) *Message {
	message := &Message{Channel: schemas.ChannelEmail, Subject: cut(mail.Subject, maxLine), Text: mailText(mail), Language: mail.Language, Origin: mail.Origin, Answers: mail.Answers, Wordless: strings.TrimSpace(mail.Text) == ""}
	for i := range mail.Attachments {
		message.Files = append(message.Files, mail.Attachments[i].Attachment)
	}
	message.Quoted = strings.TrimSpace(mail.Quoted)
	if len(mail.From) > 0 && len(mail.From[0].Address) <= maxLine {
		message.Author = &schemas.Author{Name: cut(mail.From[0].Name, maxLine), Address: mail.From[0].Address}
	}
	if mail.Class != schemas.MailHuman {
		message.Ignore = string(mail.Class)
	}
	if mail.Class == schemas.MailBounce && mail.Bounce != nil {
		message.DeliveryStatus = &DeliveryStatus{MessageID: mail.Bounce.MessageID, Recipient: mail.Bounce.Recipient, Action: mail.Bounce.Action, Status: mail.Bounce.Status}
	}
	recipient, ok := recipientOf(mail)
	switch {
	case !ok || mail.Suppress:
		return message
	case fromProgram(recipient.Address):
		message.Ignore = cmp.Or(message.Ignore, string(schemas.MailBounce))
		return message
	}
	message.Reply = schemas.Reply{
		Agent: MailAgent, Account: mail.Account, To: []schemas.Address{recipient}, Cc: others(mail, recipient.Address),
		Subject: message.Subject, InReplyTo: identifier(mail.MessageID), References: thread(ancestors(mail), mail.MessageID),
	}
	return message
}

// mailText are what a mail says: its new text, below its subject when the mail
// begins a conversation, because people put half the question there.
func mailText(mail *schemas.EmailReceived) string {
	text := strings.TrimSpace(mail.Text)
	begins := mail.InReplyTo == "" && len(mail.References) == 0
	if subject := strings.TrimSpace(mail.Subject); subject != "" && (begins || text == "") {
		return strings.TrimSpace(subject + "\n\n" + text)
	}
	return text
}

// Bounds of what a mail contributes to records: a line has at most 998 bytes
// (RFC 5322, section 2.1.1), and a thread carries on this many ids.
const (
	maxLine       = 998
	maxReferences = 20
)

// identifier drops an id that no mail system could have made.
func identifier(id string) string {
	if len(id) > maxLine {
		return ""
	}
	return id
}

// ancestors are the ids that a mail says it follows, the root of its conversation
// first, so that an answer to our answer finds the way back (RFC 5322, section 3.6.4).
func ancestors(mail *schemas.EmailReceived) []string {
	if root := cmp.Or(mail.InReplyTo, mail.Thread); len(mail.References) == 0 && root != "" {
		return []string{root}
	}
	return mail.References
}

// thread lists the ids of a thread for an answer: of a long one, the root and
// the newest (RFC 5322, section 3.6.4).
func thread(references []string, id string) []string {
	var ids []string
	for _, reference := range append(slices.Clone(references), id) {
		if reference = identifier(reference); reference != "" {
			ids = append(ids, reference)
		}
	}
	if len(ids) <= maxReferences {
		return ids
	}
	return append(ids[:1:1], ids[len(ids)-maxReferences+1:]...)
}

func readChat(chat *schemas.ChatReceived) *Message {
	message := &Message{
		Channel: schemas.ChannelChat, Text: strings.TrimSpace(chat.Text), Language: chat.Language,
		Files: slices.Clone(chat.Attachments),
		Reply: schemas.Reply{
			Agent: ChatAgent, Provider: chat.Provider, Tenant: chat.Tenant,
			Channel: chat.Channel, Thread: chat.Thread, InReplyTo: chat.MessageID, ReplyRef: chat.ReplyRef,
		},
	}
	if chat.User != (schemas.ChatUser{}) {
		message.Author = &schemas.Author{Name: cut(chat.User.Name, maxLine), User: cut(chat.User.ID, maxLine)}
	}
	return message
}

// Content returns what a Content that points at this input stands for, whole: a
// handleMessage's words or an answer's result.
func (in *Input) Content() schemas.Result {
	switch {
	case in.Message != nil && in.Message.Tasks == nil && in.Message.Files == nil:
		return schemas.Result{Text: in.Message.Text}
	case in.Message != nil:
		content := struct {
			Tasks       []schemas.Task       `json:"tasks,omitzero"`
			Attachments []schemas.Attachment `json:"attachments,omitzero"`
		}{in.Message.Tasks, in.Message.Files}
		body, err := schemas.Marshal(content)
		if err != nil {
			body = nil // what was read as JSON can be written as JSON
		}
		return schemas.Result{Text: in.Message.Text, Data: body}
	case in.Response != nil && in.Response.Payload.Result != nil:
		return *in.Response.Payload.Result
	case in.Control != nil:
		return schemas.Result{Text: in.Control.Words()}
	}
	return schemas.Result{}
}

// maxMediaType bounds a media type, in bytes (RFC 6838, section 4.2).
const maxMediaType = 255

// referTo points at the input's text, however small it is.
func referTo(result schemas.Result, sequence uint64) schemas.Content {
	return schemas.Content{Sequence: sequence, Size: len(result.Text)}
}

// inlineOrReferTo keeps a result in place when it is small, else points at the input.
func inlineOrReferTo(result schemas.Result, sequence uint64) schemas.Content {
	if len(result.MediaType) > maxMediaType {
		result.MediaType = ""
	}
	if len(result.Text)+len(result.Data) <= schemas.RecordInlineLimit {
		return schemas.Content{Result: result}
	}
	return schemas.Content{Result: schemas.Result{MediaType: result.MediaType}, Sequence: sequence, Size: len(result.Text)}
}
