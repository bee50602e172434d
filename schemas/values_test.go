package schemas_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"podium/schemas"
)

// TestValuesAreCounted: JSON is bounded by its values and by the members of each object, and by nothing that stands in strings.
func TestValuesAreCounted(t *testing.T) {
	t.Parallel()
	members := func(count int) string {
		var made strings.Builder
		for n := range count {
			fmt.Fprintf(&made, `"%x":0,`, n)
		}
		return "{" + strings.TrimSuffix(made.String(), ",") + "}"
	}
	for name, one := range map[string]struct {
		value   string
		allowed bool
	}{
		"nothing":             {"", true},
		"a long text":         {`"` + strings.Repeat(`,[{:\"`, 1<<20) + `"`, true},
		"a table":             {"[" + strings.Repeat(`{"a":1,"b":[2,3]},`, 60_000) + "{}]", true},
		"all values":          {"[" + strings.Repeat("0,", schemas.MaxValues-2) + "0]", true},
		"a value more":        {"[" + strings.Repeat("0,", schemas.MaxValues) + "0]", false},
		"empty objects":       {"[" + strings.Repeat("{},", schemas.MaxValues) + "0]", false},
		"deep":                {strings.Repeat("[", schemas.MaxValues+1), false},
		"all members":         {members(schemas.MaxMembers), true},
		"a member more":       {members(schemas.MaxMembers + 1), false},
		"members of an inner": {`{"a":[` + members(schemas.MaxMembers+1) + `]}`, false},
	} {
		if err := schemas.CheckValues([]byte(one.value)); (err == nil) != one.allowed || err != nil && !errors.Is(err, schemas.ErrTooManyValues) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
