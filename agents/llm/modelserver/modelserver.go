// Package modelserver stands in for a server of language models in tests: it speaks chat completions, also as a
// stream, and misbehaves in every way that servers and models do.
package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A Call is one request to the server.
type Call struct {
	Number        int // 1 is the first
	Authorization string
	APIKey        string // as Azure has it
	APIVersion    string
	Model         string
	System, User  string
	Images        []string // as URLs
	Stream        bool
	Temperature   *float64
	MaxTokens     int
	Schema        string // that the answer shall be held to; empty is none
	Strict        bool
	Body          string
}

// Block returns what stands between the marks behind a name in the user's message; blocks of the same name are joined.
func (c *Call) Block(name string) string {
	var found []string
	for _, match := range regexp.MustCompile(`(?s)(?:^|\n)`+name+`:\n<data-([A-Z2-7]+)>\n(.*?)\n</data-([A-Z2-7]+)>`).FindAllStringSubmatch(c.User, -1) {
		found = append(found, match[2])
	}
	return strings.Join(found, "\n")
}

// Unmarked is the user's message without all that stands between marks.
func (c *Call) Unmarked() string {
	return regexp.MustCompile(`(?s)<data-([A-Z2-7]+)>\n.*?\n</data-[A-Z2-7]+>`).ReplaceAllString(c.User, "")
}

// IsProbe reports whether the call tries out whether the server enforces schemas.
func (c *Call) IsProbe() bool { return strings.Contains(c.Schema, `"const"`) }

// An Answer is what the server says.
type Answer struct {
	Text string
	// Finish is finish_reason; "stop" when empty.
	Finish string
	// Tokens are reported as usage, unless there are none.
	Tokens int
	// Tool is a tool that the model calls, though it was given none.
	Tool string
	// Status is that of a failing server, which repeats all headers of the request.
	Status int
	// RetryAfter is a header of that name; empty is none.
	RetryAfter string
	// Truncated ends the answer without a finish_reason, as if it were whole.
	Truncated bool
	// Broken ends the connection inside of the answer.
	Broken bool
	// Silent says nothing more after the header, or after the first word of a stream.
	Silent bool
	// Pause is waited for in the midst of a stream, unless it is nil.
	Pause <-chan struct{}
	// Raw is the whole body, whatever it is.
	Raw string
}

// Obeying answers a call to the letter of the schema's constants, as a server that enforces does a probe.
func Obeying(call *Call) Answer {
	var schema struct {
		Properties map[string]struct {
			Const string `json:"const"`
		} `json:"properties"`
	}
	_ = json.Unmarshal([]byte(call.Schema), &schema)
	made := map[string]string{}
	for name, property := range schema.Properties {
		made[name] = property.Const
	}
	body, _ := json.Marshal(made)
	return Answer{Text: string(body)}
}

// A Server is one at an address of this machine.
type Server struct {
	URL   string // with /v1
	Azure string // what a resource of Azure is addressed by

	mu    sync.Mutex
	calls []Call
	end   chan struct{}
}

// Start runs a server until the test ends.
func Start(tb testing.TB, answer func(*Call) Answer) *Server {
	tb.Helper()
	s := &Server{end: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, answer) }))
	tb.Cleanup(func() {
		close(s.end)
		server.CloseClientConnections()
		server.Close()
	})
	s.URL, s.Azure = server.URL+"/v1", server.URL
	return s
}

// Calls are all so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

type sent struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	Stream              bool     `json:"stream"`
	Temperature         *float64 `json:"temperature"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	ResponseFormat      *struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (s *Server) call(r *http.Request) (*Call, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var asked sent
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.Messages) != 2 {
		return nil, fmt.Errorf("%d messages: %w", len(asked.Messages), err)
	}
	made := Call{
		Authorization: r.Header.Get("Authorization"), APIKey: r.Header.Get("api-key"), APIVersion: r.URL.Query().Get("api-version"), Model: asked.Model, Stream: asked.Stream, Temperature: asked.Temperature,
		MaxTokens: asked.MaxTokens + asked.MaxCompletionTokens, System: words(asked.Messages[0].Content), User: words(asked.Messages[1].Content), Body: string(body),
	}
	if parts, is := asked.Messages[1].Content.([]any); is {
		for _, part := range parts {
			if shown, is := part.(map[string]any)["image_url"].(map[string]any); is {
				made.Images = append(made.Images, fmt.Sprint(shown["url"]))
			}
		}
	}
	if asked.ResponseFormat != nil {
		made.Schema, made.Strict = string(asked.ResponseFormat.JSONSchema.Schema), asked.ResponseFormat.JSONSchema.Strict
	}
	if deployed := azurePath.FindStringSubmatch(r.URL.Path); deployed != nil {
		made.Model = deployed[1]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made.Number = len(s.calls) + 1
	s.calls = append(s.calls, made)
	return &made, nil
}

// words are those of a message, which may have parts.
func words(content any) string {
	if text, is := content.(string); is {
		return text
	}
	parts, _ := content.([]any)
	for _, part := range parts {
		if told, is := part.(map[string]any); is && told["type"] == "text" {
			return fmt.Sprint(told["text"])
		}
	}
	return ""
}

// azurePath names a deployment.
var azurePath = regexp.MustCompile(`^/openai/deployments/([^/]+)/chat/completions$`)

func (s *Server) serve(w http.ResponseWriter, r *http.Request, answer func(*Call) Answer) {
	azure := azurePath.MatchString(r.URL.Path) && r.URL.Query().Has("api-version")
	if r.URL.Path != "/v1/chat/completions" && !azure || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	call, err := s.call(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	said := answer(call)
	switch {
	case said.Status != 0:
		headers, _ := json.Marshal(r.Header)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "http://127.0.0.1:1/")
		if said.RetryAfter != "" {
			w.Header().Set("Retry-After", said.RetryAfter)
		}
		w.WriteHeader(said.Status)
		fmt.Fprintf(w, `{"error": {"message": %q, "type": "x", "code": %q}}`, headers, call.Authorization)
	case said.Raw != "":
		_, _ = io.WriteString(w, said.Raw)
	case call.Stream:
		s.stream(w, r, &said)
	default:
		s.whole(w, r, &said)
	}
}

func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.end:
	}
}

func (a *Answer) finish() any {
	switch {
	case a.Truncated:
		return nil
	case a.Finish == "" && a.Tool != "":
		return "tool_calls"
	case a.Finish == "":
		return "stop"
	}
	return a.Finish
}

func (a *Answer) tools() []any {
	if a.Tool == "" {
		return nil
	}
	return []any{map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": a.Tool, "arguments": "{}"}}}
}

func (s *Server) whole(w http.ResponseWriter, r *http.Request, said *Answer) {
	message := map[string]any{"role": "assistant", "content": said.Text}
	if tools := said.tools(); tools != nil {
		message["tool_calls"], message["content"] = tools, nil
	}
	made := map[string]any{
		"id": "c", "object": "chat.completion", "created": 1, "model": "m",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": said.finish()}},
	}
	if said.Tokens > 0 {
		made["usage"] = map[string]any{"prompt_tokens": said.Tokens - 1, "completion_tokens": 1, "total_tokens": said.Tokens}
	}
	body, _ := json.Marshal(made)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case said.Silent:
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		s.wait(r)
	case said.Broken:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body[:len(body)/2])
	default:
		_, _ = w.Write(body)
	}
}

// pieces are the words of a text, or less of them when there are many.
func pieces(text string) []string {
	const many = 1 << 16
	words := strings.SplitAfter(text, " ")
	if len(words) < many {
		return words
	}
	var made []string
	for ; len(text) > many; text = text[many:] {
		made = append(made, text[:many])
	}
	return append(made, text)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, said *Answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(choices []any, usage any) {
		made := map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
		if usage != nil {
			made["usage"] = usage
		}
		body, _ := json.Marshal(made)
		fmt.Fprintf(w, "data: %s\n\n", body)
		_ = http.NewResponseController(w).Flush()
	}
	delta := func(delta map[string]any, finish any) {
		event([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	words := pieces(said.Text)
	for i, word := range words {
		if i == len(words)/2 && said.Pause != nil {
			select {
			case <-said.Pause:
			case <-r.Context().Done():
				return
			case <-s.end:
				return
			}
		}
		delta(map[string]any{"content": word}, nil)
		if i == 0 && said.Silent {
			s.wait(r)
			return
		}
		if i == 0 && said.Broken {
			panic(http.ErrAbortHandler)
		}
	}
	if tools := said.tools(); tools != nil {
		delta(map[string]any{"tool_calls": tools}, nil)
	}
	if !said.Truncated {
		delta(map[string]any{}, said.finish())
	}
	if said.Tokens > 0 {
		event([]any{}, map[string]any{"prompt_tokens": said.Tokens - 1, "completion_tokens": 1, "total_tokens": said.Tokens})
	}
	if !said.Truncated {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}
