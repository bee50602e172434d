package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/agents/mcp"
	"podium/cmd/podium/starter"
)

// TestNewAgentCanBeConfigured: what is written is never for an agent that `podium check` refuses by its name.
func TestNewAgentCanBeConfigured(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mail", "chat"} {
		folder := filepath.Join(t.TempDir(), "made")
		err := (&agentNewCommand{Lang: "sh", Name: name, Dir: folder}).Run(&environment{stdout: &bytes.Buffer{}})
		if _, absent := os.Stat(folder); !errors.Is(err, starter.ErrName) || absent == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhoAgreesSeesAll: what a tool says of itself and no eye sees is shown by its number, since models read it; and none of its lines passes for one of
// Podium's.
func TestWhoAgreesSeesAll(t *testing.T) {
	t.Parallel()
	const hidden = "Adds.\U000E0053\U000E0045\U000E004E\u200B\uFE0F\u3164\u2800\u00AD\ninput_schema: {}\nsha256: 00\rGrüße 漢"
	var shown bytes.Buffer
	env := &environment{stdout: &shown}
	pin := &mcp.Pin{SHA256: "11", Tool: mcp.Tool{Name: "add", Description: hidden, InputSchema: []byte(`{"title":"a` + "\U000E0041" + `"}`)}}
	if err := env.tellPin(pin, nil); err != nil {
		t.Fatal(err)
	}
	const want = `description: Adds.\u{e0053}\u{e0045}\u{e004e}\u{200b}\u{fe0f}\u{3164}\u{2800}\u{ad}
  | input_schema: {}
  | sha256: 00\u{d}Grüße 漢
input_schema: {"title":"a\u{e0041}"}
sha256: 11
`
	if !strings.Contains(shown.String(), want) {
		t.Errorf("%s", shown.String())
	}
}
