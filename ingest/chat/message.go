package chat

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/ingest/problem"
	"podium/ingest/runs"
	"podium/ingest/webhook"
	"podium/schemas"
)

// maxName bounds ids and names, in bytes: they become attributes of the event.
const maxName = 256

// maxBatch bounds the messages of one request.
const maxBatch = 100

// A standard takes the messages of any sender that speaks Standard Webhooks 1.0, or bears
// a token: the provider webhook.
type standard struct{ *webhook.Verifier }

// A Posted is one message in the body of a POST to a channel of the provider
// webhook. Only Text is required.
type Posted struct {
	Text      string           `json:"text"`
	MessageID string           `json:"message_id"` // the sender's id of the message, unique in the channel
	Thread    string           `json:"thread"`     // the conversation; a message without one begins its own
	Tenant    string           `json:"tenant"`     // workspace or team
	User      schemas.ChatUser `json:"user"`
	Language  string           `json:"language"` // BCP 47; guessed from the text when empty
	// Attachments are files that came along: at most MaxFiles, and MaxFileBytes together.
	Attachments []PostedFile `json:"attachments"`
}

// Handshake implements Provider: Standard Webhooks has none.
func (*standard) Handshake([]byte, http.Header) *Response { return nil }

// Normalize implements Provider: the body is one message, or a list of them.
func (*standard) Normalize(body []byte, header http.Header) ([]Message, error) {
	if !isJSON(header) {
		return nil, problemMediaType()
	}
	delivery := header.Get(webhook.HeaderID)
	if wrong := wrongName(delivery); wrong != "" {
		return nil, problemWebhookID(wrong)
	}
	if jsontext.Value(body).Kind() == '[' {
		return readBatch(body, delivery)
	}
	posted, place := decodePosted(body)
	if place != nil {
		return nil, problemBody(*place)
	}
	if fault := tooMuchText(body, posted.Attachments); fault != nil {
		return nil, fault
	}
	return []Message{posted.message(cmp.Or(delivery, posted.MessageID))}, nil
}

// readBatch reads a list of messages. One that is wrong takes no other one along.
func readBatch(body []byte, delivery string) ([]Message, error) {
	var batch []jsontext.Value
	if err := schemas.Unmarshal(body, &batch); err != nil {
		return nil, problemBody(*placeOf(err))
	}
	if len(batch) == 0 || len(batch) > maxBatch {
		return nil, problemBody(ProblemPlace{Detail: "a list has 1 to " + strconv.Itoa(maxBatch) + " messages", Pointer: "#"})
	}
	messages, files := make([]Message, len(batch)), []PostedFile{}
	for i := range batch {
		posted, place := decodePosted(batch[i])
		if place != nil {
			place.Pointer = "#/" + strconv.Itoa(i) + strings.TrimPrefix(place.Pointer, "#")
			messages[i] = Message{Fault: place, inBatch: true}
			continue
		}
		id := posted.MessageID
		if id == "" && delivery != "" {
			id = delivery + "/" + strconv.Itoa(i)
		}
		messages[i] = posted.message(id)
		messages[i].inBatch = true
		files = append(files, posted.Attachments...)
	}
	if fault := tooMuchText(body, files); fault != nil {
		return nil, fault
	}
	return messages, nil
}

func (p *Posted) message(delivery string) Message {
	return Message{Delivery: delivery, files: p.Attachments, ChatReceived: schemas.ChatReceived{
		Tenant: p.Tenant, Thread: p.Thread, MessageID: p.MessageID, User: p.User, Text: p.Text, Language: p.Language,
	}}
}

// decodePosted reads one message and says at which place it is wrong.
func decodePosted(body []byte) (Posted, *ProblemPlace) {
	var message Posted
	if err := schemas.Unmarshal(body, &message); err != nil {
		return Posted{}, placeOf(err)
	}
	if strings.TrimSpace(message.Text) == "" {
		return Posted{}, &ProblemPlace{Detail: "text is required and must not be blank", Pointer: "#/text"}
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
			return Posted{}, &ProblemPlace{Detail: wrong, Pointer: field.pointer}
		}
	}
	if place := checkFiles(message.Attachments); place != nil {
		return Posted{}, place
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
	case !utf8.ValidString(name):
		return "it has to be UTF-8"
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
			case reflect.Slice:
				if want = "a list"; semantic.GoType.Elem().Kind() == reflect.Uint8 {
					want = "base64 (RFC 4648, section 4)"
				}
			}
		}
		return &ProblemPlace{Detail: want + " is expected here", Pointer: problem.Fragment(string(semantic.JSONPointer))}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		detail := "not valid JSON at byte " + strconv.FormatInt(syntactic.ByteOffset, 10) + ": " + syntactic.Err.Error()
		return &ProblemPlace{Detail: detail, Pointer: problem.Fragment(string(syntactic.JSONPointer))}
	}
	return &ProblemPlace{Detail: "not a JSON object", Pointer: "#"}
}

// An envelope is what the adapter says about a message beyond its words.
type envelope struct {
	channel     string
	kind        schemas.ChatProvider
	profile     string
	replyRef    string
	traceParent string
	now         time.Time
}

// event turns a message into the event that the ledger keeps. Named reports
// whether its id comes from the sender, so that a repeat has the same one.
func (m *Message) event(from envelope) (event schemas.Event, named bool, err error) {
	id := m.Delivery
	if named = id != ""; !named {
		id = uuid.NewString()
	}
	received := m.ChatReceived
	received.Provider, received.Channel, received.ReplyRef = string(from.kind), from.channel, from.replyRef
	received.MessageID = cmp.Or(received.MessageID, id)
	received.Thread = cmp.Or(received.Thread, received.MessageID)
	data, err := schemas.Marshal(received)
	if err != nil {
		return schemas.Event{}, false, err
	}
	event = schemas.Event{
		ID:              "chat:" + from.channel + ":" + id,
		Source:          runs.SourceOf(from.channel),
		Type:            schemas.TypeChatReceived,
		Time:            from.now,
		DataContentType: schemas.MediaTypeJSON,
		PartitionKey:    partitionKey(received),
		Profile:         from.profile,
		TraceParent:     schemas.TraceParent(from.traceParent),
		Data:            data,
	}
	return event, named, nil
}

// maxReadable bounds a part of a key that stands on the ledger as it is, in bytes,
// so that the whole is an attribute that the bus takes.
const maxReadable = 256

// partitionKey names the conversation: provider, tenant, channel and thread,
// escaped so that no two conversations share a key. A long part is its hash.
func partitionKey(received schemas.ChatReceived) string {
	parts := []string{received.Provider, received.Tenant, received.Channel, received.Thread}
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
		if len(parts[i]) > maxReadable {
			sum := sha256.Sum256([]byte(part))
			parts[i] = "%sha256%" + hex.EncodeToString(sum[:]) // no part escaped as above begins so
		}
	}
	return strings.Join(parts, "/")
}
