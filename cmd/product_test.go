package cmd_test

import (
	"slices"
	"strings"
	"testing"
)

// measurement is what only measures Podium: no part of the product.
var measurement = []string{"bus/jetstream/barebus", "cmd/podium-bench", "cmd/podium-bench/bench"}

// awaited is finished before what uses it, and leaves this list with that.
var awaited = []string{}

// TestProduct keeps what is for tests or for measuring out of what is shipped, and what
// tests alone are from measuring. Every package is for one of them, so that a new test aid
// or one that has moved cannot stay unnamed.
func TestProduct(t *testing.T) {
	t.Parallel()
	product, bench := dependencies(t, "cmd/podium"), dependencies(t, "cmd/podium-bench")
	for _, name := range slices.Concat(fixtures, measurement) {
		if slices.Contains(product, module+name) {
			t.Errorf("the product depends on %s, which is for tests or for measuring", name)
		}
	}
	for _, name := range awaited {
		if slices.Contains(product, module+name) {
			t.Errorf("the product depends on %s by now: take it out of awaited", name)
		}
	}
	for _, name := range fixtures {
		if slices.Contains(bench, module+name) {
			t.Errorf("podium-bench depends on %s, which is for tests", name)
		}
	}
	for _, library := range []string{"testing", "net/http/httptest"} {
		if slices.Contains(product, library) {
			t.Errorf("the product depends on %s, which is for tests", library)
		}
	}
	var known []string
	for _, p := range list(t) {
		name := p.name()
		known = append(known, name)
		if len(p.GoFiles) == 0 || inside("tools", name) || inside("deploy", name) {
			continue
		}
		shipped, measures, tests := slices.Contains(product, p.ImportPath), slices.Contains(measurement, name), slices.Contains(fixtures, name)
		if !shipped && !measures && !tests && !slices.Contains(awaited, name) {
			t.Errorf("%s is no part of the product: name what it is for, in fixtures, measurement or awaited", name)
		}
		if measures && !slices.Contains(bench, p.ImportPath) {
			t.Errorf("podium-bench does not depend on %s", name)
		}
	}
	for _, name := range slices.Concat(fixtures, measurement, awaited) {
		if !slices.Contains(known, name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// dependencies lists all that a program of the module is made of.
func dependencies(t *testing.T, program string) []string {
	t.Helper()
	packages := strings.Fields(run(t, "go", "list", "-deps", module+program))
	if len(packages) < 100 {
		t.Fatalf("only %d packages were found in %s", len(packages), program)
	}
	return packages
}
