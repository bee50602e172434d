package cmd_test

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"
)

// TestEventsHoldCodes finds where words of the source are put into an event. An event holds codes, so that better wording changes no record.
func TestEventsHoldCodes(t *testing.T) {
	t.Parallel()
	core, err := readCore()
	if err != nil {
		t.Fatal(err)
	}
	found := wordsInEvents(slices.Concat(core.packages, core.readers))
	source, planted := map[string]int{}, []string(nil)
	for _, line := range found {
		if strings.Contains(line, "planted") {
			planted = append(planted, line)
			continue
		}
		field, _, _ := strings.Cut(line, ": ")
		source[field]++
		t.Log(line)
	}
	for field, count := range source {
		t.Errorf("%d words of the source are put into %s", count, field)
	}
	for _, want := range []string{"planted it", "planted by a call", "planted in a list", "planted in a value", "planted as an error"} {
		if !slices.ContainsFunc(planted, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("%q was not found in\n%s", want, strings.Join(planted, "\n"))
		}
	}
}

// words matches what people read, and no code.
var words = regexp.MustCompile(`\pL+[ ,.:;]* `)

// wordFlow follows words of the source through the functions of the core.
type wordFlow struct {
	inCore  map[*ssa.Package]bool
	events  map[string]bool // types that events consist of
	origins map[any]map[string]bool
	sinks   map[string]map[string]bool // by field of an event: the words that are put into it
	changed bool
}

// wordsInEvents returns which words of the source are put into which field of an event.
func wordsInEvents(built []*ssa.Package) []string {
	flow := wordFlow{inCore: map[*ssa.Package]bool{}, events: eventTypes(built[0].Prog), origins: map[any]map[string]bool{}, sinks: map[string]map[string]bool{}, changed: true}
	for _, pkg := range built {
		flow.inCore[pkg] = true
	}
	functions := functionsOf(built)
	for _, pkg := range built {
		functions = append(functions, pkg.Func("init"))
	}
	for _, function := range functions {
		for n, parameter := range function.Params {
			if holdsWords(parameter.Type()) {
				flow.origins[parameter] = map[string]bool{parameterOf(function, n): true}
			}
		}
	}
	for flow.changed {
		flow.changed = false
		for _, function := range functions {
			for _, block := range function.Blocks {
				for _, instruction := range block.Instrs {
					flow.follow(function, instruction)
				}
			}
		}
	}
	var found []string
	for field, origins := range flow.sinks {
		for origin := range origins {
			if !strings.HasPrefix(origin, "parameter ") {
				found = append(found, field+": "+origin)
			}
		}
	}
	slices.Sort(found)
	return found
}

// parameterOf stands for the words that a function is passed, in what it returns and in what it puts into events.
func parameterOf(function *ssa.Function, n int) string {
	return fmt.Sprintf("parameter %d of %s", n, function)
}

// eventTypes returns the structures of package schemas that events consist of.
func eventTypes(program *ssa.Program) map[string]bool {
	pkg := program.ImportedPackage("podium/schemas").Pkg
	fact := pkg.Scope().Lookup("Fact").Type().Underlying().(*types.Interface) //nolint:forcetypeassert // it is one
	found := map[string]bool{}
	var add func(t types.Type)
	add = func(t types.Type) {
		switch t := types.Unalias(t).(type) {
		case *types.Pointer:
			add(t.Elem())
		case *types.Slice:
			add(t.Elem())
		case *types.Map:
			add(t.Elem())
		case *types.Named:
			structure, is := t.Underlying().(*types.Struct)
			if !is || t.Obj().Pkg() != pkg || found[t.String()] {
				return
			}
			found[t.String()] = true
			for field := range structure.Fields() {
				add(field.Type())
			}
		}
	}
	for _, name := range pkg.Scope().Names() {
		if named, is := pkg.Scope().Lookup(name).(*types.TypeName); is && types.Implements(types.NewPointer(named.Type()), fact) {
			add(named.Type())
		}
	}
	return found
}

// add notes that words get to a place, and reports whether that is new.
func (f *wordFlow) add(to any, of map[string]bool) {
	if len(of) == 0 {
		return
	}
	known := f.origins[to]
	if known == nil {
		known = map[string]bool{}
		f.origins[to] = known
	}
	for origin := range of {
		if !known[origin] {
			known[origin], f.changed = true, true
		}
	}
}

// of returns the words that a value consists of.
func (f *wordFlow) of(value ssa.Value, at token.Position) map[string]bool {
	if known, is := value.(*ssa.Const); is {
		if known.Value == nil || known.Value.Kind() != constant.String {
			return nil
		}
		if text := constant.StringVal(known.Value); words.MatchString(text+" ") && strings.Contains(text, " ") {
			return map[string]bool{fmt.Sprintf("%s:%d %q", filepath.Base(at.Filename), at.Line, text): true}
		}
		return nil
	}
	return f.origins[value]
}

// cellOf names what a pointer points to: a field of a type (the same for all values of the type), or the value itself.
func cellOf(address ssa.Value) any {
	switch at := address.(type) {
	case *ssa.FieldAddr:
		return fmt.Sprint(at.X.Type(), at.Field)
	case *ssa.IndexAddr:
		return at.X
	}
	return address
}

// holdsWords reports whether words may be kept in a value of a type.
func holdsWords(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Slice:
		return holdsWords(t.Elem())
	case *types.Array:
		return holdsWords(t.Elem())
	case *types.Map:
		return holdsWords(t.Elem())
	case *types.Pointer:
		return holdsWords(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			if holdsWords(v.Type()) {
				return true
			}
		}
	case *types.Interface:
		return t.NumMethods() == 0
	case *types.Named:
		name := t.Obj().Name()
		if name == "Reason" && t.Obj().Pkg().Name() == "schemas" {
			return true // words may be in its values
		}
		_, text := t.Underlying().(*types.Basic)
		return name == "error" || name == "Replacer" || name == "Builder" || text && holdsWords(t.Underlying())
	}
	return false
}

func (f *wordFlow) follow(function *ssa.Function, instruction ssa.Instruction) {
	at := function.Prog.Fset.Position(instruction.Pos())
	if value, is := instruction.(ssa.Value); is && !holdsWords(value.Type()) {
		if _, closure := instruction.(*ssa.MakeClosure); !closure {
			if call, calls := instruction.(*ssa.Call); calls {
				f.call(call, at)
			}
			return
		}
	}
	switch i := instruction.(type) {
	case *ssa.Store:
		f.store(i, at)
	case *ssa.Return:
		for n, result := range i.Results {
			f.add(fmt.Sprint(function, " result ", n), f.of(result, at))
		}
	case *ssa.MakeClosure:
		for n, binding := range i.Bindings {
			if inner, is := i.Fn.(*ssa.Function); is {
				f.add(inner.FreeVars[n], f.of(binding, at))
			}
		}
	case *ssa.Extract:
		if call, is := i.Tuple.(*ssa.Call); is {
			if callee := call.Call.StaticCallee(); callee != nil && f.inCore[callee.Pkg] {
				f.add(i, f.returned(call, callee, i.Index, at))
			}
		}
	case *ssa.Call:
		f.call(i, at)
	case *ssa.UnOp:
		f.add(i, f.origins[cellOf(i.X)])
	case *ssa.Field:
		f.add(i, f.origins[fmt.Sprint(types.NewPointer(i.X.Type()), i.Field)])
	case ssa.Value:
		for _, operand := range instruction.Operands(nil) {
			if *operand != nil {
				f.add(i, f.of(*operand, at))
			}
		}
	}
}

// store follows what is written. What is put into an event is found, and not followed further.
func (f *wordFlow) store(i *ssa.Store, at token.Position) {
	of := f.of(i.Val, at)
	if field, is := i.Addr.(*ssa.FieldAddr); is {
		structure := field.X.Type().Underlying().(*types.Pointer).Elem() //nolint:forcetypeassert // of what else is there a field
		if name := structure.String(); f.events[name] {
			f.sink(fmt.Sprintf("%s.%s", strings.TrimPrefix(name, "podium/schemas."), structure.Underlying().(*types.Struct).Field(field.Field).Name()), of) //nolint:forcetypeassert // likewise
			return
		}
	}
	f.add(cellOf(i.Addr), of)
}

// sink notes that words are put into a field of an event.
func (f *wordFlow) sink(field string, of map[string]bool) {
	for origin := range of {
		if f.sinks[field] == nil {
			f.sinks[field] = map[string]bool{}
		}
		if !f.sinks[field][origin] {
			f.sinks[field][origin], f.changed = true, true
		}
	}
}

// call follows what is passed to a function, and what it returns: a function outside of the core returns what it is given.
func (f *wordFlow) call(i *ssa.Call, at token.Position) {
	callee := i.Call.StaticCallee()
	switch {
	case callee != nil && f.inCore[callee.Pkg]:
		for n, argument := range i.Call.Args {
			of := f.of(argument, at)
			for field, origins := range f.sinks {
				if origins[parameterOf(callee, n)] {
					f.sink(field, of)
				}
			}
		}
		if holdsWords(i.Type()) {
			f.add(i, f.returned(i, callee, 0, at))
		}
		return
	case callee != nil && strings.Contains(callee.String(), "podium/schemas/fault."), !holdsWords(i.Type()):
		for _, argument := range i.Call.Args[min(1, len(i.Call.Args)):] { // the first one names the fault
			f.add(i, f.of(argument, at))
		}
		return
	case callee != nil && (callee.Name() == "Format" || callee.Name() == "AppendUnquote" || callee.Name() == "Unmarshal" || callee.Name() == "EffectID"):
		return
	}
	for _, argument := range i.Call.Args {
		f.add(i, f.of(argument, at))
	}
	if i.Call.IsInvoke() {
		f.add(i, f.origins[i.Call.Value])
	}
}

// returned returns the words in a result of a call: those of the function itself, and those that it is passed here.
func (f *wordFlow) returned(i *ssa.Call, callee *ssa.Function, result int, at token.Position) map[string]bool {
	all := map[string]bool{}
	for origin := range f.origins[fmt.Sprint(callee, " result ", result)] {
		all[origin] = true
	}
	for n, argument := range i.Call.Args {
		if all[parameterOf(callee, n)] {
			delete(all, parameterOf(callee, n))
			maps.Copy(all, f.of(argument, at))
		}
	}
	return all
}
