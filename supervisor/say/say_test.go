package say_test

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

var places = regexp.MustCompile(`\{(\w+)\}`)

// placesOf are the names of the places of a sentence.
func placesOf(language, key string) []string {
	names := map[string]bool{}
	for _, found := range places.FindAllStringSubmatch(say.Sentence(&schemas.Language{Tag: language}, key), -1) {
		names[found[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// TestEachReasonHasASentence: each code has a sentence in each language, and each reason that is made has exactly the values that its sentence names.
func TestEachReasonHasASentence(t *testing.T) {
	t.Parallel()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps, Dir: "../..",
	}, "./schemas", "./supervisor/...")
	if err != nil {
		t.Fatal(err)
	}
	codes, made := map[string]bool{}, map[string]bool{}
	for _, pkg := range loaded {
		if pkg.PkgPath == "podium/schemas" {
			for _, name := range pkg.Types.Scope().Names() {
				if known, is := pkg.Types.Scope().Lookup(name).(*types.Const); is && known.Type().String() == "podium/schemas.ReasonCode" {
					codes[constant.StringVal(known.Val())] = true
				}
			}
		}
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
		german, english := placesOf("de", code), placesOf("en", code)
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
	if name, is := called.(*ast.Ident); is && (name.Name == "invalid" || name.Name == "because" && pkg.PkgPath == "podium/supervisor/budget") {
		return // the function has the values
	}
	slices.Sort(names)
	if want := placesOf("en", code); !whole || !slices.Equal(names, want) {
		t.Errorf("%s: %s has the values %q, and its sentence has places for %q", pkg.Fset.Position(call.Pos()), code, names, want)
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	german, own := &schemas.Language{Tag: "de"}, &schemas.Language{Tag: "de", Sentences: map[string]string{"unanswered": "Niemand hat sich gemeldet."}}
	lacking := schemas.Because(schemas.InputLacking, "missing", "{agent}, amount")
	faults := []schemas.Reason{schemas.Because(schemas.PlanHasFaults), schemas.Because(schemas.PlanEmpty), schemas.Because(schemas.TaskIDTaken, "task", "a")}
	for name, c := range map[string]struct{ got, want string }{
		"in German":                   {say.Reasons(german, []schemas.Reason{schemas.Because(schemas.Unanswered), lacking}), "Auf meine Rückfrage kam keine Antwort. Es fehlt: {agent}, amount."},
		"in the profile's words":      {say.Reason(own, schemas.Because(schemas.Unanswered)), "Niemand hat sich gemeldet."},
		"in a language without words": {say.Reason(&schemas.Language{Tag: "fr"}, schemas.Because(schemas.Unanswered)), "Nobody has answered my question."},
		"a list":                      {say.Reasons(say.English(), faults), "The plan cannot be carried out:\n- The plan has no tasks.\n- Another task has the id “a” too."},
		"of an agent and of Podium":   {say.Failure(say.English(), &schemas.TaskFailed{Detail: "I cannot.", Reasons: []schemas.Reason{lacking}}), "I cannot.\nThis is lacking: {agent}, amount."},
		"of an agent":                 {say.Failure(say.English(), &schemas.TaskFailed{Detail: "I cannot."}), "I cannot."},
		"a check that was not made":   {say.Issue(say.English(), &schemas.ReviewIssue{Message: "Away.", Reasons: []schemas.Reason{schemas.Because(schemas.CheckNotMade, "agent", "qa")}}), "The check by qa could not be made. Away."},
		"an unknown code":             {say.Reason(say.English(), schemas.Reason{Code: "from_a_newer_build"}), "from_a_newer_build"},
		"details for programs":        {say.Error(&schemas.Error{Reasons: []schemas.Reason{schemas.Because(schemas.RunDeadline)}}).InternalDetails, "The deadline of the run has passed."},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	if say.Error(nil) != nil {
		t.Error("no error has become one")
	}
}
