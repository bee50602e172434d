package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// isWait reports whether a call kills a process, or waits for a time on the real clock.
func isWait(pkg, function string) bool {
	switch pkg {
	case "time":
		return slices.Contains([]string{"Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}, function)
	case "context":
		return function == "WithTimeout" || function == "WithDeadline"
	default:
		return (pkg == "syscall" || pkg == "bustest") && function == "Kill"
	}
}

// findWaitingTests returns, by package, the tests that kill or wait: by themselves, or by a function of their package
// that they name. Tests in a bubble of testing/synctest are left out, since their clock is no real one.
//
// Files for another system than this one, and files behind other build tags than tags, are left out.
func findWaitingTests(root string, tags []string) (map[string][]string, error) {
	matching := build.Default
	matching.BuildTags = tags
	files := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "testdata" || entry.Name() == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		if built, err := matching.MatchFile(filepath.Dir(path), entry.Name()); err != nil || !built {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		files[filepath.ToSlash(folder)] = append(files[filepath.ToSlash(folder)], file)
		return err
	})
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for folder, parsed := range files {
		if tests := waitingTests(parsed); len(tests) > 0 {
			found[folder] = tests
		}
	}
	return found, nil
}

// waitingTests returns the tests of one package that kill or wait.
func waitingTests(files []*ast.File) []string {
	names := map[string]map[string]bool{} // of functions: what they name
	waiting := map[string]bool{}
	virtual := map[string]bool{}
	for _, file := range files {
		for _, declared := range file.Decls {
			function, is := declared.(*ast.FuncDecl)
			if !is || function.Body == nil {
				continue
			}
			name := function.Name.Name
			if names[name] == nil {
				names[name] = map[string]bool{}
			}
			ast.Inspect(function.Body, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.SelectorExpr:
					if from, is := node.X.(*ast.Ident); is {
						waiting[name] = waiting[name] || isWait(from.Name, node.Sel.Name)
						virtual[name] = virtual[name] || from.Name == "synctest"
					}
					names[name][node.Sel.Name] = true
				case *ast.Ident:
					names[name][node.Name] = true
				}
				return true
			})
		}
	}
	for changed := true; changed; {
		changed = false
		for name, named := range names {
			for other := range named {
				if waiting[other] && !virtual[other] && !waiting[name] {
					waiting[name], changed = true, true
				}
				if virtual[other] && !virtual[name] && names[other] != nil {
					virtual[name], changed = true, true
				}
			}
		}
	}
	var tests []string
	for name := range names {
		if strings.HasPrefix(name, "Test") && name != "TestMain" && waiting[name] && !virtual[name] {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
