package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreign are words of a parser, of a library or of Go, which say nothing to whoever has
// typed a command or written a file.
var foreign = regexp.MustCompile(`\byaml: |\bjson: |[Uu]nmarshal|invalid character|strconv|jsontext|schemas\.|jsonschema|\d+ bit|time: |EOL|invalid syntax|0x|%!|\bnil\b|map\[|\*\w+\.|reflect|must be one of ""`)

// TestVerbsSpeakPlainly: whatever is typed wrong, or stands in a broken file, is told in
// words of people, with what to write instead.
func TestVerbsSpeakPlainly(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broken, plan := write("podium.yaml", "agents: {echo: {kind: echo}\n"), write("plan.json", `{"tasks": [{]}`)
	for _, c := range []struct {
		arguments []string
		code      int
		says      string
	}{
		{[]string{"send", "hi", "--timeout", "abc"}, exitUsage, `--timeout: "abc" is not a duration such as 500ms, 30s or 5m`},
		{[]string{"send", "hi", "--timeout", "5"}, exitUsage, `--timeout: "5" is not a duration such as`},
		{[]string{"send", "hi", "--timeout", `a"b`}, exitUsage, `--timeout: "a\"b" is not a duration such as`},
		{[]string{"send", "--thread"}, exitUsage, "--thread: a value is missing behind it"},
		{[]string{"send", "--plan", plan}, exitNotFound, "no podium runs on"},
		{[]string{"check", "--plan", plan}, exitUsage, "plan.json:1:13: it is not JSON from here on"},
		{[]string{"check", "-c", broken}, exitUsage, "podium.yaml:1:9: the brace { that begins here is not closed"},
		{[]string{"route", "-c", broken, "hi"}, exitUsage, "the brace { that begins here is not closed"},
		{[]string{"up", "-c", broken}, exitUsage, "the brace { that begins here is not closed"},
		{[]string{"runs", "list", "-c", broken}, exitUsage, "the brace { that begins here is not closed"},
		{[]string{"mail", "try", "--account", "a", "--last", "x"}, exitUsage, `--last: "x" is not a whole number`},
		{[]string{"agent", "exec", "--name", "a", "--concurrency", "1.5", "--", "cat"}, exitUsage, `--concurrency: "1.5" is not a whole number`},
		{[]string{"agent", "exec", "--name", "a", "--heartbeat", "1d", "--", "cat"}, exitUsage, `--heartbeat: "1d" is not a duration`},
		{[]string{"runs", "show"}, exitUsage, "<run> is missing"},
		{[]string{"runs", "list", "--status", "foo"}, exitUsage, `--status "foo" is no status; name one of open, completed`},
		{[]string{"runs", "list", "--limit", "-1"}, exitUsage, `--limit: "-1" is taken for another flag; write --limit="-1"`},
		{[]string{"replay", "--run"}, exitUsage, "--run: a value is missing behind it"},
		{[]string{"-o", "xml", "check"}, exitUsage, `--output must be one of "text","json" but got "xml"`},
		{[]string{"chek"}, exitUsage, `did you mean "check"?`},
	} {
		o := in(t, "", append([]string{"--data", filepath.Join(folder, "none")}, c.arguments...)...)
		if o.code != c.code || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s", c.arguments, o.code, c.code, c.says, o.stderr)
		}
		if found := foreign.FindString(o.stderr); found != "" {
			t.Errorf("%q: %q says nothing to a person: %s", c.arguments, found, o.stderr)
		}
	}
}
