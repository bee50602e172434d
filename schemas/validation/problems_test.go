package validation_test

import (
	"strings"
	"testing"

	"podium/schemas/validation"
)

// TestProblems: all that is missing is told, however the schema asks for it.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, schema, value, want string }{
		{"right", `{"required":["a"]}`, `{"a":1}`, ``},
		{"all of them", `{"required":["b","a"]}`, `{}`, `/a missing, /b missing`},
		{"nested", `{"required":["a"],"properties":{"o":{"required":["x","y"]}}}`, `{"o":{"x":1}}`, `/a missing, /o/y missing`},
		{"a name with a slash", `{"required":["a/b"]}`, `{}`, `/a~1b missing`},
		{"if, then", `{"if":{"required":["a"]},"then":{"required":["b","c"]}}`, `{"a":1}`, `/b missing, /c missing`},
		{"if, else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, `/c missing`},
		{"dependent", `{"dependentRequired":{"a":["b","c"]}}`, `{"a":1}`, `/b missing, /c missing`},
		{"dependent, of old", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`, `/b missing`},
		{"both parts of all", `{"allOf":[{"required":["a"]},{"required":["a","b"]}]}`, `{}`, `/a missing, /b missing`},
		{"behind a reference", `{"$ref":"#/$defs/x","$defs":{"x":{"required":["a"]}}}`, `{}`, `/a missing`},
		{"the alternative of its constant", `{"oneOf":[
			{"properties":{"k":{"const":"one"}},"required":["k","a"]},
			{"properties":{"k":{"const":"two"}},"required":["k","b","c"]}]}`, `{"k":"two"}`, `/b missing, /c missing`},
		{"the alternative that lacks least", `{"anyOf":[{"required":["a","b"]},{"required":["c"]}]}`, `{}`, `/c missing`},
		{"the first of two", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `/a missing`},
		{"two alternatives at once", `{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"b":1}`, ` breaks oneOf`},
		{"a wrong one beside a missing one", `{"required":["b"],"properties":{"a":{"type":"string"}}}`, `{"a":1}`, `/a is of type number, want string, /b missing`},
		{"a format that is not asserted", `{"properties":{"d":{"format":"date"}}}`, `{"d":"x"}`, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			schema, err := validation.Compile([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			if got := problems(t, schema, test.value); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestLacks: of alternatives that lack as little, all are told; one that lacks more, or of which something is wrong, is not.
func TestLacks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, value, want string }{
		{`{"anyOf":[{"required":["a"]},{"required":["b"]},{"required":["c","d"]}]}`, `{}`, `/a /b`},
		{`{"anyOf":[{"required":["a","b"]},{"required":["c"]}]}`, `{}`, `/c`},
		{`{"required":["z"],"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1}`, `/z`},
		{`{"anyOf":[{"required":["a"]},{"properties":{"k":{"type":"string"}},"required":["b"]}]}`, `{"k":1}`, `/a`},
	} {
		schema, err := validation.Compile([]byte(test.schema))
		if err != nil {
			t.Fatal(err)
		}
		lacking, err := schema.Lacks([]byte(test.value))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, problem := range lacking {
			got = append(got, problem.Pointer)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s of %s: %v, want %s", test.value, test.schema, got, test.want)
		}
	}
}

func TestProblemsOfAssertedFormats(t *testing.T) {
	t.Parallel()
	schema, err := validation.CompileAsserted([]byte(`{"properties":{"d":{"format":"date"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := problems(t, schema, `{"d":"2026-02-30"}`); !strings.HasPrefix(got, "/d ") {
		t.Errorf("%q", got)
	}
	if got := problems(t, schema, `{"d":"2026-02-28"}`); got != "" {
		t.Errorf("%q", got)
	}
	if _, err := schema.Problems([]byte(`{`)); err == nil {
		t.Error("half an object has no problems")
	}
}

func problems(t *testing.T, schema *validation.Schema, value string) string {
	t.Helper()
	found, err := schema.Problems([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	told := make([]string, len(found))
	for i, problem := range found {
		told[i] = problem.Pointer + " " + problem.Reason
		if problem.Missing {
			told[i] = problem.Pointer + " missing"
		}
	}
	return strings.Join(told, ", ")
}
