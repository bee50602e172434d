package cmd_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pure are the packages that decide: same input, same output, for ever. What
// they may import is in the layer table and the linter's configuration.
var pure = []string{"schemas", "schemas/validation", "schemas/immutable", "schemas/seen", "schemas/pointer", "schemas/reference", "schemas/sentences", "schemas/workflow", "supervisor/route", "supervisor/language", "supervisor/phrase", "supervisor/answer", "supervisor/findings", "supervisor/arguments", "supervisor/approval", "supervisor/budget", "supervisor/circuit", "supervisor/recovery", "supervisor/review", "supervisor/plan", "supervisor/say", "supervisor/score", "supervisor/session"}

// mayLock are files of pure packages that keep something computed once.
var mayLock = []string{"schemas/validation.go", "language/model.go"}

// TestPure forbids in the pure packages what would make two decisions on the
// same input differ: goroutines, channels, locks, clocks, ranging over a map.
func TestPure(t *testing.T) {
	t.Parallel()
	exports := exportData(t, pure...)
	for _, name := range pure {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := []string{}
			matches, err := filepath.Glob(filepath.Join("..", name, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range matches {
				if !strings.HasSuffix(file, "_test.go") {
					files = append(files, file)
				}
			}
			if len(files) == 0 {
				t.Fatal("no files")
			}
			for _, found := range impurities(t, module+name, exports, files) {
				t.Error(found)
			}
		})
	}
}

// TestPureFindsEach plants one of everything that TestPure forbids.
func TestPureFindsEach(t *testing.T) {
	t.Parallel()
	source := `package planted
import ("sync"; "time")
type room struct { sync.Mutex }
func f(m map[string]int, c chan int) {
	for range m {}
	go f(m, c)
	select {}
	_ = time.Now()
	<-c
}`
	file := filepath.Join(t.TempDir(), "planted.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	found := strings.Join(impurities(t, "planted", exportData(t, pure...), []string{file}), "\n")
	for _, want := range []string{
		":2:9: sync in", ":4:28: a channel", ":5:2: ranging over a map", ":6:2: a goroutine", ":7:2: select", ":8:6: time.Now", ":9:2: a channel",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("%q was not found in\n%s", want, found)
		}
	}
}

func impurities(t *testing.T, importPath string, exports map[string]string, names []string) []string {
	t.Helper()
	fset := token.NewFileSet()
	files, info := checked(t, fset, importPath, exports, names)
	var found []string
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			if what := impurity(node, info, fset); what != "" {
				found = append(found, fset.Position(node.Pos()).String()+": "+what+" in a pure package")
			}
			return true
		})
	}
	return found
}

// checked reads the files of a package and finds out what each name in them stands for.
func checked(t *testing.T, fset *token.FileSet, importPath string, exports map[string]string, names []string) ([]*ast.File, *types.Info) {
	t.Helper()
	files := make([]*ast.File, 0, len(names))
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(exports[name])
	})}
	if _, err := config.Check(importPath, fset, files, info); err != nil {
		t.Fatal(err)
	}
	return files, info
}

func impurity(node ast.Node, info *types.Info, fset *token.FileSet) string {
	switch n := node.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.SelectStmt:
		return "select"
	case *ast.ChanType, *ast.SendStmt:
		return "a channel"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "a channel"
		}
	case *ast.RangeStmt:
		if isMap(info.TypeOf(n.X)) {
			return "ranging over a map"
		}
	case *ast.ImportSpec:
		imported := strings.Trim(n.Path.Value, `"`)
		if (imported == "sync" || imported == "sync/atomic") && !locks(fset.Position(n.Pos()).Filename) {
			return imported
		}
	case *ast.SelectorExpr:
		if used := info.Uses[n.Sel]; used != nil && used.Pkg() != nil && used.Pkg().Path() == "time" && readsClock(used) {
			return "time." + used.Name()
		}
	}
	return ""
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func readsClock(used types.Object) bool {
	function, ok := used.(*types.Func)
	if !ok || function.Signature().Recv() != nil {
		return false
	}
	return slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}, used.Name())
}

func locks(file string) bool {
	name := path.Join(path.Base(filepath.ToSlash(filepath.Dir(file))), filepath.Base(file))
	return slices.ContainsFunc(mayLock, func(pattern string) bool {
		matched, _ := path.Match(pattern, name)
		return matched
	})
}

// exportData has the go command compile everything that the pure packages
// import, and returns where the compiler's description of each package lies.
func exportData(t *testing.T, packages ...string) map[string]string {
	t.Helper()
	args := []string{"list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, name := range packages {
		args = append(args, module+name)
	}
	exports := map[string]string{}
	for line := range strings.Lines(run(t, "go", args...)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[name] = file
	}
	return exports
}
