package versions_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/supervisor/sim/versions"
)

// TestFiles: what the oracle says of small plans is what a person would.
func TestFiles(t *testing.T) {
	t.Parallel()
	made := func(hash string) []schemas.Deliverable {
		return []schemas.Deliverable{{DeliverableID: "p", Path: "./p", Metadata: fmt.Appendf(nil, `{"sha256":%q}`, strings.Repeat(hash, 64))}}
	}
	a, b, c := versions.Task{ID: "a", Made: made("1")}, versions.Task{ID: "b", Made: made("2"), Dependencies: []string{"a"}}, versions.Task{ID: "c", Made: made("3"), Dependencies: []string{"a"}}
	d := versions.Task{ID: "d", Made: made("4"), Dependencies: []string{"b", "c"}}
	merge := versions.Version{By: "judge:merge:1", Of: []string{"b", "c"}, Place: 3, Path: "p", Hash: strings.Repeat("5", 64)}
	for name, row := range map[string]struct {
		run   versions.Run
		heads []string
		base  string
	}{
		"one behind the other":      {versions.Run{Tasks: []versions.Task{a, b}}, []string{"2"}, ""},
		"two beside each other":     {versions.Run{Tasks: []versions.Task{a, b, c}}, []string{"2", "3"}, "1"},
		"two that are the same":     {versions.Run{Tasks: []versions.Task{{ID: "a", Made: made("1")}, {ID: "b", Made: made("1")}}}, []string{"1"}, ""},
		"a merge":                   {versions.Run{Tasks: []versions.Task{a, b, c}, Merged: []versions.Version{merge}}, []string{"5"}, ""},
		"made beside its merge":     {versions.Run{Tasks: []versions.Task{a, b, c, d}, Merged: []versions.Version{merge}}, []string{"4"}, ""},
		"one of two, after a merge": {versions.Run{Tasks: []versions.Task{a, b, c, {ID: "e", Made: made("6"), Dependencies: []string{"b"}}}, Merged: []versions.Version{merge}}, []string{"6", "5"}, "2"},
		"two on one behind a merge": {versions.Run{Tasks: []versions.Task{
			a, b, c, d, {ID: "e", Made: made("6"), Dependencies: []string{"d"}}, {ID: "f", Made: made("7"), Dependencies: []string{"d"}},
		}, Merged: []versions.Version{merge}}, []string{"6", "7"}, "4"},
	} {
		files := row.run.Files()
		var heads []string
		for _, hash := range files[0].Hashes() {
			heads = append(heads, hash[:1])
		}
		if len(files) != 1 || !slices.Equal(heads, row.heads) || files[0].Base != strings.Repeat(row.base, 64) {
			t.Errorf("%s: %v with base %q, want %v with %q", name, heads, files[0].Base, row.heads, row.base)
		}
	}
}
