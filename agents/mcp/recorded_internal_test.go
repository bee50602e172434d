package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A recording is what a real server has said of its tools; tools/mcptools makes them.
type recording struct {
	Package string      `json:"package"`
	Version string      `json:"version"`
	License string      `json:"license"`
	Tools   []*sdk.Tool `json:"tools"`
}

// TestRecordedServers: the tools of twenty real servers can be pinned, read back, and be agents with their own schemas.
func TestRecordedServers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/servers/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d servers are recorded, %v", len(files), err)
	}
	tools, withOutput := 0, 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var recorded recording
		if err := json.Unmarshal(body, &recorded); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if recorded.Package == "" || recorded.Version == "" || recorded.License == "" || len(recorded.Tools) == 0 {
			t.Errorf("%s does not say what it is of: %+v", file, recorded)
		}
		for _, said := range recorded.Tools {
			tools++
			made := pinOf(t, said)
			if made == nil {
				continue
			}
			if len(made.Tool.OutputSchema) > 0 {
				withOutput++
			}
			agent, err := New(Config{Command: []string{os.Args[0]}, Tool: said.Name, Pin: made})
			if err != nil {
				t.Errorf("%s of %s: %v", said.Name, recorded.Package, err)
				continue
			}
			if about := agent.Description(); about.Description == "" || len(about.InputSchema) == 0 {
				t.Errorf("%s of %s: %+v", said.Name, recorded.Package, about)
			}
		}
	}
	if tools < 150 || withOutput < 20 {
		t.Errorf("%d tools, %d with an output schema", tools, withOutput)
	}
}

// pinOf pins a tool and reads the pin back.
func pinOf(t *testing.T, said *sdk.Tool) *Pin {
	t.Helper()
	tool, err := toolOf(said)
	if err != nil {
		t.Errorf("%s: %v", said.Name, err)
		return nil
	}
	made, err := NewPin(tool, "", "")
	if err != nil {
		t.Errorf("%s: %v", said.Name, err)
		return nil
	}
	body, err := made.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadPin(body)
	if err != nil || read.SHA256 != made.SHA256 {
		t.Errorf("%s: %v", said.Name, err)
		return nil
	}
	return read
}
