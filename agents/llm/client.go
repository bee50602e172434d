package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	nethttp "net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sashabaranov/go-openai"
)

// A model answers chats. Its errors hold nothing that a server has said.
type model interface {
	// complete asks for the answer in one piece.
	complete(ctx context.Context, chat chat) (completion, error)
	// stream tells, whenever there is more, what the answer says so far.
	stream(ctx context.Context, chat chat, tell func(text string)) (completion, error)
}

// A chat is what a model is asked.
type chat struct {
	system, user string
	images       []string // that the user shows, as data URLs
	format       *format  // of the answer, if the server is to enforce it
	temperature  float64
	maxTokens    int // of the answer; 0 is as the server likes
}

// A format is a schema that a server is asked to hold an answer to.
type format struct {
	name   string
	schema jsontext.Value
	strict bool
}

// A completion is what a model has answered.
type completion struct {
	text   string
	finish finish
	tokens int // of question and answer; 0 if the server does not say
}

// finish is why an answer has ended. The empty one says that it has not.
type finish string

const (
	finishLength   finish = "length"
	finishFiltered finish = "content_filter"
)

var (
	errBroken   = errors.New("what the server of the model answered is no chat completion, or not the whole of one")
	errTooLarge = errors.New("the answer of the model is too large")
)

// maxAnswer bounds the words of an answer, in bytes.
const maxAnswer = 2 << 20

// openAI speaks to a server by its chat completions.
type openAI struct {
	client *openai.Client
	model  string
	bare   atomic.Bool // the server refuses to be asked for the usage of a stream
}

// maxComments is how many lines without data a stream may have between two with some: servers say so that they are alive.
const maxComments = 1 << 16

func newOpenAI(asked *Config) *openAI {
	config := openai.DefaultConfig(asked.Key)
	config.BaseURL = asked.BaseURL
	if asked.API == APIAzure {
		config.APIType, config.APIVersion = openai.APITypeAzure, asked.APIVersion
	}
	guarded := *asked.Client
	guarded.Transport = transport{asked.Client.Transport}
	config.HTTPClient, config.EmptyMessagesLimit = &guarded, maxComments
	return &openAI{client: openai.NewClientWithConfig(config), model: asked.Model}
}

func (o *openAI) request(chat *chat) openai.ChatCompletionRequest {
	request := openai.ChatCompletionRequest{
		Model: o.model, Temperature: max(float32(chat.temperature), almostZero),
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: chat.system}, {Role: openai.ChatMessageRoleUser, Content: chat.user},
		},
	}
	if len(chat.images) > 0 {
		parts := []openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: chat.user}}
		for _, image := range chat.images {
			parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: image}})
		}
		request.Messages[1].Content, request.Messages[1].MultiContent = "", parts
	}
	if chat.format != nil {
		request.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: chat.format.name, Schema: raw(chat.format.schema), Strict: chat.format.strict},
		}
	}
	request.MaxTokens = chat.maxTokens                           //nolint:staticcheck // most servers know no other name
	if openai.NewReasoningValidator().Validate(request) != nil { // a model that refuses both
		request.MaxTokens = 0 //nolint:staticcheck // as above
		request.Temperature, request.MaxCompletionTokens = 0, chat.maxTokens
	}
	return request
}

// raw is JSON as it is.
type raw jsontext.Value

// MarshalJSON implements json.Marshaler.
func (r raw) MarshalJSON() ([]byte, error) { return r, nil }

func (o *openAI) complete(ctx context.Context, chat chat) (completion, error) {
	answered, err := o.client.CreateChatCompletion(ctx, o.request(&chat))
	if err != nil {
		return completion{}, plain(err)
	}
	if len(answered.Choices) == 0 {
		return completion{}, errBroken
	}
	choice := &answered.Choices[0]
	made := completion{choice.Message.Content, finish(choice.FinishReason), answered.Usage.TotalTokens}
	return ended(made, choice.Message.Refusal != "")
}

func (o *openAI) stream(ctx context.Context, chat chat, tell func(text string)) (completion, error) {
	stream, err := o.open(ctx, o.request(&chat))
	if err != nil {
		return completion{}, plain(err)
	}
	defer func() { _ = stream.Close() }()
	var made completion
	var text strings.Builder
	refused := false
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			made.text = text.String()
			return ended(made, refused)
		}
		if err != nil {
			return completion{}, plain(err)
		}
		if chunk.Usage != nil {
			made.tokens = chunk.Usage.TotalTokens
		}
		if len(chunk.Choices) == 0 || chunk.Choices[0].Index != 0 {
			continue
		}
		made.finish = max(made.finish, finish(chunk.Choices[0].FinishReason))
		refused = refused || chunk.Choices[0].Delta.Refusal != ""
		delta := chunk.Choices[0].Delta.Content
		if text.Len()+len(delta) > maxAnswer {
			return completion{}, errTooLarge
		}
		if delta != "" {
			text.WriteString(delta)
			tell(text.String())
		}
	}
}

// open begins a stream, with the usage at its end if the server knows of that: some refuse what they do not know.
func (o *openAI) open(ctx context.Context, request openai.ChatCompletionRequest) (*openai.ChatCompletionStream, error) {
	if !o.bare.Load() {
		request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		stream, err := o.client.CreateChatCompletionStream(ctx, request)
		if refused, is := errors.AsType[*statusError](err); !is || !refused.misunderstood() {
			return stream, err
		}
		request.StreamOptions = nil
	}
	stream, err := o.client.CreateChatCompletionStream(ctx, request)
	if err == nil {
		o.bare.Store(true)
	}
	return stream, err
}

// ended refuses an answer that says of itself that it goes on: a stream that is cut off ends like any other. A refusal
// in place of words is filtered, no matter which reason the server gives for its end.
func ended(made completion, refused bool) (completion, error) {
	if made.finish == "" || made.finish == "null" {
		return completion{tokens: made.tokens}, errBroken
	}
	if len(made.text) > maxAnswer {
		return completion{}, errTooLarge
	}
	if refused && strings.TrimSpace(made.text) == "" {
		made.finish = finishFiltered
	}
	return made, nil
}

// plain leaves out of an error what a server has said, and the URL.
func plain(err error) error {
	if failed, ok := errors.AsType[*statusError](err); ok {
		return failed
	}
	if failed, ok := errors.AsType[*bodyError](err); ok {
		return failed.error
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return errBroken
}

// A transport keeps what a failing server says from being read, and knows errors of the connection from those of the words.
type transport struct{ next nethttp.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *nethttp.Request) (*nethttp.Response, error) {
	next := t.next
	if next == nil {
		next = nethttp.DefaultTransport
	}
	request, err := withZero(request)
	if err != nil {
		return nil, err
	}
	response, err := next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != nethttp.StatusOK {
		_ = response.Body.Close()
		return nil, &statusError{status: response.StatusCode, after: retryAfter(response.Header.Get("Retry-After"))}
	}
	response.Body = newPartsReader(body{response.Body}, request.Header.Get("Accept") == "text/event-stream")
	return response, nil
}

// body marks errors of reading it.
type body struct{ io.ReadCloser }

// Read implements io.Reader.
func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &bodyError{err}
	}
	return n, err
}

// A bodyError is a connection that broke while an answer came.
type bodyError struct{ error }

func (b *bodyError) Unwrap() error { return b.error }

// almostZero stands for a temperature of 0, which the library leaves out, so that the server would take its own.
const almostZero = math.SmallestNonzeroFloat32

// withZero puts 0 for it: some servers raise what is almost 0. No word of a message can look like it, since quotes
// in one are escaped.
func withZero(request *nethttp.Request) (*nethttp.Request, error) {
	sent, err := io.ReadAll(request.Body)
	_ = request.Body.Close()
	if err != nil {
		return nil, err
	}
	sent = bytes.Replace(sent, []byte(`"temperature":1e-45`), []byte(`"temperature":0`), 1)
	exact := request.Clone(request.Context())
	exact.Body, exact.ContentLength, exact.GetBody = io.NopCloser(bytes.NewReader(sent)), int64(len(sent)), nil
	return exact, nil
}
