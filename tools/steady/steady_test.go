package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

const source = `package p
func TestSleeps(t *testing.T)  { time.Sleep(1) }
func TestByHelper(t *testing.T) { help() }
func help()                    { other() }
func other()                   { ctx, stop := context.WithTimeout(t.Context(), 1) }
func TestKills(t *testing.T)   { bustest.Kill(t) }
func TestBubble(t *testing.T)  { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }
func TestAtOnce(t *testing.T)  { work() }
func work()                    {}
func TestMain(m *testing.M)    { time.Sleep(1) }
`

func TestScanFindsWhatWaits(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "p_test.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := waitingTests([]*ast.File{file}), []string{"TestByHelper", "TestKills", "TestSleeps"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamedTestsAreThere(t *testing.T) {
	t.Parallel()
	waiting, err := findWaitingTests("../..", nil)
	if err != nil {
		t.Fatal(err)
	}
	for pkg, test := range map[string]string{"agents/file": "TestKill", "agents/retrieval": "TestKill", "agents/exec": "TestTimeoutKillsTheWholeGroup"} {
		if !slices.Contains(waiting[pkg], test) {
			t.Errorf("%s %s kills or waits, and is not found", pkg, test)
		}
	}
}

func TestResultsAreCounted(t *testing.T) {
	t.Parallel()
	output := "--- PASS: TestA (0.01s)\n--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/one (0.01s)\n--- PASS: TestB (0.01s)\n"
	want := map[string]result{"TestA": {1, 1}, "TestB": {1, 0}, "TestC": {}}
	for test, r := range countResults(output, []string{"TestA", "TestB", "TestC"}) {
		if r != want[test] {
			t.Errorf("%s: %+v, want %+v", test, r, want[test])
		}
	}
}

func TestNamesAreRead(t *testing.T) {
	t.Parallel()
	named, err := parseNamed("# a comment\nagents/file TestKill # why\n\nagents/file TestOther\n")
	if err != nil || !slices.Equal(named["agents/file"], []string{"TestKill", "TestOther"}) {
		t.Errorf("%v, %v", named, err)
	}
	for _, text := range []string{"agents/file", "agents/file Kill", "a TestB c"} {
		if _, err := parseNamed(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
