package sim_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"podium/supervisor/sim"
	"podium/supervisor/sim/kinds"
)

var (
	hunt     = flag.Uint64("sim.hunt", 0, "search this many seeds for one that catches each planted bug")
	huntFrom = flag.Uint64("sim.huntfrom", 1, "the first of them")
	everyBug = flag.Bool("sim.every-bug", false, "show that each planted bug is caught, and not only some of them")
)

// someBugs is which of the planted bugs are looked for unless each is to be: every twelfth.
const someBugs = 12

// A mutation is a bug that is planted into the code under simulation to see
// whether it is caught. Nothing of it is in the code itself: the compiler is
// given an overlay, in which each old text is replaced by the new one. There,
// planted(name) reports whether this bug is the one to show, and either(name,
// wrong, right) chooses between two values.
type mutation struct {
	name      string
	edits     []edit
	seed      uint64     // catches it
	invariant string     // that is violated
	kind      kinds.Kind // of the worlds in which it is looked for
}

type edit struct{ file, old, new string }

// switchVariable names the planted bug that shows.
const switchVariable = "PODIUM_PLANTED_MUTATION"

// plantedSource is added to every package that holds a planted bug.
const plantedSource = `package %s

import "os"

func planted(name string) bool { return os.Getenv("` + switchVariable + `") == name }

func either[T any](name string, wrong, right T) T {
	if planted(name) {
		return wrong
	}
	return right
}
`

// patience is how many seeds from the known one on may be tried: what a seed
// does changes with everything that draws from it.
const patience = 300

// TestMutations plants bugs and shows that each is caught, by the invariant that
// speaks of it, and that the same seeds find nothing without them. All of them are
// planted, so that none is in a text that has changed.
func TestMutations(t *testing.T) {
	t.Parallel()
	binary := plant(t, mutations())
	for i, bug := range mutations() {
		if i%someBugs != 0 && !*everyBug && *hunt == 0 {
			continue
		}
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			seed, seeds := bug.seed, uint64(patience)
			if *hunt > 0 {
				seed, seeds = *huntFrom, *hunt
			}
			found, output := catch(t, binary, &bug, seed, seeds)
			switch {
			case found == 0:
				t.Errorf("%d seeds from %d on do not violate %q\n%s", seeds, seed, bug.invariant, output)
			case found != bug.seed:
				t.Logf("seed %d catches it now", found)
			}
		})
	}
}

// catch simulates seeds one after the other with a bug and returns the first that
// violates its invariant; 0 is none.
func catch(t *testing.T, binary string, bug *mutation, from, seeds uint64) (uint64, string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "-test.run=^TestSeek$",
		"-sim.seek="+bug.invariant, "-sim.seed="+strconv.FormatUint(from, 10), "-sim.n="+strconv.FormatUint(seeds, 10), "-sim.kind="+string(bug.kind))
	command.Env = append(os.Environ(), switchVariable+"="+bug.name)
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

// TestSeek looks for a seed that violates one invariant; TestMutations runs it in a
// binary with planted bugs. Without an invariant it has nothing to look for.
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

// plant builds this package's tests with every bug in place, each behind its switch.
func plant(t *testing.T, bugs []mutation) (binary string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	sources := map[string][]byte{}
	for i := range bugs {
		for _, edit := range bugs[i].edits {
			if sources[edit.file] == nil {
				if sources[edit.file], err = os.ReadFile(filepath.Join(root, edit.file)); err != nil {
					t.Fatal(err)
				}
			}
			if n := bytes.Count(sources[edit.file], []byte(edit.old)); n != 1 {
				t.Fatalf("bug %q: %s holds %d times what is to be replaced, want once:\n%s", bugs[i].name, edit.file, n, edit.old)
			}
			sources[edit.file] = bytes.Replace(sources[edit.file], []byte(edit.old), []byte(edit.new), 1)
			sources[path.Dir(edit.file)+"/planted.go"] = fmt.Appendf(nil, plantedSource, path.Base(path.Dir(edit.file)))
		}
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, source := range sources {
		place := filepath.Join(scratch, strings.ReplaceAll(file, "/", "_"))
		if err = os.WriteFile(place, source, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(root, file)] = place
	}
	body, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	replacements := filepath.Join(scratch, "overlay.json")
	if err = os.WriteFile(replacements, body, 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(scratch, "sim.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", replacements, "-o", binary, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build with the planted bugs: %v\n%s", err, output)
	}
	return binary
}

// TestMutationsAreOfInvariants keeps the table honest: every invariant that it
// names exists, and no name is there twice.
func TestMutationsAreOfInvariants(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, bug := range mutations() {
		if names[bug.name] {
			t.Errorf("bug %q is there twice", bug.name)
		}
		names[bug.name] = true
		if !slices.Contains(sim.Invariants(), bug.invariant) {
			t.Errorf("bug %q: no invariant says %q", bug.name, bug.invariant)
		}
	}
}
