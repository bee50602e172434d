package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"podium/cmd/podium/config/script"
	"podium/cmd/podium/config/strictyaml"
	"podium/cmd/podium/egress"
	"podium/schemas"
)

const referenceFile = "../../../docs/configuration.md"

// TestReference keeps docs/configuration.md what the structs and their tags say, from
// which the schema follows too.
func TestReference(t *testing.T) {
	t.Parallel()
	compareFile(t, referenceFile, reference(t))
}

// TestReferenceIsWhole: every key of the schema has its line, and every line a meaning.
func TestReferenceIsWhole(t *testing.T) {
	t.Parallel()
	text := string(reference(t))
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(document)
	for _, key := range keys {
		if !strings.Contains(text, "\n| `"+key+"` | ") {
			t.Errorf("the key %q has no line", key)
		}
	}
	if len(keys) < 150 {
		t.Errorf("only %d keys were looked for", len(keys))
	}
	headings := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		if headings[anchor(heading[1])] {
			t.Errorf("two headings are %s", heading[1])
		}
		headings[anchor(heading[1])] = true
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if !headings[link[1]] {
			t.Errorf("a link leads to #%s, and there is no such heading", link[1])
		}
	}
	for line := range strings.Lines(text) {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "| ") && cells != 5 {
			t.Errorf("%d cells: %s", cells-1, line)
		}
		if strings.HasPrefix(line, "| `") && !strings.HasSuffix(line, ". |\n") {
			t.Errorf("no sentence says what it does: %s", line)
		}
	}
}

// A topic is one section of the file, with what people want of it.
type topic struct {
	key, title, about, example string
}

func topics(t *testing.T) []topic {
	t.Helper()
	made := []topic{
		{"mail", "A mailbox", "Mailboxes that are read, and the servers that send the answers. [Mail in](mail.md), [Reading mail](mail-reading.md) and [Mail out](mail-out.md) say what comes of it.", ""},
		{"chat", "Chat channels", "Channels whose messages come in by a webhook. [Chat](chat.md) has the steps for each provider.", ""},
		{"http", "Events and pages by HTTP", "The listener of chat, events, the chat page and health. [Events and the chat page](http.md) says how a system sends.", ""},
		{"agents", "Agents", "Who can be given work. The agents `mail` and `chat`, which deliver answers, are there without being named. [An agent in any language](write-an-agent.md) is one of kind `external`, [an endpoint](http-agents.md) one of kind `http`, [a language model](models.md) one of kind `llm`, [a tool of an MCP server](mcp-agents.md) one of kind `mcp`, [a calendar or an address book](calendar-contacts.md) one of kind `caldav` or `carddav`, and [what writes documents and files, and learns](documents.md) one of kind `document`, `file` or `retrieval`.", ""},
		{"people", "People", "Who does work by mail, as agents of kind `person` name them. What they answer to the letter that hands it to them is the result.", ""},
		{"profiles", "Profiles", "How a conversation is handled: who may be asked, who is chosen, what happens when that fails.", ""},
		{"include", "Several configurations in one", "Systems that are configured by themselves, in one process: what each has of agents, people, profiles, mailboxes and channels.", ""},
		{"ledger", "The ledger", "Where everything that happens is kept. [Operations](operations.md) says what is in the directory, [NATS](nats.md) how a ledger stands on a server of your own.", ""},
	}
	for i := range made {
		body, err := os.ReadFile(filepath.Join("testdata", "reference", made[i].key+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		made[i].example = string(body)
	}
	return made
}

const referenceHead = `# Configuration

Every key of ` + "`podium.yaml`" + `, by what one wants to do. This page is made from the same Go struct tags as the schema (` + "`go generate ./cmd/podium/config`" + `);
` + "`podium schema config`" + ` prints that for an editor, and ` + "`podium check -c podium.yaml`" + ` names every mistake with its line.

- In a path ` + "`NAME`" + ` stands for a name that you choose (1 to 63 of a-z, 0-9, _ and -), and ` + "`[]`" + ` for each entry of a list.
- **needed** in the column *default* is a key that may not be missing; – has no default: nothing is done unless the key is set, or the row says what is.
- A duration is such as ` + "`500ms`, `30s`, `5m` or `1h`" + `, a size such as ` + "`500MB` or `64GiB`" + `.
- ` + "`${NAME}`" + ` in a value stands for an environment variable, which has to be set, and ` + "`${NAME:-default}`" + ` for one that may be missing; ` + "`$${`" + ` is a literal ` + "`${`" + `. A secret belongs in one.

`

// A referenceWriter writes one section after another.
type referenceWriter struct{ bytes.Buffer }

func reference(t *testing.T) []byte {
	t.Helper()
	w := &referenceWriter{}
	w.WriteString(referenceHead)
	all := topics(t)
	for _, topic := range all {
		fmt.Fprintf(w, "- [%s](#%s): `%s`\n", topic.title, anchor(topic.title), topic.key)
	}
	sections := strictyaml.Fields(reflect.TypeFor[Config]())
	if len(sections) != len(all) {
		t.Fatalf("%d sections of the file, %d topics", len(sections), len(all))
	}
	for _, topic := range all {
		at := slices.IndexFunc(sections, func(f strictyaml.Field) bool { return f.Key == topic.key })
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n```yaml\n%s```\n", topic.title, topic.about, topic.example)
		switch of := sections[at].Kind; of.Kind() {
		case reflect.Map:
			w.section(topic.key+".NAME", of.Elem(), "")
		case reflect.Slice:
			fmt.Fprintf(w, "\n%s\n", plainCell(sections[at].Tag.Get("doc")))
		default:
			w.section(topic.key, of, "")
		}
	}
	w.WriteString("\n## Keywords\n\nA word alone, such as `invoice`, is looked for as the group or router says, else as a whole word. `cation*` is the beginning of a word,\n" +
		"`*termin` its end, `*lager*` any part of it, `~invoices` its beginning with a slip, and `/rechnung \\d+/` a regular expression (RE2). The long form says more:\n" +
		"`{word: termin, mode: suffix, except: [untermin]}`.\n")
	w.table("", reflect.TypeFor[Keyword]())
	body, err := os.ReadFile(filepath.Join("testdata", "reference", "script.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.WriteString("\n## Scripts\n\nThe file of an agent of kind `scripted`: what it answers to what. `podium schema script` prints its schema for an editor, `podium check` names its mistakes. Put texts\n" +
		"with `{{…}}` into quotes. An agent that says garbage is one whose `data` breaks its `output_schema`, or is no plan; one that hangs has a `delay` longer than its deadline.\n" +
		"[An example](../deploy/examples/scripted/podium.yaml) has a planner and two agents.\n\n```yaml\n" + string(body) + "```\n")
	w.section("script", reflect.TypeFor[script.Script](), "")
	w.WriteString("\n## The whole file\n\n| key | value | default | what it does |\n| --- | --- | --- | --- |\n")
	for _, f := range sections {
		at := slices.IndexFunc(all, func(topic topic) bool { return topic.key == f.Key })
		kind := "section"
		if f.Kind.Kind() == reflect.Slice {
			kind = "list of texts"
		}
		fmt.Fprintf(w, "| `%s` | [%s](#%s) | – | %s |\n", f.Key, kind, anchor(all[at].title), plainCell(f.Tag.Get("doc")))
	}
	return w.Bytes()
}

// saysDefault finds a default that is more than a word.
var saysDefault = regexp.MustCompile(`Default: ([^:]*)\.$`)

// section writes a table, then those of the sections in it.
func (w *referenceWriter) section(path string, of reflect.Type, about string) {
	fmt.Fprintf(w, "\n### `%s`\n", path)
	if about != "" {
		fmt.Fprintf(w, "\n%s\n", plainCell(about))
	}
	w.table(path, of)
	for _, f := range strictyaml.Fields(of) {
		if inner, at := nested(path, f); inner != nil && inner != reflect.TypeFor[Keyword]() && f.Kind != reflect.TypeFor[*script.Case]() {
			w.section(at, inner, f.Tag.Get("doc"))
		}
	}
}

func (w *referenceWriter) table(path string, of reflect.Type) {
	w.WriteString("\n| key | value | default | what it does |\n| --- | --- | --- | --- |\n")
	for _, f := range strictyaml.Fields(of) {
		standard, does := "–", f.Tag.Get("doc")
		if value := f.Tag.Get("default"); value != "" {
			standard = "`" + value + "`"
		} else if f.Required() {
			standard = "**needed**"
		} else if f.Kind.Kind() == reflect.Bool {
			standard = "`false`"
		} else if said := saysDefault.FindStringSubmatch(does); said != nil {
			does, standard = strings.TrimSpace(strings.TrimSuffix(does, said[0])), plainCell(said[1])
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", f.Key, valueWords(f.Kind, f.Tag, path, f), standard, plainCell(does))
	}
}

// nested returns the section that a key holds, and its path; nil when it holds none.
func nested(path string, f strictyaml.Field) (inner reflect.Type, at string) {
	inner, at = f.Kind, strings.TrimPrefix(path+"."+f.Key, ".")
	for {
		switch inner.Kind() {
		case reflect.Pointer:
			inner = inner.Elem()
		case reflect.Map:
			inner, at = inner.Elem(), at+".NAME"
		case reflect.Slice:
			inner, at = inner.Elem(), at+"[]"
		case reflect.Struct:
			if len(strictyaml.Fields(inner)) == 0 {
				return nil, ""
			}
			return inner, at
		default:
			return nil, ""
		}
	}
}

// valueWords says what a value may be, with its limits.
func valueWords(kind reflect.Type, tag reflect.StructTag, path string, f strictyaml.Field) string {
	switch kind {
	case reflect.TypeFor[schemas.Duration]():
		return "duration"
	case reflect.TypeFor[egress.Destination]():
		return "local, public, or host:port"
	case reflect.TypeFor[Size]():
		return "size, at least 64MiB"
	case reflect.TypeFor[TextCheck]():
		return "`text`, `words`, true or false"
	case reflect.TypeFor[Since]():
		return "`now`, `all` or a date"
	case reflect.TypeFor[jsontext.Value]():
		return "any value"
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[Secrets]():
		return "secret, or a list of them"
	case reflect.TypeFor[Pointers]():
		return "text, or a list of texts"
	case reflect.TypeFor[Keyword]():
		return "[keyword](#keywords)"
	case reflect.TypeFor[*script.Case]():
		return "[section](#scriptcases)"
	}
	low, hasLow := strictyaml.Bound(tag, "min")
	high, hasHigh := strictyaml.Bound(tag, "max")
	switch kind.Kind() {
	case reflect.Pointer:
		return valueWords(kind.Elem(), tag, path, f)
	case reflect.Struct:
		_, at := nested(path, f)
		if reflect.PointerTo(kind).Implements(reflect.TypeFor[strictyaml.Shorthand]()) {
			return "name, or [section](#" + anchor(at) + ")"
		}
		return "[section](#" + anchor(at) + ")"
	case reflect.Map:
		return "names, each with a " + valueWords(kind.Elem(), "", path, f)
	case reflect.Slice:
		entry := valueWords(kind.Elem(), strictyaml.OfEntries(tag), path, f)
		for one, many := range map[string]string{"text": "texts", "[keyword](#keywords)": "[keywords](#keywords)", "list of texts": "lists of texts"} {
			if entry == one {
				return "list of " + many
			}
		}
		if link, section := strings.CutPrefix(entry, "[section]"); section {
			return "list of [sections]" + link
		}
		return "list of " + entry
	case reflect.Int:
		switch {
		case hasLow && hasHigh:
			return fmt.Sprintf("whole number, %d to %d", low, high)
		case hasLow:
			return fmt.Sprintf("whole number, at least %d", low)
		}
		return "whole number"
	case reflect.Float64:
		if hasHigh {
			return fmt.Sprintf("number, 0 to %d", high)
		}
		return "number"
	case reflect.Bool:
		return "true or false"
	}
	if words := strings.Fields(tag.Get("enum")); len(words) > 0 {
		return "`" + strings.Join(words, "`, `") + "`"
	}
	return "text"
}

// plainCell is a text that stands in a table as it is.
func plainCell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "[", `\[`).Replace(text)
}

// anchor is how a heading is linked to, as GitHub and GitLab do.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}
