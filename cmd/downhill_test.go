package cmd_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// downhill are the files of the loop of a shard's owner, in the order of their calls. Each calls
// those behind it alone: whoever reads them in this order meets nothing that leads back.
var downhill = []string{
	"lifecycle.go", "owner.go", "takeover.go", "advance.go", "read.go", "prepare.go", "decide.go", "batch.go", "store.go", "load.go", "orphans.go",
	"send.go", "evaluate.go", "fetch_missing.go", "damaged.go", "quarantine.go", "hints.go", "confirm.go", "input.go", "evict.go", "session.go", "stage.go", "stall.go",
}

// TestSupervisorRunsDownhill draws the calls between the files of the supervisor from their
// syntax, and refuses one that leads back.
func TestSupervisorRunsDownhill(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../supervisor/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	calls := callsBetween(t, module+"supervisor", exportData(t, "supervisor"), names)
	if len(calls) < 30 {
		t.Fatalf("only %d calls between files were found", len(calls))
	}
	for _, name := range names {
		if file := filepath.Base(name); file != "doc.go" && !slices.Contains(downhill, file) {
			t.Errorf("%s has no place in the order of the files", file)
		}
	}
	for _, call := range calls {
		if slices.Index(downhill, call.to) < slices.Index(downhill, call.from) {
			t.Errorf("%s: %s calls %s of %s, which is before it", call.at, call.from, call.name, call.to)
		}
	}
}

// TestUphillIsFound plants a call that leads back.
func TestUphillIsFound(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var names []string
	for name, source := range map[string]string{
		"a.go": "package planted\ntype loop struct{}\nfunc (l *loop) first() { l.second() }\n",
		"b.go": "package planted\nfunc (l *loop) second() { later(l.first) }\nfunc later(func()) {}\n",
	} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, file)
	}
	slices.Sort(names)
	var found []string
	for _, call := range callsBetween(t, "planted", nil, names) {
		found = append(found, call.from+" "+call.name+" "+call.to)
	}
	if want := []string{"a.go second b.go", "b.go first a.go"}; !slices.Equal(found, want) {
		t.Errorf("found are %q", found)
	}
}

// A fileCall is a use of a function or method of another file of the package.
type fileCall struct{ at, from, name, to string }

func callsBetween(t *testing.T, importPath string, exports map[string]string, names []string) (calls []fileCall) {
	t.Helper()
	fset := token.NewFileSet()
	files, info := checked(t, fset, importPath, exports, names)
	base := func(pos token.Pos) string { return filepath.Base(fset.Position(pos).Filename) }
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			name, ok := node.(*ast.Ident)
			if !ok {
				return true
			}
			used, ok := info.Uses[name].(*types.Func)
			if !ok || used.Pkg() == nil || used.Pkg().Path() != importPath || base(used.Pos()) == base(name.Pos()) {
				return true
			}
			calls = append(calls, fileCall{fset.Position(name.Pos()).String(), base(name.Pos()), used.Name(), base(used.Pos())})
			return true
		})
	}
	return calls
}
