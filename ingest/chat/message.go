package chat

import (
	"errors"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/schemas"
)

// Provider is what this door writes into ChatReceived.Provider.
const Provider = "webhook"

// maxName bounds ids and names, in bytes: they become attributes of the event.
const maxName = 256

// A Message is the body of a POST. Only Text is required.
type Message struct {
	Text      string           `json:"text"`
	MessageID string           `json:"message_id"` // the sender's id of the message, unique in the channel
	Thread    string           `json:"thread"`     // the conversation; a message without one begins its own
	Tenant    string           `json:"tenant"`     // workspace or team
	User      schemas.ChatUser `json:"user"`
	Language  string           `json:"language"` // BCP 47; guessed from the text when empty
}

// decodeMessage reads a body and says at which place it is wrong.
func decodeMessage(body []byte) (Message, *ProblemPlace) {
	var message Message
	if err := schemas.Unmarshal(body, &message); err != nil {
		return Message{}, placeOf(err)
	}
	if strings.TrimSpace(message.Text) == "" {
		return Message{}, &ProblemPlace{Detail: "text is required and must not be blank", Pointer: "#/text"}
	}
	for _, field := range [...]struct{ pointer, value string }{
		{"#/message_id", message.MessageID},
		{"#/thread", message.Thread},
		{"#/tenant", message.Tenant},
		{"#/user/id", message.User.ID},
		{"#/user/name", message.User.Name},
		{"#/language", message.Language},
	} {
		if wrong := wrongName(field.value); wrong != "" {
			return Message{}, &ProblemPlace{Detail: wrong, Pointer: field.pointer}
		}
	}
	return message, nil
}

// wrongName says what is wrong with an id or a name; nothing when it is empty.
func wrongName(name string) string {
	switch {
	case len(name) > maxName:
		return "at most " + strconv.Itoa(maxName) + " bytes are allowed"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "control characters are not allowed"
	}
	return ""
}

// placeOf tells a person where JSON is wrong, without naming Go's types.
func placeOf(err error) *ProblemPlace {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		want := "a value of another kind"
		if semantic.GoType != nil {
			switch semantic.GoType.Kind() {
			case reflect.String:
				want = "a string"
			case reflect.Struct:
				want = "an object"
			}
		}
		return &ProblemPlace{Detail: want + " is expected here", Pointer: fragment(semantic.JSONPointer)}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		detail := "not valid JSON at byte " + strconv.FormatInt(syntactic.ByteOffset, 10) + ": " + syntactic.Err.Error()
		return &ProblemPlace{Detail: detail, Pointer: fragment(syntactic.JSONPointer)}
	}
	return &ProblemPlace{Detail: "not a JSON object", Pointer: "#"}
}

func fragment(pointer jsontext.Pointer) string {
	return "#" + (&url.URL{Path: string(pointer)}).EscapedPath()
}

// traceParent matches the version of the header that is defined (W3C Trace Context, section 3.2).
var traceParent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// An envelope is what a request says about its message outside the body.
type envelope struct {
	channel     string
	profile     string
	id          string // the sender's id of the delivery; may be empty
	traceParent string
	now         time.Time
}

// event turns a message into the event that the ledger keeps. Named reports
// whether its id comes from the sender, so that a repeat has the same one.
func (m *Message) event(from envelope) (event schemas.Event, named bool, err error) {
	id := from.id
	if id == "" {
		id = m.MessageID
	}
	if named = id != ""; !named {
		id = uuid.NewString()
	}
	received := schemas.ChatReceived{
		Provider: Provider, Tenant: m.Tenant, Channel: from.channel, Thread: m.Thread,
		MessageID: m.MessageID, User: m.User, Text: m.Text, Language: m.Language,
	}
	if received.MessageID == "" {
		received.MessageID = id
	}
	if received.Thread == "" {
		received.Thread = received.MessageID
	}
	data, err := schemas.Marshal(received)
	if err != nil {
		return schemas.Event{}, false, err
	}
	event = schemas.Event{
		ID:              "chat:" + from.channel + ":" + id,
		Source:          sourceOf(from.channel),
		Type:            schemas.TypeChatReceived,
		Time:            from.now,
		DataContentType: schemas.MediaTypeJSON,
		PartitionKey:    partitionKey(received),
		Profile:         from.profile,
		Data:            data,
	}
	if traceParent.MatchString(from.traceParent) {
		event.TraceParent = from.traceParent
	}
	return event, named, nil
}

// partitionKey names the conversation: provider, tenant, channel and thread,
// escaped so that no two conversations share a key.
func partitionKey(received schemas.ChatReceived) string {
	parts := []string{received.Provider, received.Tenant, received.Channel, received.Thread}
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}
