package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"podium/cmd/podium/config/script"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// documented gives each variable that an example names a value of the right form.
func documented(name string) (string, bool) {
	value, ok := map[string]string{
		"WEB_SECRET": webSecret, "OFFICE_SECRET": webSecret, "TEAMS_TOKEN": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
	}[name]
	if !ok {
		value = "0123456789abcdef0123456789abcdef"
	}
	return value, true
}

// around completes an example that shows a part of a configuration: what it leaves
// out is a profile "desk" with one agent, and the account around oauth.
func around(example string) string {
	if strings.HasPrefix(example, "oauth:") {
		example = "mail:\n  accounts:\n    - name: support\n      profile: desk\n      imap:\n        host: imap.example.org\n        username: support@example.org\n        " +
			example + "\n      smtp: {host: smtp.example.org, username: support@example.org, from: support@example.org}\n"
	}
	const desk = "    agents: [echo]\n    routers: [{kind: default, agent: echo}]\n"
	switch {
	case !strings.Contains(example, "\nprofiles:"):
		example += "profiles:\n  desk:\n" + desk
	case !strings.Contains(example, "routers:"):
		example = strings.Replace(example, "\n  desk:\n", "\n  desk:\n"+desk, 1)
	}
	switch {
	case !strings.Contains("\n"+example, "\nagents:"):
		example += "agents: {echo: {kind: echo}}\n"
	case strings.Contains(example, desk) && !strings.Contains(example, "  echo:"):
		example = strings.Replace(example, "agents:\n", "agents:\n  echo: {kind: echo}\n", 1)
	}
	return example
}

// TestExamplesOfTheDocumentation: what people copy is accepted, with every variable
// set, in the documents and in the examples that run.
func TestExamplesOfTheDocumentation(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	files, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range append(files, root+"/README.md") {
		for number, example := range examplesIn(t, file) {
			name := fmt.Sprintf("%s, example %d", filepath.Base(file), number+1)
			if tried++; strings.HasPrefix(example, "cases:") {
				if _, err = script.Read([]byte(example), name, documented, os.DirFS("script/testdata")); err != nil {
					t.Errorf("%v\n%s", err, example)
				}
			} else if _, err = parse([]byte(around(example)), name, documented); err != nil {
				t.Errorf("%v\n%s", err, example)
			}
		}
	}
	if tried < 9 {
		t.Errorf("only %d examples were found", tried)
	}
	whole, err := filepath.Glob(root + "/deploy/examples/*/podium.yaml")
	if err != nil || len(whole) < 4 {
		t.Fatalf("examples %v: %v", whole, err)
	}
	for _, file := range whole {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = parse(body, file, documented); err != nil {
			t.Error(err)
		}
	}
}

// examplesIn returns the blocks of YAML in a document. One that shows several ways
// of writing oauth is one example for each line.
func examplesIn(t *testing.T, file string) (examples []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(found[1], "oauth:") {
			examples = append(examples, found[1])
			continue
		}
		for line := range strings.Lines(found[1]) {
			examples = append(examples, strings.TrimSpace(line))
		}
	}
	return examples
}

// TestShortestTokenIsOneNumber: every document that says how long a token is at least says what the configuration is held to.
func TestShortestTokenIsOneNumber(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	said := regexp.MustCompile(`(?i)token.*\b(\d+)[ -](?:characters|zeichen)`)
	found := 0
	for _, top := range []string{root + "/README.md", root + "/docs", root + "/deploy", "podium.schema.json"} {
		err := filepath.WalkDir(top, func(file string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(file)
			for _, says := range said.FindAllSubmatch(text, -1) {
				if found++; string(says[1]) != strconv.Itoa(minToken) {
					t.Errorf("%s: %s; it is %d", file, says[0], minToken)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 5 {
		t.Errorf("%d documents say it", found)
	}
}
