package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"podium/cmd/podium/config/script"
	"podium/cmd/podium/config/strictyaml"
	"podium/schemas"
)

var update = flag.Bool("update", false, "write the generated files anew")

func compareFile(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code gives; run: go test ./cmd/podium/config -update", path)
	}
}

// TestSchemaFile keeps the files that editors read up to date.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	compareFile(t, "podium.schema.json", Schema())
	compareFile(t, "script.schema.json", ScriptSchema())
}

func compileSchema(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// separate are the places of a file whose entries stand beside each other without a rule that joins them: the sections,
// and what has names that people choose. Rules that join them are none of structure.
var separate = []string{"", ".agents", ".profiles", ".chat.channels", ".mail.accounts"}

// TestSchemaAgreesWithReader spoils every value and every key of a file that
// holds them all, and asks both. What the reader's structure refuses, the schema
// refuses; what the schema refuses, the reader refuses. What is spoiled in an entry that stands separate is read without the
// entries beside it, which takes a fifth of the time; only whether the whole is refused is asked of the whole.
func TestSchemaAgreesWithReader(t *testing.T) {
	t.Parallel()
	schema := compileSchema(t, Schema())
	if verdict := schema.Validate(load(t, "least.yaml")); verdict != nil {
		t.Errorf("least.yaml: %v", verdict)
	}
	for name, least := range map[string]int{"full.yaml": 500, "arguments.yaml": 150} {
		agreement(t, schema, spoil(load(t, name), "", separate), least, func(body []byte) error {
			_, err := decode(body, "podium.yaml", lookup)
			return err
		}, func(body []byte) error {
			_, err := parse(body, "podium.yaml", lookup)
			return err
		})
	}
}

// fullScript is a script that holds every key.
const fullScript = "../script/testdata/script.yaml"

// TestScriptSchemaAgreesWithReader does the same to a script.
func TestScriptSchemaAgreesWithReader(t *testing.T) {
	t.Parallel()
	agreement(t, compileSchema(t, ScriptSchema()), spoil(load(t, fullScript), "", nil), 300, func(body []byte) error {
		_, err := strictyaml.Decode(body, "script.yaml", lookup, new(script.Script))
		return err
	}, func(body []byte) error {
		_, err := script.Read(body, "script.yaml", lookup, os.DirFS("script/testdata"))
		return err
	})
}

// agreement asks the schema and the reader about every variant of a document; at least so many have to be refused, and none
// that is as it was.
func agreement(t *testing.T, schema *jsonschema.Schema, variants []variant, least int, structure, whole func(body []byte) error) {
	t.Helper()
	spoiled := 0
	for _, variant := range variants {
		body := inJSON(t, variant.alone)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		verdict := schema.Validate(document)
		refused := structure(body)
		if variant.right && (verdict != nil || refused != nil) {
			t.Errorf("%s, as it is: the schema says %v, the reader says %v", variant.name, verdict, refused)
		}
		if refused != nil && verdict == nil {
			t.Errorf("%s: the schema accepts what the reader refuses: %v", variant.name, refused)
		}
		if verdict != nil && refused == nil && whole(inJSON(t, variant.whole)) == nil { // else the whole is refused with it
			t.Errorf("%s: the reader accepts what the schema refuses: %v", variant.name, verdict)
		}
		if verdict != nil {
			spoiled++
		}
	}
	if spoiled < least {
		t.Errorf("only %d variants were refused", spoiled)
	}
}

// inJSON writes JSON, which is YAML, and read and written several times as fast.
func inJSON(t *testing.T, document any) []byte {
	t.Helper()
	body, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestFullFilesAreFull keeps the files behind the tests above complete.
func TestFullFilesAreFull(t *testing.T) {
	t.Parallel()
	for names, file := range map[string]struct {
		schema []byte
		into   func() any
	}{
		"full.yaml arguments.yaml": {Schema(), func() any { return new(Config) }}, fullScript: {ScriptSchema(), func() any { return new(script.Script) }},
	} {
		var written []string
		for name := range strings.FieldsSeq(names) {
			body, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			places, err := strictyaml.Decode(body, name, lookup, file.into())
			if err != nil {
				t.Fatal(err)
			}
			written = slices.AppendSeq(written, maps.Keys(places))
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(file.schema))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keysOf(document) {
			if !slices.ContainsFunc(written, func(path string) bool { return path == key || strings.HasSuffix(path, "."+key) }) {
				t.Errorf("testdata/%s: no file uses the key %q", names, key)
			}
		}
	}
}

// keysOf lists every property name of a schema.
func keysOf(node any) []string {
	var keys []string
	switch n := node.(type) {
	case map[string]any:
		for name, inner := range n {
			if properties, ok := inner.(map[string]any); ok && name == "properties" {
				for key := range properties {
					keys = append(keys, key)
				}
			}
			keys = append(keys, keysOf(inner)...)
		}
	case []any:
		for _, inner := range n {
			keys = append(keys, keysOf(inner)...)
		}
	}
	return keys
}

func load(t *testing.T, name string) any {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	// Only the reader knows variables outside quotes.
	return generic(t, []byte(unquotedVariables(string(body))))
}

var variable = regexp.MustCompile(`\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

func unquotedVariables(text string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$${" {
			return found
		}
		value, _ := lookup(strings.Trim(found, "${}"))
		return strings.NewReplacer("\n", " ", "#", " ", ":", " ").Replace(value)
	})
}

// generic reads YAML as a schema library sees it: as JSON.
func generic(t *testing.T, body []byte) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	text, err := schemas.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

type variant struct {
	name  string
	alone any // without the entries beside it that stand separate
	whole any
	right bool // nothing is spoiled
}

// spoil returns the document once for every value in it and every way to spoil it; and as it is, the whole and every entry
// that stands separate. Path is where it stands.
func spoil(document any, path string, separate []string) []variant {
	var variants []variant
	if path == "" {
		variants = append(variants, variant{alone: document, whole: document, right: true})
	}
	add := func(name string, value any) {
		variants = append(variants, variant{name: name, alone: value, whole: value})
	}
	for label, value := range map[string]any{
		"text": "zzz", "number": 4711, "negative": -1, "fraction": 1.5, "switch": true,
		"null": nil, "list": []any{}, "numbers": []any{1}, "section": map[string]any{}, "strange section": map[string]any{"zzz": 1},
	} {
		add(label, value)
	}
	apart := slices.Contains(separate, path)
	switch d := document.(type) {
	case map[string]any:
		for key, inner := range d {
			without, renamed := copyWithout(d, key), copyWithout(d, key)
			renamed[key+"Z"] = inner
			add("without "+key, without)
			add("renamed "+key, renamed)
			beside, inside := without, spoil(inner, path+"."+key, separate)
			if apart {
				beside, inside = nil, append(inside, variant{alone: inner, whole: inner, right: true})
			}
			for _, v := range inside {
				v.name, v.alone, v.whole = key+"."+v.name, with(beside, key, v.alone), with(without, key, v.whole)
				variants = append(variants, v)
			}
		}
	case []any:
		for i := range d {
			before, after, inside := d[:i], d[i+1:], spoil(d[i], fmt.Sprintf("%s[%d]", path, i), separate)
			if apart {
				before, after, inside = nil, nil, append(inside, variant{alone: d[i], whole: d[i], right: true})
			}
			for _, v := range inside {
				v.name = fmt.Sprintf("[%d].%s", i, v.name)
				v.alone, v.whole = slices.Concat(before, []any{v.alone}, after), slices.Concat(d[:i], []any{v.whole}, d[i+1:])
				variants = append(variants, v)
			}
		}
	}
	return variants
}

func with(section map[string]any, key string, value any) map[string]any {
	more := map[string]any{key: value}
	maps.Copy(more, section)
	return more
}

func copyWithout(section map[string]any, key string) map[string]any {
	rest := make(map[string]any, len(section))
	for k, v := range section {
		if k != key {
			rest[k] = v
		}
	}
	return rest
}
