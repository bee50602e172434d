package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"podium/agents/mcp"
)

// listTools is a server whose list of tools goes on without end, in the way that it is told.
func listTools(way string) {
	server := newServer("Says it again.")
	pages := 0
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
			asked, is := request.GetParams().(*sdk.ListToolsParams)
			if !is {
				return next(ctx, method, request)
			}
			pages++
			cursor := asked.Cursor
			asked.Cursor = ""
			result, err := next(ctx, method, request)
			listed, _ := result.(*sdk.ListToolsResult)
			if cursor != "" && way != "repeats" && way != "repeats, new cursors" {
				listed.Tools = nil
			}
			switch way {
			case "stands still", "repeats":
				listed.NextCursor = "same"
			case "alternates":
				listed.NextCursor = map[bool]string{true: "one", false: "two"}[cursor != "one"]
			case "repeats, new cursors", "always another":
				listed.NextCursor = "page " + strconv.Itoa(pages)
			}
			return listed, err
		}
	})
	speak(server)
}

// TestListOfToolsThatDoesNotEnd: a cursor that was asked for before, a page that is repeated and pages without end end the
// list of tools: what it has is used, what it has not is told, and both name the cursor.
func TestListOfToolsThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for way, cursor := range map[string]string{
		"stands still": `"same"`, "alternates": `"one"`, "repeats": `"same"`, "repeats, new cursors": `"page 1"`, "always another": `"page 1000"`,
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			config := configured(t, "listing:"+way, "echo", func(c *mcp.Config) { c.Log = zerolog.New(&log) })
			pin, err := mcp.Discover(t.Context(), config)
			if err != nil || !strings.Contains(log.String(), strings.ReplaceAll(cursor, `"`, `\"`)) {
				t.Fatalf("%v, log %s", err, &log)
			}
			config.Pin = pin
			agent := made(t, config)
			if outcome, err := agent.Handle(t.Context(), request(`{"text":"hello"}`), silent); err != nil {
				t.Errorf("%+v, %v", outcome, err)
			}
			config.Tool = "absent"
			if _, err = mcp.Discover(t.Context(), config); !errors.Is(err, mcp.ErrNoTool) || !strings.Contains(err.Error(), cursor) || !strings.Contains(err.Error(), "echo") {
				t.Errorf("without the tool: %v", err)
			}
		})
	}
}
