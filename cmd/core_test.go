package cmd_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// core are the packages in which decisions are made.
var core = []string{
	"schemas/workflow", "supervisor/approval", "supervisor/budget", "supervisor/circuit", "supervisor/findings", "supervisor/language", "supervisor/phrase",
	"supervisor/plan", "supervisor/recovery", "supervisor/review", "supervisor/route", "supervisor/session",
}

// readers read what people and agents have written, for the core. Functions of theirs call each other in cycles.
var readers = []string{"supervisor/answer", "supervisor/arguments"}

// TestCore holds the packages in which decisions are made to what keeps them understandable: no id of a task is taken apart, since what a task is
// about stands beside its id (ADR 158), no kind of human task is compared outside of its type (ADR 159), and there is one set of rules (ADR 157).
func TestCore(t *testing.T) {
	t.Parallel()
	for _, found := range coreFaults(t) {
		if !strings.Contains(found, "planted") {
			t.Error(found)
		}
	}
}

// planted is a further file of supervisor/plan, which breaks each rule of the core.
const planted = `package plan

import (
	"errors"
	"strconv"
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
)

func plantedCut(task *workflow.Task) string {
	_, rest, _ := strings.Cut(task.ID, ":")
	return rest
}

func plantedFact(fact *schemas.TaskDispatched) bool {
	id := []byte(fact.Task)
	return id[0] == 'a'
}

func plantedCall(task *workflow.Task) int { return plantedNumber(task.ID) }

func plantedNumber(text string) int {
	n, _ := strconv.Atoi(text[len("check:"):])
	return n
}

func plantedClosure(tasks []*workflow.Task) []string {
	var names []string
	add := func(name string) { names = append(names, strings.Fields(name)...) }
	for _, task := range tasks {
		for _, id := range task.Dependencies() {
			add(id)
		}
	}
	return names
}

func plantedKind(asked *workflow.Inquiry) int {
	switch asked.Kind {
	case schemas.HumanTaskInput, schemas.HumanTaskWork:
		return 1
	}
	return 0
}

func plantedKinds(asked *workflow.Inquiry) bool {
	is := func() bool { return asked.Kind != schemas.HumanTaskBudget }
	return is()
}

func plantedActs(d *Decision) bool {
	emit := func() { d.emit(&schemas.TaskReady{}) }
	emit()
	return true
}

var plantedRules = []ruleGroup{{rules: []rule{{when: plantedChange}, {when: plantedEmit}}}}

func plantedChange(v *View) events {
	v.plantedMethod()
	func() { v.Run.Inquiry(1).Notices++ }()
	v.Run.Task("t1").State = workflow.TaskReady
	return plantedEmit(v)
}

func (v *View) plantedMethod() { v.Run.Tasks[0] = nil }

func plantedEmit(v *View) events {
	(&Decision{View: *v}).emit(nil)
	plantedApply(v)
	return nil
}

func plantedApply(v *View) { v.Run.Apply(nil, v.Now) }

func plantedUse(d *Decision) { applyFirst(d, plantedRules) }

var errPlanted = errors.New("it is planted as an error")

func plantedWords(task string) []schemas.Fact {
	list := []string{"it is planted in a list"}
	return []schemas.Fact{
		&schemas.TaskFailed{Task: task, Detail: "planted it is"}, &schemas.TaskFailed{Detail: plantedSays("it is planted by a call")},
		&schemas.Judged{Repeated: list}, &schemas.PlanRefused{Faults: []schemas.Reason{schemas.Because(schemas.PlanEmpty, "why", "it is planted in a value")}}, &schemas.TaskSkipped{Reason: errPlanted.Error()},
	}
}

func plantedSays(words string) string { return strings.TrimSpace(words + "!") }

type plantedStep interface{ plantedNext(n int) }

type plantedWide struct{ *Decision }

func (w plantedWide) plantedNext(n int) { plantedLoop(w, n) }

func plantedLoop(step plantedStep, n int) { step.plantedNext(n - 1) }

func plantedPing(n int) func() {
	return func() { plantedPong(n) }
}

func plantedPong(n int) { plantedPing(n - 1)() }

// plantedEdition reads an edition.
func plantedEdition(edition int) bool { return edition > 1 }
`

// TestCoreFindsEach plants what TestCore forbids.
func TestCoreFindsEach(t *testing.T) {
	t.Parallel()
	found := strings.Join(coreFaults(t), "\n")
	for _, want := range []string{
		"plantedCut: strings.Cut takes an id of a task apart", "plantedFact: an index takes an id of a task apart", "plantedNumber: a slice takes an id of a task apart",
		"plantedClosure$1: strings.Fields takes an id of a task apart", `:1: the word "edition"`,
		"plantedKind: compares a kind of human task", "plantedKinds$1: compares a kind of human task",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("%q was not found in\n%s", want, found)
		}
	}
}

// coreFaults returns what is wrong with the core, and with what is planted in it.
func coreFaults(t *testing.T) []string {
	t.Helper()
	read, err := readCore()
	if err != nil {
		t.Fatal(err)
	}
	return read.faults
}

// coreRead is the source of the core, and what is wrong with it.
type coreRead struct {
	packages []*ssa.Package
	readers  []*ssa.Package
	faults   []string
	source   []*packages.Package
}

var readCore = sync.OnceValues(func() (coreRead, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return coreRead{}, err
	}
	config := packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax |
			packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedDeps,
		Dir: root, Overlay: map[string][]byte{filepath.Join(root, "supervisor", "plan", "planted.go"): []byte(planted)},
	}
	var patterns []string
	for _, name := range slices.Concat(core, readers) {
		patterns = append(patterns, "./"+name)
	}
	loaded, err := packages.Load(&config, patterns...)
	if err != nil {
		return coreRead{}, err
	}
	_, built := ssautil.Packages(loaded, ssa.InstantiateGenerics)
	var read coreRead
	var found []string
	for i, pkg := range loaded {
		for _, fault := range pkg.Errors {
			return coreRead{}, fault
		}
		built[i].Build()
		if slices.Contains(readers, strings.TrimPrefix(pkg.PkgPath, "podium/")) {
			read.readers = append(read.readers, built[i])
			continue
		}
		read.packages = append(read.packages, built[i])
		found = append(found, editionsIn(pkg)...)
	}
	functions := functionsOf(read.packages)
	read.source = loaded
	read.faults = slices.Concat(found, takenApart(functions), comparedKinds(functions))
	return read, nil
})

// editionsIn finds the word "edition" in names and comments.
func editionsIn(pkg *packages.Package) []string {
	var found []string
	say := func(pos token.Pos, text string) {
		if strings.Contains(strings.ToLower(text), "edition") {
			at := pkg.Fset.Position(pos)
			found = append(found, fmt.Sprintf("%s:%d:%d: the word \"edition\"", filepath.Base(at.Filename), at.Line, at.Column))
		}
	}
	for _, file := range pkg.Syntax {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				say(comment.Pos(), comment.Text)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				say(node.Pos(), node.Name)
			case *ast.BasicLit:
				say(node.Pos(), node.Value)
			}
			return true
		})
	}
	return found
}

// idFlow follows ids of tasks through the functions of the core.
type idFlow struct {
	ids     map[ssa.Value]bool
	results map[*ssa.Function]map[int]bool // which results of a function are ids
	changed bool
}

// functionsOf returns the functions, methods and closures of packages.
func functionsOf(built []*ssa.Package) []*ssa.Function {
	var functions []*ssa.Function
	for _, pkg := range built {
		for _, member := range pkg.Members {
			switch member := member.(type) {
			case *ssa.Function:
				functions = append(functions, withClosures(member)...)
			case *ssa.Type:
				for _, of := range []types.Type{member.Type(), types.NewPointer(member.Type())} {
					methods := pkg.Prog.MethodSets.MethodSet(of)
					for selection := range methods.Methods() {
						if method := pkg.Prog.MethodValue(selection); method != nil && method.Pkg == pkg {
							functions = append(functions, withClosures(method)...)
						}
					}
				}
			}
		}
	}
	return functions
}

// comparedKinds finds where a kind of human task is compared with a constant, but for the two functions that return the rules of a kind.
func comparedKinds(functions []*ssa.Function) []string {
	var found []string
	isKind := func(value ssa.Value) bool {
		named, is := types.Unalias(value.Type()).(*types.Named)
		_, constant := value.(*ssa.Const)
		return is && constant && named.Obj().Name() == "HumanTaskKind"
	}
	for _, function := range functions {
		if name := shortName(function); name == "schemas/workflow.ruleOf" || name == "(*supervisor/plan.View).HumanTask" {
			continue
		}
		for _, block := range function.Blocks {
			for _, instruction := range block.Instrs {
				if i, is := instruction.(*ssa.BinOp); is && (isKind(i.X) || isKind(i.Y)) {
					found = append(found, function.RelString(nil)+": compares a kind of human task")
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// takenApart finds where an id of a task is taken apart: by a slice, an index, a loop over its characters, or a function that looks into a text.
func takenApart(functions []*ssa.Function) []string {
	flow := idFlow{ids: map[ssa.Value]bool{}, results: map[*ssa.Function]map[int]bool{}, changed: true}
	for flow.changed {
		flow.changed = false
		for _, function := range functions {
			flow.follow(function)
		}
	}
	var found []string
	for _, function := range functions {
		found = append(found, flow.faults(function)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func withClosures(function *ssa.Function) []*ssa.Function {
	all := []*ssa.Function{function}
	for _, closure := range function.AnonFuncs {
		all = append(all, withClosures(closure)...)
	}
	return all
}

func (f *idFlow) mark(value ssa.Value) {
	if !f.ids[value] {
		f.ids[value], f.changed = true, true
	}
}

// follow marks the values of a function that are ids of tasks, or lists of them.
func (f *idFlow) follow(function *ssa.Function) {
	for _, block := range function.Blocks {
		for _, instruction := range block.Instrs {
			switch i := instruction.(type) {
			case *ssa.FieldAddr:
				if isTaskID(i.X.Type(), i.Field) {
					f.mark(i)
				}
			case *ssa.Field:
				if isTaskID(i.X.Type(), i.Field) {
					f.mark(i)
				}
			case *ssa.UnOp:
				f.pass(i.X, i)
			case *ssa.IndexAddr:
				if isStrings(i.X.Type()) {
					f.pass(i.X, i)
				}
			case *ssa.Phi:
				for _, edge := range i.Edges {
					f.pass(edge, i)
				}
			case *ssa.ChangeType:
				f.pass(i.X, i)
			case *ssa.Convert:
				f.pass(i.X, i) // to bytes, or characters
			case *ssa.Extract:
				if call, is := i.Tuple.(*ssa.Call); is && f.results[call.Call.StaticCallee()][i.Index] {
					f.mark(i)
				}
			case *ssa.Store:
				f.pass(i.Val, i.Addr)
			case *ssa.MakeClosure:
				for n, binding := range i.Bindings {
					f.pass(binding, i.Fn.(*ssa.Function).FreeVars[n])
				}
			case *ssa.Return:
				f.returns(function, i)
			case ssa.CallInstruction:
				f.call(i)
			}
		}
	}
}

func (f *idFlow) pass(from, to ssa.Value) {
	if f.ids[from] {
		f.mark(to)
	}
}

func (f *idFlow) returns(function *ssa.Function, i *ssa.Return) {
	for n, result := range i.Results {
		if f.ids[result] && !f.results[function][n] {
			if f.results[function] == nil {
				f.results[function] = map[int]bool{}
			}
			f.results[function][n], f.changed = true, true
		}
	}
}

// call passes ids on to the parameters of who is called, and back as results.
func (f *idFlow) call(i ssa.CallInstruction) {
	callee := i.Common().StaticCallee()
	if callee == nil {
		return
	}
	for n, argument := range i.Common().Args {
		if n < len(callee.Params) {
			f.pass(argument, callee.Params[n])
		}
	}
	if value := i.Value(); value != nil && f.results[callee][0] && callee.Signature.Results().Len() == 1 {
		f.mark(value)
	}
}

// isTaskID reports whether a field of a type holds the id of a task: Task.ID of a run, the member "task" of whatever is on record, and what a task
// depends on.
func isTaskID(of types.Type, field int) bool {
	if pointer, is := of.Underlying().(*types.Pointer); is {
		of = pointer.Elem()
	}
	structure, is := of.Underlying().(*types.Struct)
	named, isNamed := types.Unalias(of).(*types.Named)
	if !is || !isNamed || named.Obj().Pkg() == nil {
		return false
	}
	name, path := structure.Field(field).Name(), named.Obj().Pkg().Path()
	switch {
	case path == module+"schemas/workflow" && named.Obj().Name() == "Task":
		return name == "ID"
	case path == module+"schemas":
		return name == "Task" || name == "TaskID" || name == "Dependencies"
	}
	return false
}

func isStrings(of types.Type) bool {
	list, is := of.Underlying().(*types.Slice)
	return is && types.Identical(list.Elem().Underlying(), types.Typ[types.String])
}

// faults are the places at which a function takes an id apart.
func (f *idFlow) faults(function *ssa.Function) []string {
	var found []string
	say := func(what string) {
		found = append(found, function.RelString(nil)+": "+what+" takes an id of a task apart")
	}
	for _, block := range function.Blocks {
		for _, instruction := range block.Instrs {
			switch i := instruction.(type) {
			case *ssa.Slice:
				if f.ids[i.X] && isText(i.X.Type()) {
					say("a slice")
				}
			case *ssa.IndexAddr:
				if f.ids[i.X] && isText(i.X.Type()) {
					say("an index")
				}
			case *ssa.Lookup:
				if f.ids[i.X] && isText(i.X.Type()) {
					say("an index")
				}
			case *ssa.Index:
				if f.ids[i.X] && isText(i.X.Type()) {
					say("an index")
				}
			case *ssa.Range:
				if f.ids[i.X] && isText(i.X.Type()) {
					say("a loop")
				}
			case ssa.CallInstruction:
				if callee := i.Common().StaticCallee(); callee != nil && looksInto(callee) && slices.ContainsFunc(i.Common().Args, func(a ssa.Value) bool { return f.ids[a] && isText(a.Type()) }) {
					say(callee.RelString(nil))
				}
			}
		}
	}
	return found
}

func isText(of types.Type) bool {
	if list, is := of.Underlying().(*types.Slice); is {
		of = list.Elem()
		return types.Identical(of.Underlying(), types.Typ[types.Byte]) || types.Identical(of.Underlying(), types.Typ[types.Rune])
	}
	return types.Identical(of.Underlying(), types.Typ[types.String])
}

// looksInto reports whether a function of the standard library reads what a text is made of.
func looksInto(function *ssa.Function) bool {
	if function.Pkg == nil {
		return false
	}
	name := function.Name()
	switch function.Pkg.Pkg.Path() {
	case "strings":
		return !slices.Contains([]string{"Join", "Compare", "EqualFold", "Clone", "Repeat"}, name)
	case "strconv":
		return strings.HasPrefix(name, "Parse") || name == "Atoi"
	case "regexp":
		return true
	case "fmt":
		return strings.HasPrefix(name, "Sscan")
	}
	return false
}
