package config

import (
	"regexp"
	"strings"
	"testing"

	"podium/cmd/podium/diagnostic"
)

// foreign are words of a parser, of a library or of Go, which say nothing to whoever has
// written a file.
var foreign = regexp.MustCompile(`\byaml: |\bjson:|[Uu]nmarshal|invalid character|strconv|jsonschema|URLLoader|metaschema|token|scalar|mapping|sequence|context|regexp:|invalid syntax|0x|%!|\bnil\b|\[\]\w|map\[|\*\w+\.|reflect|goccy`)

// TestFaultsInPlainWords: whatever is wrong with a file, what is said of it holds no word
// of those who read it, and has its line.
func TestFaultsInPlainWords(t *testing.T) {
	t.Parallel()
	const profiles = "\nprofiles: {p: {agents: [echo], routers: [{kind: default, agent: echo}]}}\n"
	agent := func(rest string) string { return "agents: {echo: {kind: echo, " + rest + "}}" + profiles }
	profile := func(rest string) string {
		return "agents: {echo: {kind: echo}}\nprofiles: {p: {agents: [echo], routers: [{kind: default, agent: echo}], " + rest + "}}\n"
	}
	for name, test := range map[string]struct{ text, want string }{
		"an open brace":         {"agents: {echo: {kind: echo}\n", "1:9: the brace { that begins here is not closed"},
		"an open bracket":       {"agents: [a, b\n", "1:9: the bracket [ that begins here is not closed"},
		"a brace too many":      {"agents: {}}\n", "1:11: "},
		"a bracket too many":    {"agents: [a]]\n", "1:12: this does not belong here"},
		"an open quote":         {"agents: \"abc\n", "1:9: the quote that begins here is not closed"},
		"an open single quote":  {"agents: 'abc\n", "1:9: the quote that begins here is not closed"},
		"no such escape":        {`agents: "\x"` + "\n", "1:9: the quote that begins here is not closed, or a backslash behind it begins no escape"},
		"a tab":                 {"agents:\n\techo: {kind: echo}\n", "2:1: a tab stands here"},
		"a tab at the start":    {"\tagents: {}\n", "a tab stands here"},
		"a colon too many":      {"agents: a: b\n", "1:9: this does not belong here"},
		"indented too little":   {"agents:\n  echo: {kind: echo}\n profiles: {}\n", "3:2: this does not belong here"},
		"a list and keys":       {"agents:\n  - a\n  b: c\n", "3:3: this does not belong here"},
		"words behind a quote":  {"agents: \"a\" \"b\"\n", "1:13: this does not belong here"},
		"no colon":              {"agents: {echo {kind: echo}}\n", "1:10: between { and } a comma stands behind each value"},
		"a key twice":           {"agents:\n  echo: {kind: echo}\n  echo: {kind: echo}\n", "3:3: the key \"echo\" is there twice; first on line 2"},
		"an at sign":            {"agents: @a\n", "1:9: no value can begin with this character"},
		"a backtick":            {"agents: `a`\n", "1:9: no value can begin with this character"},
		"a percent sign":        {"agents: %a\n", "1:9: no value can begin with %"},
		"a lone ampersand":      {"agents: &\n", "1:9: & names a value in YAML"},
		"a star":                {"agents: *a\n", "there is no anchor &a"},
		"an exclamation mark":   {"agents: !!binary x\n", "tags such as !!binary have no meaning here"},
		"a text of lines":       {"agents: |\nfoo\n", "2:1: a key and a colon are expected here"},
		"a strange header":      {"agents: |zzz\n  foo\n", "behind | or > nothing stands on the line"},
		"a list as a key":       {"[a]: b\n", "this is no key"},
		"a question mark":       {"? [a]\n: b\n", "this is no key"},
		"only a word":           {"foo\n", "1:1: expected a section of keys and values, found text"},
		"only a list":           {"- a\n", "1:1: expected a section of keys and values, found a list"},
		"bytes":                 {"\xff\xfe\x00", "1:1: expected a section"},
		"two documents":         {"agents: {}\n---\nagents: {}\n", "the file holds more than one document"},
		"no duration":           {agent("breaker: {open: abc}"), `"abc" is not a duration such as 30s or 5m`},
		"a duration of days":    {agent("breaker: {open: 1d}"), `"1d" is not a duration such as 30s or 5m`},
		"a duration bare":       {agent("breaker: {open: 30}"), "expected a duration such as 30s, found a number"},
		"a duration too long":   {agent("breaker: {open: 99999999999h}"), `"99999999999h" is not a duration`},
		"a duration of nothing": {agent("breaker: {open: -5s}"), "-5s is not longer than 0"},
		"a number in hex":       {agent("concurrency: 0x10"), `"0x10" is not a whole number`},
		"a number too large":    {agent("concurrency: 99999999999999999999"), "expected a whole number, found a number that is too large"},
		"a fraction":            {agent("concurrency: 1.5"), "expected a whole number, found a number with a fraction"},
		"a fraction too large":  {agent("capabilities: [{words: [a], score: 1e400}]"), "expected a number, found a number that is too large"},
		"no size":               {"ledger: {max_bytes: 12 parsecs}" + profiles, `"12 parsecs" is not a size such as 500MB or 64GiB`},
		"a size too large":      {"ledger: {max_bytes: 99999999999999999999TB}" + profiles, "is not a size such as"},
		"no port":               {"http: {listen: 127.0.0.1}" + profiles, "is not an address with a port"},
		"a port too large":      {`http: {listen: "127.0.0.1:99999"}` + profiles, "is not an address with a port of at most 65535"},
		"no network":            {"http: {proxies: [10.0.0.0/99]}" + profiles, "is neither an address such as 127.0.0.1 nor a network such as 10.0.0.0/8"},
		"no server":             {`ledger: {nats: {url: "nats://[::1"}}` + profiles, "is not a list of addresses such as nats://host:4222"},
		"no expression":         {profile(`complexity: {patterns: ["("]}`), `it is no regular expression (RE2): missing closing ) at "("`},
		"no entity":             {profile(`conversation: {entities: [{name: a, pattern: "a)"}]}`), `it is no regular expression (RE2): unexpected ) at "a)"`},
		"a keyword of nothing":  {profile(`complexity: {verbs: ["/a{2000}/"]}`), `it is no regular expression (RE2): invalid repeat count at "{2000}"`},
		"a schema of a number":  {agent("input_schema: {type: 7}"), "not a JSON Schema: /type is "},
		"a schema's bound":      {agent("input_schema: {minimum: a}"), "not a JSON Schema: /minimum is of type string, want number"},
		"a schema's pattern":    {agent(`input_schema: {pattern: "("}`), "not a JSON Schema: a pattern in it is no regular expression"},
		"a schema from outside": {agent(`input_schema: {"$ref": "http://example.org/x"}`), "not a JSON Schema: a $ref leads outside of it"},
		"a schema of nothing":   {agent(`input_schema: {"$ref": "#/$defs/x"}`), "not a JSON Schema: a $ref or $dynamicRef leads to nothing in it"},
		"a schema that is text": {agent(`input_schema: "x"`), "not a JSON Schema: "},
		"hex in a schema":       {agent("input_schema: {maximum: 0x1F}"), "0x1F is not a number such as 10 or 2.5"},
		"infinity in a schema":  {agent("input_schema: {maximum: .inf}"), "a number has to be finite"},
		"no number in a schema": {agent("input_schema: {maximum: .nan}"), "a number has to be finite"},
	} {
		_, err := parse([]byte(test.text), "podium.yaml", lookup)
		problems := diagnostic.ProblemsOf(err)
		if len(problems) == 0 || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
			continue
		}
		for _, problem := range problems {
			said := strings.ReplaceAll(problem.Error(), "0x1", "") // what the file says
			if found := foreign.FindString(said); found != "" {
				t.Errorf("%s: %q says nothing to a person: %s", name, found, said)
			}
			if problem.Line == 0 {
				t.Errorf("%s: no line: %v", name, problem)
			}
		}
	}
}
