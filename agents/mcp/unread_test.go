package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/agents/mcp"
)

// withResult gives an answer of the tool echo to "raw" another result, as it is written. Other messages stay.
func withResult(message, result string) string {
	if !strings.Contains(message, `"text":"raw"`) {
		return message
	}
	var answer struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal([]byte(message), &answer) != nil || answer.ID == nil {
		return message
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, answer.ID, result)
}

// answerRaw is a server on standard input and output whose tool echo answers as it is told.
func answerRaw(result string) {
	from, to := io.Pipe()
	go func() {
		_ = newServer("Says it again.").Run(context.Background(), &sdk.IOTransport{Reader: os.Stdin, Writer: to})
	}()
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		_, _ = io.WriteString(os.Stdout, withResult(lines.Text(), result)+"\n")
	}
}

// rawly has the tool echo of a server at a URL answer so: in a stream of events, or as one message.
func rawly(result string, events bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				next.ServeHTTP(w, r)
				return
			}
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			body := answer.Body.String()
			maps.Copy(w.Header(), answer.Header())
			for line := range strings.Lines(body) {
				data, is := strings.CutPrefix(strings.TrimSpace(line), "data: ")
				if changed := withResult(data, result); is && changed != data {
					if body = strings.Replace(body, data, changed, 1); !events {
						w.Header().Set("Content-Type", "application/json")
						body = changed
					}
				}
			}
			w.Header().Del("Content-Length")
			w.WriteHeader(answer.Code)
			_, _ = io.WriteString(w, body)
		})
	}
}

// TestPartsThatCannotBeRead: what is known of an answer counts, what is not is named, and the server goes on.
func TestPartsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ result, text, data, named string }{
		"a kind of the future":     {`{"content":[{"type":"text","text":"found"},{"type":"hologram","x":1}]}`, "found", "", "hologram"},
		"several kinds":            {`{"content":[{"type":"hologram"},{"type":"text","text":"found"},{"type":"smell"},{"type":"smell"}]}`, "found", "", "hologram, smell"},
		"no kind":                  {`{"content":[{"text":"lost"},{"type":"text","text":"found"}]}`, "found", "", "?"},
		"a kind that is no text":   {`{"content":[{"type":7},{"type":"text","text":"found"}]}`, "found", "", "?"},
		"a part that is no object": {`{"content":["lost",null,{"type":"text","text":"found"}]}`, "found", "", "?"},
		"a text that is none":      {`{"content":[{"type":"text","text":5},{"type":"text","text":"found"}]}`, "found", "", "text"},
		"a picture that is none":   {`{"content":[{"type":"image","data":"!","mimeType":"image/png"},{"type":"text","text":"found"}]}`, "found", "", "image"},
		"further members":          {`{"content":[{"type":"text","text":"found","mood":"good"}],"mood":"good"}`, "found", "", ""},
		"nothing that is known":    {`{"content":[{"type":"hologram"}],"structuredContent":{"n":1}}`, "", `{"n":1}`, "hologram"},
		"NaN":                      {`{"content":[{"type":"text","text":"NaN of \"NaN\" \\"}],"structuredContent":{"n":NaN,"all":[1.5,-Infinity,Infinity]}}`, `NaN of "NaN" \`, `{"all":[1.5,"-Infinity","Infinity"],"n":"NaN"}`, "NaN, -Infinity, Infinity"},
		"NaN beside a kind":        {`{"content":[{"type":"hologram","x":NaN},{"type":"text","text":"found"}]}`, "found", "", "hologram"},
	} {
		for way, one := range map[string]*mcp.Agent{
			"stdio": tool(t, "raw:"+c.result, "echo"), "events": remote(t, "echo", rawly(c.result, true)), "a message": remote(t, "echo", rawly(c.result, false)),
		} {
			outcome, err := one.Handle(t.Context(), request(`{"text":"raw"}`), silent)
			if err != nil || outcome.Text != c.text || string(outcome.Data) != c.data {
				t.Errorf("%s by %s: %q %s, %v", name, way, outcome.Text, outcome.Data, err)
				continue
			}
			if named := fmt.Sprint(outcome.Issues); (c.named == "") != (len(outcome.Issues) == 0) || !strings.Contains(named, c.named) {
				t.Errorf("%s by %s: %s, want %s", name, way, named, c.named)
			}
			if again, err := one.Handle(t.Context(), request(`{"text":"well"}`), silent); err != nil || again.Text != "well" {
				t.Errorf("%s by %s, afterwards: %q, %v", name, way, again.Text, err)
			}
		}
	}
}
