package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/mcp"
	"podium/cmd/podium/diagnostic"
	"podium/supervisor/plan"
)

// TestToolProblems shows what each mistake about a tool is answered with.
func TestToolProblems(t *testing.T) {
	t.Parallel()
	tellsProblems(t, "mcp_problems")
}

// TestLoadReadsPins: what was agreed to is beside the configuration, an agent has its words and schemas from there, and what is missing
// or wrong is told with the command that mends it.
func TestLoadReadsPins(t *testing.T) {
	t.Parallel()
	tool := mcp.Tool{Name: "fetch", Description: "Fetches a page.\nAnd more.", InputSchema: []byte(`{"type":"object","required":["url"],"properties":{"url":{"type":"string"}}}`)}
	pin, err := mcp.NewPin(tool, "pages", "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	right, err := pin.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, agent, file, body, want string }{
		{"right", "", "pages.pin.json", string(right), ""},
		{"named", "pin: ./tools/p.json", "tools/p.json", string(right), ""},
		{"with rules for its arguments", `arguments: [{path: url, pattern: "https?://[^ ]+"}]`, "pages.pin.json", string(right), ""},
		{"none", "", "other.json", "", "agents.pages: nobody has agreed to its tool yet: podium agent pin pages -c "},
		{"changed by hand", "", "pages.pin.json", strings.Replace(string(right), "a page", "any page", 1), "agents.pages.pin: pages.pin.json: its sha256 is not that of the tool in it; podium agent pin pages -c "},
		{"no pin", "", "pages.pin.json", "[]", "agents.pages.pin: pages.pin.json: it is no pin"},
		{"another tool", "", "pages.pin.json", strings.NewReplacer(`"fetch"`, `"fetsch"`).Replace(string(right)), "its sha256 is not that"},
		{"rules for what the tool has not", "arguments: [{path: address, words: true}]", "pages.pin.json", string(right), `agents.pages.arguments: `},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write := func(name, text string) {
				name = filepath.Join(folder, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			more := test.agent
			if more != "" {
				more = ", " + more
			}
			write("podium.yaml", "agents: {pages: {kind: mcp, command: [node, server.mjs], tool: fetch"+more+"}}\n"+
				"profiles: {desk: {agents: [pages], routers: [{kind: default, agent: pages}]}}\n")
			write(test.file, test.body)
			file := filepath.Join(folder, "podium.yaml")
			loaded, err := Load(file)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || diagnostic.ProblemsOf(err) == nil {
					t.Errorf("%v, want %s", err, test.want)
				}
				if unpinned, err := LoadUnpinned(file); err != nil || unpinned.PinFile("pages") != filepath.Join(folder, "pages.pin.json") {
					t.Errorf("without pins: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			use := loaded.Profile("desk").Agents[0]
			if use.Description != "Fetches a page." || !strings.Contains(string(use.InputSchema), `"url"`) || len(use.Arguments) == 0 {
				t.Errorf("%+v", use)
			}
		})
	}
}

// TestRecordedToolsAreAgents: profiles with the tools of real servers compile, with their arguments filled by the tools' own schemas.
func TestRecordedToolsAreAgents(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../agents/mcp/testdata/servers/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d servers are recorded, %v", len(files), err)
	}
	filled := 0
	for _, file := range files {
		var recorded struct {
			Tools []struct {
				Name        string          `json:"name"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(mustRead(t, file), &recorded); err != nil {
			t.Fatal(err)
		}
		for _, tool := range recorded.Tools {
			config, err := parse([]byte("agents: {tool: {kind: mcp, command: [node, x.mjs], tool: t}}\n"+
				"profiles: {desk: {agents: [tool], routers: [{kind: default, agent: tool}], language: en}}"), "podium.yaml", lookup)
			if err != nil {
				t.Fatal(err)
			}
			entry := config.Agents["tool"]
			entry.InputSchema = jsontext.Value(tool.InputSchema)
			v := &validator{config: config}
			v.arguments("agents.tool", &entry)
			if err := v.problems.Sorted(); err != nil {
				t.Errorf("%s of %s: %v", tool.Name, filepath.Base(file), err)
				continue
			}
			config.Agents["tool"] = entry
			profile := config.Profile("desk")
			if _, err := plan.Compile(profile); err != nil {
				t.Errorf("%s of %s: %v", tool.Name, filepath.Base(file), err)
			}
			if len(profile.Agents[0].Arguments) > 0 {
				filled++
			}
		}
	}
	if filled < 100 {
		t.Errorf("the arguments of only %d tools are filled", filled)
	}
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
