package arguments_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/arguments"
)

// TestCompileRefuses: a profile's mistakes are told all at once, each with its place.
func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"action":{"enum":["query","cancel"]},"n":{"type":"integer"},"d":{"type":"string"}}}`
	for _, test := range []struct {
		name string
		rule arguments.Rule
		want string
	}{
		{"an unknown path", arguments.Rule{Path: "x", Words: true}, "x: the schema has no such place"},
		{"no source", arguments.Rule{Path: "d"}, "want one of"},
		{"two sources", arguments.Rule{Path: "d", Words: true, Entity: "x"}, "want one of"},
		{"an unknown kind", arguments.Rule{Path: "d", Find: "moon"}, `"moon" is no kind`},
		{"a broken pattern", arguments.Rule{Path: "d", Pattern: "("}, "not a regular expression"},
		{"a pattern of nothing", arguments.Rule{Path: "d", Pattern: "x*"}, "matches where there is nothing"},
		{"a value that is none", arguments.Rule{Path: "action", Map: []arguments.Choice{{Word: "x", Value: "order"}}}, `"order" is no value`},
		{"a star inside", arguments.Rule{Path: "action", Map: []arguments.Choice{{Word: "a*b", Value: "query"}}}, "* may only stand at the ends"},
		{"a default with an effect", arguments.Rule{Path: "action", Default: "cancel", Harmless: []string{"query"}}, "a default never chooses an effect"},
		{"a default of which nothing is said", arguments.Rule{Path: "action", Default: "query"}, "a default never chooses an effect"},
		{"a default of the wrong type", arguments.Rule{Path: "n", Default: "many"}, `"many" is no value`},
		{"a unit without a number", arguments.Rule{Path: "n", Find: arguments.KindNumber, Units: []arguments.Unit{{Word: "kg", Factor: "x"}}}, "want a word and a decimal number"},
		{"a condition on nothing", arguments.Rule{Path: "n", Find: arguments.KindNumber, If: []arguments.Condition{{Path: "z"}}}, "the schema has no z"},
		{"an unknown member", arguments.Rule{Path: "d", Message: []arguments.Member{"to"}}, "none of from, subject, text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := arguments.Compile(arguments.Spec{Rules: []arguments.Rule{test.rule}}, jsontext.Value(schema))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	for _, spec := range []arguments.Spec{
		{Input: "both"}, {Trusted: []string{"x"}}, {Hours: arguments.Hours{From: "19:00", Until: "07:00"}}, {Hours: arguments.Hours{From: "7"}},
	} {
		if _, err := arguments.Compile(spec, jsontext.Value(schema)); err == nil {
			t.Errorf("%+v was taken", spec)
		}
	}
	_, err := arguments.Compile(arguments.Spec{Input: "both", Rules: []arguments.Rule{{Path: "x", Words: true}, {Path: "d"}}}, jsontext.Value(schema))
	if err == nil || len(strings.Split(err.Error(), "\n")) != 3 {
		t.Errorf("%v, want three faults", err)
	}
}

// TestSchemaLimits: a schema that a validator would walk through for seconds is refused by name.
func TestSchemaLimits(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string {
		return strings.Repeat(`{"properties":{"a":`, depth) + `{}` + strings.Repeat(`}}`, depth)
	}
	var bomb strings.Builder
	bomb.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for level := range 8 {
		next := fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, level+1)
		fmt.Fprintf(&bomb, `"a%d":{"anyOf":[%s]},`, level, strings.Join(slices.Repeat([]string{next}, 5), ","))
	}
	bomb.WriteString(`"a8":{"type":"string"}}}`)
	for _, test := range []struct{ name, schema, want string }{
		{"64 KiB", `{"title":"` + strings.Repeat("x", 64<<10) + `"}`, "more than 65536"},
		{"depth", nested(33), "deeper than 32"},
		{"references unrolled", bomb.String(), "more than 10000 parts"},
		{"itself", `{"$ref":"#"}`, "deeper than 32, or refers to itself"},
		{"elsewhere", `{"$ref":"https://example.org/x"}`, "leads elsewhere"},
		{"nothing", `{"$ref":"#/$defs/x"}`, "leads to nothing"},
		{"dynamic", `{"$dynamicRef":"#x"}`, "use $ref"},
		{"no JSON", `{`, "not JSON"},
		{"no schema", `{"type":1}`, "not a JSON Schema"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := arguments.Compile(arguments.Spec{}, jsontext.Value(test.schema))
			if err == nil || !strings.HasPrefix(err.Error(), "input schema: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	if _, err := arguments.Compile(arguments.Spec{}, jsontext.Value(nested(15))); err != nil {
		t.Error(err)
	}
	if _, err := arguments.Compile(arguments.Spec{}, nil); err != nil {
		t.Error("no schema at all:", err)
	}
}

// TestDataLimit: arguments of more than 1 MiB are refused, whoever has given them.
func TestDataLimit(t *testing.T) {
	t.Parallel()
	filler := compiled(t, arguments.Spec{}, `{"properties":{"message":{"type":"string"}},"required":["message"]}`)
	filled := filler.Fill(arguments.Given{Arguments: []byte(`{"message":"` + strings.Repeat("x", 1<<20) + `"}`)})
	if filled.Complete() || len(filled.Values) > 100 {
		t.Errorf("%d bytes, %+v", len(filled.Values), filled.Refused)
	}
	filled = filler.Fill(arguments.Given{Words: strings.Repeat("x", 1<<20)})
	if filled.Complete() || len(filled.Values) > 100 {
		t.Errorf("%d bytes, %+v", len(filled.Values), filled.Refused)
	}
}
