package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"podium/agents/mcp"
	"podium/schemas"
)

// A message is any of the protocol.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name         string          `json:"name"`
		Capabilities json.RawMessage `json:"capabilities"`
	} `json:"params"`
	Result struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	} `json:"result"`
}

// legacy is a server by an older version of the protocol, which asks its user in the middle of a call. It is written by
// hand, as many real ones are.
func legacy(string) {
	offered := "nothing"
	var call json.RawMessage
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var got message
		if json.Unmarshal(lines.Bytes(), &got) != nil {
			os.Exit(65)
		}
		switch got.Method {
		case "initialize":
			offered = string(got.Params.Capabilities)
			answer(got.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
		case "tools/list":
			answer(got.ID, `{"tools":[{"name":"book","description":"Books.","inputSchema":{"type":"object"}},{"name":"count","inputSchema":{"type":"object"}},{"name":"mangle","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			if got.Params.Name == "count" {
				answer(got.ID, `{"structuredContent":{"id":9007199254740993,"share":0.1},"content":[{"type":"text","text":"{\"id\":9007199254740993,\"share\":0.1}"}]}`)
				continue
			}
			if got.Params.Name == "mangle" {
				fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"cut`+"\n", got.ID)
				continue
			}
			call = got.ID
			fmt.Fprintln(os.Stdout, `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"For which day?",`+
				`"requestedSchema":{"type":"object","properties":{"day":{"type":"string"}},"required":["day"]}}}`)
		case "":
			if got.Result.Action == "accept" {
				answer(call, `{"content":[{"type":"text","text":"`+strings.ReplaceAll(string(got.Result.Content), `"`, "'")+`"}]}`)
			} else {
				answer(call, `{"isError":true,"content":[{"type":"text","text":"no day, and offered was `+strings.ReplaceAll(offered, `"`, "'")+`"}]}`)
			}
		default:
			if len(got.ID) > 0 {
				fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", got.ID)
			}
		}
	}
}

func answer(id json.RawMessage, result string) {
	fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

// TestServerOfAnOlderVersion: one that asks in the middle of a call is answered as well, and whoever acts outside does not offer it to ask.
func TestServerOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	pin, err := mcp.Discover(t.Context(), configured(t, "legacy", "book"))
	if err != nil || pin.Server != "old" {
		t.Fatalf("%+v, %v", pin, err)
	}
	agreed := func(config *mcp.Config) { config.Pin = pin }
	one := made(t, configured(t, "legacy", "book", agreed))
	outcome, err := one.Handle(t.Context(), request(`{}`), silent)
	if err != nil || len(outcome.Needs) != 1 || outcome.Needs[0].Question["en"] != `The tool book asks: "For which day?"` {
		t.Fatalf("%+v, %v", outcome, err)
	}
	again := request(`{}`)
	again.Payload.Tasks[0].Context.Answers = []schemas.InquiryAnswer{{Values: []byte(`{"day":"Monday"}`)}}
	if outcome, err = one.Handle(t.Context(), again, silent); err != nil || outcome.Text != "{'day':'Monday'}" {
		t.Errorf("%+v, %v", outcome, err)
	}
	acting := made(t, configured(t, "legacy", "book", agreed, external))
	if failure := failed(t, acting, `{}`); !failure.Unknown || !strings.HasSuffix(failure.Message, "offered was {}") {
		t.Errorf("%+v", *failure)
	}
}

// TestBrokenMessageEndsTheCall: an answer that is no JSON is known at once, and not waited for.
func TestBrokenMessageEndsTheCall(t *testing.T) {
	t.Parallel()
	pin, err := mcp.Discover(t.Context(), configured(t, "legacy", "mangle"))
	if err != nil {
		t.Fatal(err)
	}
	one := made(t, configured(t, "legacy", "mangle", func(config *mcp.Config) { config.Pin = pin }))
	if failure := failed(t, one, `{}`); failure.Permanent || !strings.Contains(failure.Message, "connection to the tool was lost") {
		t.Errorf("%+v", *failure)
	}
}

// TestNumbersStay: a number that a float cannot hold reaches whoever asked as it was said, where the text has it too.
func TestNumbersStay(t *testing.T) {
	t.Parallel()
	pin, err := mcp.Discover(t.Context(), configured(t, "legacy", "count"))
	if err != nil {
		t.Fatal(err)
	}
	one := made(t, configured(t, "legacy", "count", func(config *mcp.Config) { config.Pin = pin }))
	if outcome, err := one.Handle(t.Context(), request(`{}`), silent); err != nil || string(outcome.Data) != `{"id":9007199254740993,"share":0.1}` {
		t.Errorf("%s, %v", outcome.Data, err)
	}
}
