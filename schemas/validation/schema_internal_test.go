package validation

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A fault that no reason was written for still names its keyword.
func TestReasonOfUnforeseenFault(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("test.json", map[string]any{"uniqueItems": true}); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("test.json")
	if err != nil {
		t.Fatal(err)
	}
	var refused *jsonschema.ValidationError
	if err := schema.Validate([]any{1, 1}); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if err := firstProblem(refused); err.Error() != "invalid message: breaks uniqueItems" {
		t.Error(err)
	}
}

// TestLargePatternsAreRefused: a pattern of some bytes that becomes a program of very many steps is refused before it is compiled;
// all others are compiled as they are.
func TestLargePatternsAreRefused(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]error{
		`^[a-z]{1,1000}$`:                      nil,
		`^.{0,1000}$`:                          nil,
		`^(\p{L}|[0-9]){3,40}(-\d+)?$`:         nil,
		strings.Repeat("x{0,1000}", 300):       errLarge,
		strings.Repeat("(ab|cd)", 2000):        errLarge,
		`((a{100}){100}){1000}`:                errExpression,
		`(((x{9}){9}){9}){9}`:                  errExpression,
		`(unclosed`:                            errExpression,
		`(x{0,1000}){0,1000}`:                  errExpression,
		strings.Repeat("(", 990) + "x" + "x*)": errExpression,
	} {
		for _, schema := range []string{`{"pattern":%q}`, `{"properties":{"a":{"pattern":%q}}}`, `{"patternProperties":{%q:{}}}`} {
			_, err := Compile(fmt.Appendf(nil, schema, pattern))
			if !errors.Is(err, want) {
				t.Errorf("%.40q in %s: %v, want %v", pattern, schema, err, want)
			}
		}
	}
	for count, want := range map[int]error{9: nil, 10: errLarge} {
		members := make([]string, count)
		for i := range members {
			members[i] = fmt.Sprintf(`{"pattern":"%da{0,1000}"}`, i)
		}
		if _, err := Compile([]byte(`{"anyOf":[` + strings.Join(members, ",") + `]}`)); !errors.Is(err, want) {
			t.Errorf("%d patterns: %v, want %v", count, err, want)
		}
	}
}
