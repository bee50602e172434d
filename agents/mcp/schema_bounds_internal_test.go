package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// folded is a schema of few bytes in which each definition stands for several of the next one.
func folded(definitions, times int) string {
	var text strings.Builder
	text.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range definitions {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&text, `"d%d":{"anyOf":[%s]},`, i, strings.TrimSuffix(strings.Repeat(next+",", times), ","))
	}
	fmt.Fprintf(&text, `"d%d":{"type":"string"}}}`, definitions)
	return text.String()
}

// TestBounded: a schema of a stranger is refused when holding a value to it could take long, however short it is.
func TestBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ schema, want string }{
		"a usual one":            {`{"type":"object","properties":{"a":{"type":"string"},"$ref":{"type":"number"}},"required":["a"]}`, ""},
		"a tree":                 {`{"$ref":"#/$defs/node","$defs":{"node":{"properties":{"next":{"$ref":"#/$defs/node"}}}}}`, ""},
		"itself":                 {`{"properties":{"next":{"$ref":"#"}}}`, ""},
		"an escaped pointer":     {`{"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"string"}}}`, ""},
		"folded a few times":     {folded(4, 3), ""},
		"folded too often":       {folded(6, 8), "more than 10000 nodes"},
		"too many nodes":         {`{"enum":[` + strings.Repeat("1,", 10_000) + `1]}`, "more than 10000 nodes"},
		"hidden under a name":    {`{"properties":{"definitions":{"enum":[` + strings.Repeat("1,", 10_000) + `1]}}}`, "more than 10000 nodes"},
		"too deep":               {strings.Repeat(`{"not":`, 40) + `{}` + strings.Repeat(`}`, 40), "deeper than 32"},
		"too long":               {`{"description":"` + strings.Repeat("x", maxSchema) + `"}`, "more than 65536"},
		"a reference to a name":  {`{"$ref":"#item","$defs":{"x":{"$anchor":"item"}}}`, "only pointers"},
		"a reference to outside": {`{"$ref":"https://example.org/schema.json"}`, "only pointers"},
		"no JSON":                {`{`, "no JSON"},

		"twice, and deeper":           {`{"anyOf":[{"items":{"$ref":"#"}},{"type":"array","items":{"$ref":"#"}}]}`, "in two ways"},
		"twice by an older keyword":   {`{"$schema":"https://json-schema.org/draft/2019-09/schema","anyOf":[{"items":{"$recursiveRef":"#"}},{"items":{"$recursiveRef":"#"}}]}`, "in two ways"},
		"by two references to one":    {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#/properties/b"}]},"b":{"$ref":"#"}}}`, "in two ways"},
		"each two of the ones before": {`{"properties":{"x":{"allOf":[{"$ref":"#"},{"properties":{"x":{"$ref":"#"}}}]}}}`, "in two ways"},
		"in turns":                    {`{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"y":{"$ref":"#/$defs/u"}}},"u":{"allOf":[{"properties":{"y":{"$ref":"#/$defs/t"}}},{"properties":{"y":{"$ref":"#/$defs/u"}}}]}}}`, "in two ways"},
		"any name and one":            {`{"additionalProperties":{"$ref":"#"},"anyOf":[{"properties":{"a":{"$ref":"#"}}}]}`, "in two ways"},
		"without end":                 {`{"allOf":[{"$ref":"#"}]}`, "same part"},
		"another base":                {`{"$ref":"#/$defs/x","$defs":{"a":true,"x":{"$id":"http://example.org/x","$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}}}`, "$id of its own"},
		"another base, of old":        {`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"id":"http://example.org/x"}}}`, "$id of its own"},
		"its own id":                  {`{"$id":"http://example.org/x","properties":{"$id":{"type":"string"},"id":{"type":"string"}}}`, ""},
		"one or a list of them":       {`{"properties":{"child":{"anyOf":[{"$ref":"#"},{"type":"array","items":{"$ref":"#"}}]}}}`, ""},
		"any JSON":                    {`{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},{"type":"object","additionalProperties":{"$ref":"#"}}]}`, ""},
		"names, and all others":       {`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"additionalProperties":{"$ref":"#"},"prefixItems":[{"$ref":"#"},{"$ref":"#"}],"items":{"$ref":"#"}}`, ""},
		"conditions of a filter":      {`{"$ref":"#/$defs/f","$defs":{"f":{"anyOf":[{"properties":{"and":{"items":{"$ref":"#/$defs/f"}}}},{"properties":{"or":{"items":{"$ref":"#/$defs/f"}}}},{"properties":{"not":{"$ref":"#/$defs/f"}}}]}}}`, ""},
	} {
		err := bounded(jsontext.Value(test.schema))
		if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// FuzzBounded: whatever a server says of a schema, it is counted in a bounded time or refused.
func FuzzBounded(f *testing.F) {
	f.Add(folded(3, 2))
	f.Add(`{"$ref":"#/a/0","a":[{"$ref":"#"}]}`)
	f.Fuzz(func(_ *testing.T, schema string) { _ = bounded(jsontext.Value(schema)) })
}
