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
	kind      sim.Kind // of the worlds in which it is looked for
	invariant string
}

// A storyCase says which story of package session the bug of a fault point changes.
type storyCase struct{ name, story string }

// faultVariable names the bug that shows, see package fault.
const faultVariable = "PODIUM_FAULT"

// patience is how many seeds from the known one on may be tried: what a seed
// does changes with everything that draws from it.
const patience = 300

// withFaults compiles the tests of a package with fault points.
func withFaults(t *testing.T, folder string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "with-faults.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-tags", "faults", "-o", binary, folder)
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build with the tag faults: %v\n%s", err, output)
	}
	return binary
}

// TestFaultsOfPolicies shows that the bug of each fault point of a policy is caught, by a story that tells of it.
func TestFaultsOfPolicies(t *testing.T) {
	t.Parallel()
	binary := withFaults(t, "../session")
	for i, fault := range storyCases() {
		if i%someFaults != 0 && !*everyFault {
			continue
		}
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), binary, "-test.run=^TestStories$/^"+fault.story+"$")
			command.Dir, command.Env = filepath.Join("..", "session"), append(os.Environ(), faultVariable+"="+fault.name)
			if output, _ := command.CombinedOutput(); !strings.Contains(string(output), "--- FAIL: TestStories/"+fault.story) {
				t.Errorf("the story %s does not fail\n%s", fault.story, output)
			}
		})
	}
}

// TestFaults shows that the bug of each fault point is caught, by the invariant that speaks of it.
func TestFaults(t *testing.T) {
	t.Parallel()
	binary := withFaults(t, ".")
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

// TestEveryFaultIsACase: the tables name every fault point of the source once, and nothing else.
func TestEveryFaultIsACase(t *testing.T) {
	t.Parallel()
	points := faultPoints(t, filepath.Join("..", ".."))
	cases := map[string]bool{}
	add := func(name string) {
		if cases[name] {
			t.Errorf("%q is there twice", name)
		}
		if cases[name] = true; !points[name] {
			t.Errorf("%q is no fault point", name)
		}
	}
	for _, fault := range storyCases() {
		add(fault.name)
	}
	for _, fault := range faultCases() {
		add(fault.name)
		if !slices.Contains(sim.Invariants(), fault.invariant) {
			t.Errorf("%q: no invariant says %q", fault.name, fault.invariant)
		}
	}
	for name := range points {
		if !cases[name] {
			t.Errorf("the fault point %q is in no table", name)
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
