package config

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/cmd/podium/diagnostic"
)

// folder is a directory with a configuration and what lies beside it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	for name, text := range files {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// TestLoadReadsTemplates: templates are beside the configuration, what is wrong with one is told with its place, and their
// names are the documents that can be asked for.
func TestLoadReadsTemplates(t *testing.T) {
	t.Parallel()
	const configuration = "agents: {writer: {kind: document, templates: ./t}}\nprofiles: {desk: {agents: [writer], routers: [{kind: default, agent: writer}]}}\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"right":         {map[string]string{"t/letter.md": "{{.a}}", "t/notes.txt": "{{"}, ""},
		"no directory":  {nil, "podium.yaml:1:46: agents.writer.templates: there is no such directory"},
		"no template":   {map[string]string{"t/notes.txt": "x"}, "podium.yaml:1:46: agents.writer.templates: there is no template: a file such as letter.md"},
		"a mistake":     {map[string]string{"t/letter.md": "# Ä\nüber {{.a"}, "t/letter.md:2:6: unclosed action"},
		"two mistakes":  {map[string]string{"t/a.md": "{{.a", "t/layout.html": "{{.b"}, "t/layout.html:1:1: unclosed action"},
		"too large":     {map[string]string{"t/a.md": strings.Repeat("x", 256<<10+1)}, "agents.writer.templates: a.md has 262145 bytes; it may have 262144"},
		"no plain file": {map[string]string{"t/a.md/b": "x"}, "agents.writer.templates: a.md is no regular file"},
	} {
		files := map[string]string{"podium.yaml": configuration}
		maps.Copy(files, test.files)
		loaded, err := Load(filepath.Join(folder(t, files), "podium.yaml"))
		switch {
		case test.want == "":
			if err != nil || !strings.Contains(string(loaded.Profile("desk").Agents[0].InputSchema), `["letter"]`) || len(loaded.Profile("desk").Agents[0].Arguments) == 0 {
				t.Errorf("%s: %v", name, err)
			}
		case err == nil || !strings.Contains(err.Error(), test.want) || diagnostic.ProblemsOf(err) == nil:
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// TestLoadReadsCompounds: a list of words is beside the configuration, and a retrieval agent has the schema of its mode.
func TestLoadReadsCompounds(t *testing.T) {
	t.Parallel()
	const configuration = "agents: {rag: {kind: retrieval, index: medical, mode: learn, compounds: ./w.txt}}\nprofiles: {desk: {agents: [rag], routers: [{kind: default, agent: rag}]}}\n"
	for list, want := range map[string]string{
		"haut\n": "", "none": "agents.rag.compounds: there is no file w.txt", "a b": `agents.rag.compounds: line 1: "a b" is not a word of at least 3 letters`,
	} {
		files := map[string]string{"podium.yaml": configuration, "w.txt": list}
		if list == "none" {
			delete(files, "w.txt")
		}
		loaded, err := Load(filepath.Join(folder(t, files), "podium.yaml"))
		switch {
		case want == "":
			if err != nil || loaded.Agents["rag"].CompoundsRead == nil || !strings.Contains(string(loaded.Profile("desk").Agents[0].InputSchema), "validated_by_human") {
				t.Errorf("%q: %v", list, err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v", list, err)
		}
	}
}
