package mcp_test

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"podium/agents/mcp"
)

// TestRealServers runs three servers from npm, in the versions of a lock file: each tool is pinned as it is, and works.
func TestRealServers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/npm")); err != nil {
		t.Fatal(err)
	}
	install := osexec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts")
	install.Dir = folder
	install.Env = append(os.Environ(), "npm_config_prefer_offline=true", "npm_config_audit=false", "npm_config_fund=false")
	if said, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v (`make tools` installs what is missing)\n%s", err, said)
	}
	note := filepath.Join(folder, "note.txt")
	for _, test := range []struct {
		server, tool string
		arguments    []string
		env          []string
		calls        []string // arguments and what the answer holds, in turns
	}{
		{"filesystem", "write_file", []string{folder}, nil, []string{`{"path":` + strconv.Quote(note) + `,"content":"größer"}`, "Successfully wrote"}},
		{"filesystem", "read_text_file", []string{folder}, nil, []string{
			`{"path":` + strconv.Quote(filepath.Join(folder, "package.json")) + `}`, "server-memory", `{"path":"/etc/passwd"}`, "!Access denied",
		}},
		{"memory", "create_entities", nil, []string{"MEMORY_FILE_PATH=" + filepath.Join(folder, "memory.jsonl")}, []string{
			`{"entities":[{"name":"otter","entityType":"animal","observations":["eats fish"]}]}`, "eats fish",
		}},
		{"sequential-thinking", "sequentialthinking", nil, nil, []string{`{"thought":"first","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, "thoughtNumber"}},
	} {
		t.Run(test.tool, func(t *testing.T) {
			t.Parallel()
			config := mcp.Config{
				Agent: "real", Command: append([]string{"node", filepath.Join(folder, "node_modules/.bin/mcp-server-"+test.server)}, test.arguments...),
				Dir: folder, Env: test.env, Tool: test.tool,
			}
			pin, err := mcp.Discover(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			config.Pin = pin
			one := made(t, config)
			for i := 0; i < len(test.calls); i += 2 {
				want, fails := strings.CutPrefix(test.calls[i+1], "!")
				outcome, err := one.Handle(t.Context(), request(test.calls[i]), silent)
				said := outcome.Text + string(outcome.Data)
				if fails {
					said = failed(t, one, test.calls[i]).Message
				}
				if body, _ := os.ReadFile(note); test.tool == "write_file" && string(body) != "größer" {
					t.Errorf("the note is %q", body)
				}
				if fails != (err != nil) || !strings.Contains(said, want) {
					t.Errorf("%q, %v", said, err)
				}
			}
		})
	}
}
