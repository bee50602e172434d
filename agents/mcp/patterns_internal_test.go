package mcp

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas/validation"
)

// TestPatternsOfECMA262: a pattern that cannot be read here is left to the server and named in the pin; the rest of the
// schema holds.
func TestPatternsOfECMA262(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`^(?!\.)a`, `^(?=.*a).*$`, `(?<=a)b`, `(?<!a)b`, `(a)\1`, `(?<x>a)\k<x>`, `^\p{Script=Greek}+$`, `^\u00e9$`, `\u{1F600}`, `(`,
	} {
		written, err := jsontext.AppendQuote(nil, pattern)
		if err != nil {
			t.Fatal(err)
		}
		quoted := string(written)
		for name, c := range map[string]struct{ schema, good, bad string }{
			"pattern": {
				`{"type":"object","required":["who"],"properties":{"who":{"type":"string","minLength":2,"pattern":` + quoted + `},"pattern":{"type":"string","pattern":"^a"}}}`,
				`{"who":"ab","pattern":"ab"}`, `{"who":"a"}`,
			},
			"within": {
				`{"type":"object","properties":{"all":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/x"}]}}},"$defs":{"x":{"type":"string","pattern":` + quoted + `}}}`,
				`{"all":["b"]}`, `{"all":[1]}`,
			},
			"patternProperties": {
				`{"type":"object","properties":{"n":{"type":"number"}},"patternProperties":{` + quoted + `:{"type":"string"},"^b":{"type":"number"}},"additionalProperties":false}`,
				`{"n":1,"x":"y"}`, `{"b":"y"}`,
			},
			"unevaluated": {
				`{"type":"object","allOf":[{"patternProperties":{` + quoted + `:{"type":"string"}}}],"unevaluatedProperties":false,"required":["n"]}`, `{"n":1}`, `{}`,
			},
			"not": {
				`{"type":"object","required":["n"],"properties":{"a":{"not":{"pattern":` + quoted + `}},"n":{"not":{"type":"string"}}}}`, `{"n":1,"a":"b"}`, `{"n":"b"}`,
			},
			"one of": {
				`{"type":"object","required":["n"],"oneOf":[{"properties":{"a":{"pattern":` + quoted + `}}},{"required":["b"]}],"unevaluatedProperties":false,"properties":{"n":{}}}`,
				`{"n":1,"a":"b","b":1}`, `{}`,
			},
			"if": {
				`{"type":"object","properties":{"a":{"if":{"pattern":` + quoted + `},"then":{"maxLength":1},"else":{"minLength":9},"type":"string"}}}`, `{"a":"bcd"}`, `{"a":1}`,
			},
			"contains, by reference": {
				`{"type":"object","properties":{"a":{"contains":{"$ref":"#/$defs/x"},"maxContains":1,"maxItems":3}},"$defs":{"x":{"pattern":` + quoted + `}}}`,
				`{"a":["b","c"]}`, `{"a":[1,2,3,4]}`,
			},
			"property names": {`{"type":"object","propertyNames":{"pattern":` + quoted + `,"maxLength":2}}`, `{"n":1}`, `{"long":1}`},
		} {
			tool := Tool{Name: "t", InputSchema: jsontext.Value(c.schema), OutputSchema: jsontext.Value(c.schema)}
			made, err := NewPin(tool, "s", "1")
			if err != nil {
				t.Fatal(err)
			}
			body, err := made.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			read, err := ReadPin(body)
			if err != nil || !slices.Equal(read.Unread, []string{pattern}) {
				t.Errorf("%s %s: %v, %+v", name, pattern, err, read)
				continue
			}
			for _, held := range []jsontext.Value{read.Tool.HeldInput(), read.Tool.HeldOutput()} {
				compiled, err := validation.Compile(held)
				if err != nil {
					t.Errorf("%s %s: %v", name, pattern, err)
					continue
				}
				if err := compiled.Validate([]byte(c.good)); err != nil {
					t.Errorf("%s %s: %s is refused: %v", name, pattern, c.good, err)
				}
				if compiled.Validate([]byte(c.bad)) == nil {
					t.Errorf("%s %s: %s is taken", name, pattern, c.bad)
				}
			}
		}
	}
}

// TestReadablePatternsStay: a schema whose patterns can be read is held to as it is written, and what only looks like a
// pattern is none.
func TestReadablePatternsStay(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"pattern":"^\\p{L}+$"}},"patternProperties":{"^x":{}},"additionalProperties":false}`,
		`{"properties":{"pattern":{"type":"string","enum":["(?=a)"],"default":{"pattern":"(?=a)"}}}}`, ``,
	} {
		tool := Tool{Name: "t", InputSchema: jsontext.Value(schema)}
		if held := tool.HeldInput(); string(held) != schema || tool.UnreadPatterns() != nil {
			t.Errorf("%s is held to as %s, without %q", schema, held, tool.UnreadPatterns())
		}
	}
}
