package cmd_test

import (
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"podium/schemas"
	"podium/supervisor/say"
)

var placeInSentence = regexp.MustCompile(`\{(\w+)\}`)

// placesIn are the names of the places of a sentence.
func placesIn(language, key string) []string {
	names := map[string]bool{}
	for _, found := range placeInSentence.FindAllStringSubmatch(say.Sentence(&schemas.Language{Tag: language}, key), -1) {
		names[found[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// TestEachReasonHasASentence: each code has a sentence in each language, and each reason that is made has exactly the
// values that its sentence names.
func TestEachReasonHasASentence(t *testing.T) {
	t.Parallel()
	core, err := readCore()
	if err != nil {
		t.Fatal(err)
	}
	codes, made := map[string]bool{}, map[string]bool{}
	scope := core.packages[0].Prog.ImportedPackage("podium/schemas").Pkg.Scope()
	for _, name := range scope.Names() {
		if known, is := scope.Lookup(name).(*types.Const); is && known.Type().String() == "podium/schemas.ReasonCode" {
			codes[constant.StringVal(known.Val())] = true
		}
	}
	for _, pkg := range core.source {
		for _, file := range pkg.Syntax {
			ast.Inspect(file, func(node ast.Node) bool {
				if call, is := node.(*ast.CallExpr); is {
					checkReason(t, pkg, call, made)
				}
				return true
			})
		}
	}
	if len(codes) < 80 {
		t.Errorf("only %d codes were found", len(codes))
	}
	for code := range codes {
		german, english := placesIn("de", code), placesIn("en", code)
		if say.Sentence(say.English(), code) == code || !slices.Equal(german, english) {
			t.Errorf("%s: %q in German, %q in English", code, german, english)
		}
		if !made[code] {
			t.Errorf("%s: nothing gives this reason", code)
		}
	}
}

// checkReason compares the values that a reason is made with to the places of its sentence.
func checkReason(t *testing.T, pkg *packages.Package, call *ast.CallExpr, made map[string]bool) {
	t.Helper()
	code, at := "", -1
	for i, argument := range call.Args {
		of := pkg.TypesInfo.Types[argument]
		if of.Value != nil && of.Type.String() == "podium/schemas.ReasonCode" {
			code, at = constant.StringVal(of.Value), i
			break
		}
	}
	if at < 0 {
		return
	}
	if slices.ContainsFunc(call.Args, func(argument ast.Expr) bool {
		value := pkg.TypesInfo.Types[argument].Value
		return value != nil && value.Kind() == constant.String && strings.Contains(value.String(), "planted")
	}) {
		return
	}
	made[code] = true
	names, whole := []string(nil), true
	for i := at + 1; i < len(call.Args); i += 2 {
		value := pkg.TypesInfo.Types[call.Args[i]].Value
		if value == nil || value.Kind() != constant.String {
			whole = false
			break
		}
		names = append(names, constant.StringVal(value))
	}
	called := call.Fun
	if name, is := called.(*ast.Ident); is && name.Name == "fault" && pkg.PkgPath == "podium/supervisor/plan" && strings.HasPrefix(code, "task_") && !slices.Contains(names, "task") {
		names = append(names, "task") // checkTask adds it
	}
	if name, is := called.(*ast.Ident); is && (name.Name == "schemaFault" || name.Name == "because" && pkg.PkgPath == "podium/supervisor/budget") {
		return // the function has the values
	}
	slices.Sort(names)
	if want := placesIn("en", code); !whole || !slices.Equal(names, want) {
		t.Errorf("%s: %s has the values %q, and its sentence has places for %q", pkg.Fset.Position(call.Pos()), code, names, want)
	}
}

// TestEachSentenceHasAUse: a key in the source has a sentence with the places that are filled in, and each sentence has
// a code or is named in the source.
func TestEachSentenceHasAUse(t *testing.T) {
	t.Parallel()
	core, err := readCore()
	if err != nil {
		t.Fatal(err)
	}
	english := flat(t, readJSON(t, "../supervisor/say/words.json")["en"])
	used := map[string]bool{}
	for _, pkg := range core.source {
		for expression, of := range pkg.TypesInfo.Types {
			if of.Value != nil && of.Value.Kind() == constant.String {
				used[constant.StringVal(of.Value)] = true
			}
			if call, is := expression.(*ast.CallExpr); is {
				checkSentence(t, pkg, call, english)
			}
		}
	}
	for key := range english {
		if !used[key] {
			t.Errorf("%s: nothing says this sentence", key)
		}
	}
}

// checkSentence compares the places that a call fills in to those of the sentence that it names.
func checkSentence(t *testing.T, pkg *packages.Package, call *ast.CallExpr, english map[string]string) {
	t.Helper()
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return
	}
	arguments := call.Args
	switch of := pkg.TypesInfo.Uses[selector.Sel]; {
	case of == nil:
		return
	case of.Name() == "Sentence" && of.Pkg() != nil && of.Pkg().Path() == "podium/supervisor/say":
		arguments = arguments[1:]
	case of.Name() != "sentence" || of.Pkg() == nil || of.Pkg().Path() != "podium/supervisor/plan":
		return
	}
	key := pkg.TypesInfo.Types[arguments[0]].Value
	if key == nil {
		return // it is chosen among constants
	}
	var filled []string
	for i := 1; i+1 < len(arguments); i += 2 {
		filled = append(filled, strings.Trim(constant.StringVal(pkg.TypesInfo.Types[arguments[i]].Value), "{}"))
	}
	slices.Sort(filled)
	sentence, known := english[constant.StringVal(key)]
	if places := placesIn("en", constant.StringVal(key)); !known || !slices.Equal(filled, places) {
		t.Errorf("%s: %s is filled in with %q: %q", pkg.Fset.Position(call.Pos()), key, filled, sentence)
	}
}
