package sim_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

var (
	hunt       = flag.Uint64("sim.hunt", 0, "search this many seeds for one that shows each fault")
	huntFrom   = flag.Uint64("sim.huntfrom", 1, "the first of them")
	everyFault = flag.Bool("sim.every-fault", false, "show that the bug of each fault point is caught, and not only some of them")
)

// someFaults: without -sim.every-fault, every twelfth case runs.
const someFaults = 12

// A faultCase says which invariant the bug of a fault point violates, and which seed shows it.
type faultCase struct {
	name      string
	seed      uint64
	kind      kinds.Kind // of the worlds in which it is looked for
	invariant string
}

// faultVariable names the bug that shows, see package fault.
const faultVariable = "PODIUM_FAULT"

// patience is how many seeds from the known one on may be tried: what a seed
// does changes with everything that draws from it.
const patience = 300

// TestFaults shows that the bug of each fault point is caught, by the invariant that speaks of it.
func TestFaults(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "sim.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-tags", "faults", "-o", binary, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build with the tag faults: %v\n%s", err, output)
	}
	for i, fault := range faultCases() {
		if i%someFaults != 0 && !*everyFault && *hunt == 0 {
			continue
		}
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			seed, seeds := fault.seed, uint64(patience)
			if *hunt > 0 {
				seed, seeds = *huntFrom, *hunt
			}
			found, output := catch(t, binary, &fault, seed, seeds)
			switch {
			case found == 0:
				t.Errorf("%d seeds from %d on do not violate %q\n%s", seeds, seed, fault.invariant, output)
			case found != fault.seed:
				t.Logf("seed %d catches it now", found)
			}
		})
	}
}

// catch simulates seeds one after the other with a bug and returns the first that
// violates its invariant; 0 is none.
func catch(t *testing.T, binary string, fault *faultCase, from, seeds uint64) (uint64, string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "-test.run=^TestSeek$",
		"-sim.seek="+fault.invariant, "-sim.seed="+strconv.FormatUint(from, 10), "-sim.n="+strconv.FormatUint(seeds, 10), "-sim.kind="+string(fault.kind))
	command.Env = append(os.Environ(), faultVariable+"="+fault.name)
	output, _ := command.CombinedOutput() // it fails, by intent
	for line := range strings.Lines(string(output)) {
		if _, number, ok := strings.Cut(line, "caught by seed "); ok {
			seed, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return seed, string(output)
		}
	}
	return 0, string(output[:min(len(output), 4000)])
}

var seek = flag.String("sim.seek", "", "the invariant that TestSeek looks for")

// TestSeek fails at the first seed that violates one invariant; TestFaults runs it in a
// binary with fault points. Without an invariant it has nothing to look for.
func TestSeek(t *testing.T) {
	t.Parallel()
	if *seek == "" {
		return
	}
	library := sim.NewLibrary()
	for seed := *first; seed < *first+*seeds; seed++ {
		for _, violation := range world(seed, library).Run() {
			if violation.Invariant == *seek {
				t.Fatalf("caught by seed %d", seed)
			}
			t.Logf("seed %d: %s: %s", seed, violation.Invariant, violation.Detail)
		}
	}
}

// TestEveryFaultIsACase: the table names every fault point of the source once, and nothing else.
func TestEveryFaultIsACase(t *testing.T) {
	t.Parallel()
	points := faultPoints(t, filepath.Join("..", ".."))
	cases := map[string]bool{}
	for _, fault := range faultCases() {
		if cases[fault.name] {
			t.Errorf("%q is there twice", fault.name)
		}
		cases[fault.name] = true
		if !points[fault.name] {
			t.Errorf("%q is no fault point", fault.name)
		}
		if !slices.Contains(sim.Invariants(), fault.invariant) {
			t.Errorf("%q: no invariant says %q", fault.name, fault.invariant)
		}
	}
	for name := range points {
		if !cases[name] {
			t.Errorf("the fault point %q is not in the table", name)
		}
	}
}

// faultPoints are the names of all fault points below a folder.
func faultPoints(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for node := range ast.Preorder(source) {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				continue
			}
			function := call.Fun
			if index, ok := function.(*ast.IndexExpr); ok {
				function = index.X
			}
			called, ok := function.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			if from, ok := called.X.(*ast.Ident); !ok || from.Name != "fault" || called.Sel.Name != "Is" && called.Sel.Name != "Either" {
				continue // of rules and their groups, each has a story
			}
			name, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: the name of a fault point is a string literal", file)
				continue
			}
			written, err := strconv.Unquote(name.Value)
			if err != nil {
				return err
			}
			names[written] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
