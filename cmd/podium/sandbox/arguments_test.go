package sandbox

import (
	"strings"
	"testing"
)

func TestArgumentsAreMadeUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, want string }{
		"nothing is required": {`{"type": "object", "properties": {"a": {"type": "string"}}}`, `{}`},
		"what is required": {
			`{"type": "object", "required": ["a", "b", "c", "d", "e"], "properties": {
				"a": {"type": "string"}, "b": {"type": "integer", "minimum": 7}, "c": {"enum": ["x", "y"]}, "d": {"const": 3}, "e": {"type": ["null", "boolean"]}}}`,
			`{"a":"otters","b":7,"c":"x","d":3,"e":false}`,
		},
		"what is inside": {
			`{"required": ["list", "who"], "properties": {
				"list": {"type": "array", "minItems": 2, "items": {"type": "number"}},
				"who": {"type": "object", "required": ["mail"], "properties": {"mail": {"type": "string", "format": "email"}}}}}`,
			`{"list":[1,1],"who":{"mail":"somebody@example.org"}}`,
		},
		"its own words":      {`{"required": ["a"], "properties": {"a": {"type": "string", "default": "d", "examples": ["e"]}}}`, `{"a":"e"}`},
		"its own examples":   {`{"required": ["a"], "examples": [{"a": 1}, {"a": 2}]}`, `{"a":1}` + "\n" + `{"a":2}`},
		"a length":           {`{"required": ["a"], "properties": {"a": {"type": "string", "minLength": 12}}}`, `{"a":"otters and otters"}`},
		"an unknown pattern": {`{"required": ["a"], "properties": {"a": {"type": "string", "pattern": "^[0-9]{5}$"}}}`, ""},
		"a wrong example":    {`{"required": ["a"], "examples": [{"b": 1}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, err := examplesOf([]byte(c.schema))
			var got []string
			for _, one := range made {
				got = append(got, string(one))
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("%s, %v, want %s", text, err, c.want)
			}
			if c.want == "" && (err == nil || !strings.Contains(err.Error(), "--arguments")) {
				t.Errorf("the error does not say what to do: %v", err)
			}
		})
	}
}

// The command line shows what a program has written last, however much that was.
func TestLastWords(t *testing.T) {
	t.Parallel()
	output := &tail{}
	for range 1000 {
		_, _ = output.Write([]byte("a line of twenty-odd bytes\n"))
	}
	_, _ = output.Write([]byte("the last\n\n"))
	if last := output.last(); last != "the last" || len(output.kept) > tailBytes {
		t.Errorf("%q of %d bytes", last, len(output.kept))
	}
}
