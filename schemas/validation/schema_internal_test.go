package validation

import (
	"errors"
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
