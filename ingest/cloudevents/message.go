package cloudevents

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"
	"github.com/go-json-experiment/json/jsontext"

	"podium/ingest/problem"
	"podium/schemas"
	"podium/schemas/pointer"
	"podium/schemas/validation"
)

// provider is what the events of this adapter are called where answers go: no
// credential of a chat channel opens their runs, and nobody is called with them.
const provider = "http"

// defaultText is where the words are when a type says nothing else.
const defaultText = "/text"

// maxReadable bounds a key that stands in the ledger as it is, in bytes; a longer
// one stands there as its hash.
const maxReadable = 256

// ledgerEvent turns an event from outside into the one that the ledger keeps.
func (d *Adapter) ledgerEvent(from *source, e *event.Event, header http.Header) (schemas.Event, *Fault) {
	if extension(e, attrKeyID) != "" {
		return schemas.Event{}, &Fault{Attribute: attrKeyID, Detail: "the data is encrypted, and no such data is taken"}
	}
	taken, ok := from.Types[e.Type()]
	if !ok {
		return schemas.Event{}, &Fault{Attribute: attrType, Detail: "the source is not configured to take events of this type"}
	}
	made := schemas.Event{
		Source: "/podium/http/" + from.name, Time: cmp.Or(e.Time(), d.config.Now().UTC()),
		Profile: from.Profile, DataContentType: schemas.MediaTypeJSON,
		TraceParent: cmp.Or(schemas.TraceParent(extension(e, "traceparent")), schemas.TraceParent(header.Get("Traceparent"))),
	}
	if e.Type() == schemas.TypeExecutionRequest {
		return made, d.plan(from, e, &made)
	}
	return made, taken.message(from, e, &made)
}

// message fills in what a session takes as somebody's words.
func (t *Type) message(from *source, e *event.Event, made *schemas.Event) *Fault {
	text, fault := t.words(e)
	if fault != nil {
		return fault
	}
	key, fault := t.partition(e)
	if fault != nil {
		return fault
	}
	thread := cmp.Or(key, e.ID())
	if len(thread) > maxReadable {
		thread = "sha256:" + digest(thread)
	}
	data, err := schemas.Marshal(schemas.ChatReceived{
		Provider: provider, Channel: provider + "/" + from.name, Thread: thread, MessageID: e.ID(), Text: text,
	})
	if err != nil {
		return &Fault{Attribute: attrData, Detail: "the words cannot be written as JSON"}
	}
	identity := digest(e.Source(), e.ID())
	made.ID, made.Type, made.Data = provider+":"+from.name+":"+identity, schemas.TypeChatReceived, data
	made.PartitionKey = from.conversation(key, identity)
	return nil
}

// conversation names a conversation inside a source, so that no sender reaches into
// one of somebody else.
func (s *source) conversation(key, identity string) string {
	switch escaped := url.PathEscape(key); {
	case key == "":
		return provider + "/" + s.name + "/event/" + identity
	case len(escaped) <= maxReadable:
		return provider + "/" + s.name + "/key/" + escaped
	default:
		return provider + "/" + s.name + "/sha256/" + digest(key)
	}
}

// plan fills in an execution_request, as it is. It is refused when it is not
// addressed to the supervisor: the run answers in the name of whom it is addressed to.
func (d *Adapter) plan(from *source, e *event.Event, made *schemas.Event) *Fault {
	if mediaType, _ := dataMedia(e); mediaType != schemas.MediaTypeJSON {
		return &Fault{Attribute: attrContentType, Detail: "an execution_request is " + schemas.MediaTypeJSON, format: true}
	}
	if err := schemas.Validate(schemas.EnvelopeTypeExecutionRequest, e.Data()); err != nil {
		fault := &Fault{Attribute: attrData, Detail: "it is not an execution_request"}
		if invalid, ok := errors.AsType[*validation.Error](err); ok {
			fault.Pointer, fault.Detail = problem.Fragment(invalid.Pointer), invalid.Reason
		}
		return fault
	}
	request, err := schemas.DecodeExecutionRequest(e.Data())
	switch {
	case err != nil:
		return &Fault{Attribute: attrData, Detail: "it is not an execution_request"}
	case request.MessageID != e.ID():
		return &Fault{Attribute: attrID, Detail: "it is not the message_id of the execution_request"}
	case request.To != d.config.Supervisor:
		return &Fault{Attribute: attrData, Pointer: "#/to", Detail: "it must be addressed to " + strconv.Quote(d.config.Supervisor)}
	}
	if kind, question := request.Undeclared(schemas.KindWork); question {
		return &Fault{Attribute: attrData, Pointer: "#/payload/tasks", Detail: "a supervisor takes work, and answers no requests of kind " + string(kind)}
	}
	made.ID, made.Type, made.Data = e.ID(), e.Type(), e.Data()
	made.CorrelationID, made.EffectID = extension(e, "correlationid"), extension(e, "effectid")
	made.PartitionKey = from.conversation(cmp.Or(made.EffectID, extension(e, attrPartitionKey), e.ID()), "")
	if attempt := extension(e, "attempt"); attempt != "" {
		number, err := strconv.ParseUint(attempt, 10, 31)
		if err != nil {
			return &Fault{Attribute: "attempt", Detail: "it is not a whole number"}
		}
		made.Attempt = int(number) //nolint:gosec // 31 bits
	}
	if expires := extension(e, "expires"); expires != "" {
		var ok bool
		if made.Expires, ok = parseTime(expires); !ok {
			return &Fault{Attribute: "expires", Detail: "it is not a time by RFC 3339, such as 2026-01-31T12:00:00Z"}
		}
	}
	return nil
}

// words are what an event says.
func (t *Type) words(e *event.Event) (string, *Fault) {
	mediaType, parameters := dataMedia(e)
	var text string
	switch {
	case len(e.Data()) == 0:
		return "", &Fault{Attribute: attrData, Detail: "there is none, so there are no words"}
	case isJSON(mediaType) && isUTF8(parameters):
		var fault *Fault
		if text, fault = t.pointed(e.Data()); fault != nil {
			return "", fault
		}
	case strings.HasPrefix(mediaType, "text/") && isUTF8(parameters):
		if !utf8.Valid(e.Data()) {
			return "", &Fault{Attribute: attrData, Detail: "it is not UTF-8"}
		}
		text = string(e.Data())
	default:
		return "", &Fault{Attribute: attrContentType, Detail: "the words are read from JSON or from text, in UTF-8", format: true}
	}
	if strings.TrimSpace(text) == "" {
		return "", &Fault{Attribute: attrData, Detail: "there are no words where the type's configuration looks for them"}
	}
	return text, nil
}

// pointed joins what the type's pointers lead to.
func (t *Type) pointed(data []byte) (string, *Fault) {
	if !jsontext.Value(data).IsValid() {
		return "", &Fault{Attribute: attrData, Detail: "it is not JSON"}
	}
	pointers := t.Text
	if len(pointers) == 0 {
		pointers = []string{defaultText}
	}
	var found []string
	for _, at := range pointers {
		value, _ := pointer.Value(data, jsontext.Pointer(at))
		if said := strings.TrimSpace(plain(value)); said != "" {
			found = append(found, said)
		}
	}
	return strings.Join(found, "\n\n"), nil
}

// partition is the conversation that an event names; empty when it names none.
func (t *Type) partition(e *event.Event) (string, *Fault) {
	if t.PartitionKey == "" {
		return extension(e, attrPartitionKey), nil
	}
	value := jsontext.Value(nil)
	if mediaType, _ := dataMedia(e); isJSON(mediaType) {
		value, _ = pointer.Value(e.Data(), jsontext.Pointer(t.PartitionKey))
	}
	key := plain(value)
	if kind := value.Kind(); key == "" || kind != '"' && kind != '0' || len(key) > maxAttribute {
		return "", &Fault{Attribute: attrData, Pointer: problem.Fragment(t.PartitionKey), Detail: "text or a number is expected here: it names the conversation"}
	}
	return key, nil
}

// plain is a value in words: a string's characters, nothing for null, else JSON.
func plain(value jsontext.Value) string {
	switch value.Kind() {
	case '"':
		var text string
		if schemas.Unmarshal(value, &text) != nil {
			return ""
		}
		return text
	case 'n', 0:
		return ""
	default:
		return string(value)
	}
}

// extension is the canonical text of an extension attribute; empty when it is absent.
func extension(e *event.Event, name string) string {
	value, ok := e.Extensions()[name]
	if !ok {
		return ""
	}
	text, err := types.Format(value)
	if err != nil {
		return "" // the event holds only what can be written
	}
	return text
}

// digest is a hash over values that may hold anything but NUL.
func digest(values ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(values, "\x00")))
	return hex.EncodeToString(sum[:])
}
