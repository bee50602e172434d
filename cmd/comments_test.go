package cmd_test

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestComments reads what `go doc` shows: every package begins with a sentence on what it is
// for, every link leads to a name that is there, and every test that is called as a
// witness exists.
func TestComments(t *testing.T) {
	t.Parallel()
	exist := declaredTests(t)
	packages, declared := map[string]*doc.Package{}, map[string]bool{}
	for _, p := range list(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		documented := documentation(t, &p)
		packages[p.ImportPath] = documented
		for _, name := range symbols(documented) {
			declared[p.ImportPath+"."+name] = true
		}
	}
	links := 0
	for path, p := range packages {
		if words := strings.Fields(p.Synopsis(p.Doc)); len(words) < 6 {
			t.Errorf("%s: %q does not tell a stranger what it is for", path, p.Synopsis(p.Doc))
		}
		for _, text := range comments(p) {
			found, broken := brokenLinks(p, text, declared)
			links += found
			for _, link := range broken {
				t.Errorf("%s: a comment links to %s, which is not there", path, link)
			}
		}
		for _, name := range regexp.MustCompile(`\bTest\w+`).FindAllString(p.Doc, -1) {
			if !exist[name] && !declared[path+"."+name] {
				t.Errorf("%s: the test %s, which the package's comment names, is not there", path, name)
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were followed", links)
	}
}

func documentation(t *testing.T, p *listed) *doc.Package {
	t.Helper()
	files, parsed := token.NewFileSet(), []*ast.File{}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	documented, err := doc.NewFromFiles(files, parsed, p.ImportPath)
	if err != nil {
		t.Fatal(err)
	}
	return documented
}

// symbols returns the exported names of a package, methods and fields as Type.Name.
func symbols(p *doc.Package) (names []string) {
	for _, value := range slices.Concat(p.Consts, p.Vars) {
		names = append(names, value.Names...)
	}
	for _, function := range p.Funcs {
		names = append(names, function.Name)
	}
	for _, kind := range p.Types {
		names = append(names, kind.Name)
		for _, value := range slices.Concat(kind.Consts, kind.Vars) {
			names = append(names, value.Names...)
		}
		for _, function := range kind.Funcs {
			names = append(names, function.Name)
		}
		for _, method := range kind.Methods {
			names = append(names, kind.Name+"."+method.Name)
		}
		ast.Inspect(kind.Decl, func(node ast.Node) bool {
			if field, is := node.(*ast.Field); is {
				for _, name := range field.Names {
					names = append(names, kind.Name+"."+name.Name)
				}
			}
			return true
		})
	}
	return names
}

// comments returns what `go doc` shows of a package.
func comments(p *doc.Package) []string {
	texts := []string{p.Doc}
	for _, value := range slices.Concat(p.Consts, p.Vars) {
		texts = append(texts, value.Doc)
	}
	for _, function := range p.Funcs {
		texts = append(texts, function.Doc)
	}
	for _, kind := range p.Types {
		texts = append(texts, kind.Doc)
		for _, function := range slices.Concat(kind.Funcs, kind.Methods) {
			texts = append(texts, function.Doc)
		}
	}
	return texts
}

var bracketed = regexp.MustCompile(`\[\*?[A-Z]\w*(?:\.[A-Z]\w*)?\]|\[[a-z]\w*\.[A-Z]\w*(?:\.[A-Z]\w*)?\]`)

// brokenLinks counts the links of a comment, and returns those that lead nowhere: what
// stands in brackets and is no link, and links into a package that has no such name.
func brokenLinks(p *doc.Package, text string, declared map[string]bool) (found int, broken []string) {
	inspect(p.Parser().Parse(text).Content, func(text comment.Text) {
		switch text := text.(type) {
		case comment.Plain:
			lost := bracketed.FindAllString(string(text), -1)
			found += len(lost)
			broken = append(broken, lost...)
		case *comment.DocLink:
			found++
			name := strings.TrimPrefix(text.Recv+"."+text.Name, ".")
			path := text.ImportPath
			if path == "" {
				path = p.ImportPath
			}
			if strings.HasPrefix(path, module) && !declared[path+"."+name] {
				broken = append(broken, path+"."+name)
			}
		}
	})
	return found, broken
}

func inspect(blocks []comment.Block, each func(comment.Text)) {
	for _, block := range blocks {
		switch block := block.(type) {
		case *comment.Paragraph:
			for _, text := range block.Text {
				each(text)
			}
		case *comment.List:
			for _, item := range block.Items {
				inspect(item.Content, each)
			}
		}
	}
}

// TestBrokenLinks plants links that lead nowhere.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const source = "// Package house is [Door], [Door.Open], [Room], [podium/bus.Ledger] and [podium/bus.Legder].\n//\n//   - A list with a [Window].\npackage house\n\n" +
		"// A Door is one.\ntype Door struct{ Open bool }\n"
	if err := os.WriteFile(filepath.Join(dir, "house.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	p := documentation(t, &listed{ImportPath: module + "house", Dir: dir, GoFiles: []string{"house.go"}})
	declared := map[string]bool{"podium/bus.Ledger": true}
	for _, name := range symbols(p) {
		declared[p.ImportPath+"."+name] = true
	}
	found, broken := brokenLinks(p, p.Doc, declared)
	if want := []string{"[Room]", "podium/bus.Legder", "[Window]"}; found != 6 || !slices.Equal(broken, want) {
		t.Errorf("%d links, and broken are %v", found, broken)
	}
}
