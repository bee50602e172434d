package cmd_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	requirementLine = regexp.MustCompile(`(?m)^- ([XOGPCM]-\d\d) \[[ECD]\] \S.*\.$`)
	requirementID   = regexp.MustCompile(`\b[XOGPCM]-\d\d\b`)
	localLink       = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	code            = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// requirements returns the numbers that docs/requirements.md defines.
func requirements(t *testing.T) []string {
	t.Helper()
	var ids []string
	for _, match := range requirementLine.FindAllStringSubmatch(readDoc(t, "docs/requirements.md"), -1) {
		ids = append(ids, match[1])
	}
	return ids
}

// TestRequirementsAreNumbered keeps the numbers stable and without gaps.
func TestRequirementsAreNumbered(t *testing.T) {
	t.Parallel()
	var want []string
	for _, group := range []struct {
		letter string
		count  int
	}{{"X", 8}, {"O", 35}, {"G", 42}, {"P", 19}, {"C", 18}, {"M", 56}} {
		for n := 1; n <= group.count; n++ {
			want = append(want, fmt.Sprintf("%s-%02d", group.letter, n))
		}
	}
	if got := requirements(t); !slices.Equal(got, want) {
		t.Errorf("docs/requirements.md has %d requirements, want %d: %v", len(got), len(want), got)
	}
}

// TestDecisions checks the metadata of every architecture decision record.
func TestDecisions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../docs/adr/*.md")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d records: %v", len(files), err)
	}
	known := requirements(t)
	for number, file := range files { // Glob sorts
		name := filepath.Base(file)
		if !strings.HasPrefix(name, fmt.Sprintf("%04d-", number)) {
			t.Errorf("%s: the next number is %04d", name, number)
		}
		if number == 0 {
			continue // the template
		}
		text := readDoc(t, filepath.Join("docs", "adr", name))
		for _, fault := range decisionFaults(text, number, len(files)-1, known) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// TestDecisionFaults plants one of everything that TestDecisions finds.
func TestDecisionFaults(t *testing.T) {
	t.Parallel()
	good := "# 1. T\n\n| metadata | value |\n|---|---|\n| date | 2026-11-21 |\n| status | accepted |\n| requirements | X-01 |\n\n" +
		"## Context\n\na\n\n## Decision\n\nb\n\n## Consequences\n\n- c\n"
	if faults := decisionFaults(good, 1, 1, []string{"X-01"}); len(faults) > 0 {
		t.Errorf("a good record has faults: %v", faults)
	}
	for old, broken := range map[string]string{
		"# 1. T": "# 2. T", "2026-11-21": "2026-13-01", "| accepted |": "| done |", "X-01": "X-99",
		"## Decision": "## Choice", "| status | accepted |": "", "accepted": "superseded by 0007",
	} {
		if faults := decisionFaults(strings.Replace(good, old, broken, 1), 1, 1, []string{"X-01"}); len(faults) == 0 {
			t.Errorf("%q instead of %q is not found", broken, old)
		}
	}
}

func decisionFaults(text string, number, last int, known []string) []string {
	var faults []string
	if !strings.HasPrefix(text, fmt.Sprintf("# %d. ", number)) {
		faults = append(faults, fmt.Sprintf("the title does not begin with %q", fmt.Sprintf("# %d. ", number)))
	}
	metadata := map[string]string{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 4 {
			metadata[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[2])
		}
	}
	if _, err := time.Parse(time.DateOnly, metadata["date"]); err != nil {
		faults = append(faults, "date: "+err.Error())
	}
	var successor int
	_, err := fmt.Sscanf(metadata["status"], "superseded by %04d", &successor)
	superseded := err == nil && successor > number && successor <= last
	if !superseded && !slices.Contains([]string{"proposed", "accepted"}, metadata["status"]) {
		faults = append(faults, fmt.Sprintf("status %q", metadata["status"]))
	}
	ids := requirementID.FindAllString(metadata["requirements"], -1)
	if len(ids) == 0 {
		faults = append(faults, "no requirements")
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			faults = append(faults, "there is no requirement "+id)
		}
	}
	previous := -1
	for _, section := range []string{"\n## Context\n", "\n## Decision\n", "\n## Consequences\n"} {
		at := strings.Index(text, section)
		if at <= previous {
			faults = append(faults, fmt.Sprintf("the section %q is missing or out of order", strings.TrimSpace(section)))
		}
		previous = at
	}
	return faults
}

// TestLinks follows every link inside the documentation.
func TestLinks(t *testing.T) {
	t.Parallel()
	links := 0
	for _, root := range []string{"../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md", "../docs", "../deploy"} {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".md" {
				return err
			}
			body, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, match := range localLink.FindAllStringSubmatch(code.ReplaceAllString(string(body), ""), -1) {
				links++
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), match[1])); err != nil {
					t.Errorf("%s links to %s, which is not there", file, match[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if links < 5 {
		t.Errorf("only %d links were followed", links)
	}
}

// TestMakeTargets checks that documents name only what the Makefile has.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	makefile := readDoc(t, "Makefile")
	named := regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z-]*)")
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "docs/verification.md"} {
		matches := named.FindAllStringSubmatch(readDoc(t, name), -1)
		if len(matches) == 0 {
			t.Errorf("%s names no target", name)
		}
		for _, match := range matches {
			if !strings.Contains(makefile, "\n"+match[1]+":") {
				t.Errorf("%s names make %s, which the Makefile does not have", name, match[1])
			}
		}
	}
}

// TestMakeNamesTests checks that the Makefile names only tests that there are: what it leaves out of check, and what it keeps.
func TestMakeNamesTests(t *testing.T) {
	t.Parallel()
	declared := declaredTests(t)
	for _, list := range regexp.MustCompile(`(?m)^(?:LARGE|OFTEN|LONG|EXAMPLES) +:= (.+)$`).FindAllStringSubmatch(readDoc(t, "Makefile"), -1) {
		for _, name := range strings.FieldsFunc(list[1], func(r rune) bool { return r == '|' || r == ' ' }) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(declared)), regexp.MustCompile("^Test"+name+"(_|$)").MatchString) {
				t.Errorf("the Makefile names Test%s, which is none", name)
			}
		}
	}
}

// TestQuotedRequirementsExist checks that tests and code quote numbers that are defined.
func TestQuotedRequirementsExist(t *testing.T) {
	t.Parallel()
	known := requirements(t)
	quoted := regexp.MustCompile(`_([XOGPCM])(\d\d)\b|\b([XOGPCM]-\d\d)\b`)
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" || filepath.Base(file) == "docs_test.go" {
			return err
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, match := range quoted.FindAllStringSubmatch(string(body), -1) {
			id := match[3]
			if id == "" {
				id = match[1] + "-" + match[2]
			}
			if !slices.Contains(known, id) {
				t.Errorf("%s quotes %s, which is not a requirement", file, id)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNamedTestsExist follows the name of every test that a document gives.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	exist := declaredTests(t)
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob("../docs/adr/*.md")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, file := range slices.Concat(files, decisions, []string{"../README.md", "../CONTRIBUTING.md"}) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, missing := namedTests(string(body), exist)
		names += found
		for _, name := range missing {
			t.Errorf("%s names the test %s, which is not there", file, name)
		}
	}
	if names < 100 {
		t.Errorf("only %d names of tests were followed", names)
	}
}

// declaredTests returns the names of all tests in the house.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	exist := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		body, err := os.ReadFile(file)
		for _, match := range declared.FindAllStringSubmatch(string(body), -1) {
			exist[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return exist
}

// namedTests counts the tests that a document names, and returns those that do not exist.
func namedTests(text string, exist map[string]bool) (found int, missing []string) {
	for _, match := range regexp.MustCompile("`(?:bustest\\.)?((?:Test|Fuzz|Benchmark)[^`/ ]*)(?:/[^`]*)?`").FindAllStringSubmatch(text, -1) {
		found++
		if !exist[match[1]] {
			missing = append(missing, match[1])
		}
	}
	return found, missing
}

// TestNamedTests plants names that are no test's.
func TestNamedTests(t *testing.T) {
	t.Parallel()
	exist := map[string]bool{"TestOne": true, "FuzzTwo": true}
	text := "`TestOne`, `TestOne/sub_*`, `bustest.TestOne`, `FuzzTwo` and TestNone; `TestOne_X01`, `TestOn…`, `Test*`, `BenchmarkOne`"
	found, missing := namedTests(text, exist)
	if want := []string{"TestOne_X01", "TestOn…", "Test*", "BenchmarkOne"}; found != 8 || !slices.Equal(missing, want) {
		t.Errorf("%d names, and missing are %v", found, missing)
	}
}

// TestInstalledPackagesAreNamed: README names what `make test` installs.
func TestInstalledPackagesAreNamed(t *testing.T) {
	t.Parallel()
	packages := packagesOf(readDoc(t, "Makefile"), readDoc(t, "tools/debian"))
	if len(packages) < 3 {
		t.Fatalf("make test installs only %v", packages)
	}
	readme := readDoc(t, "README.md")
	for _, name := range packages {
		if !strings.Contains(readme, "`"+name+"`") {
			t.Errorf("README does not name %s, which make test installs", name)
		}
	}
}

// packagesOf returns the packages that the prerequisites of the target test are installed by.
func packagesOf(makefile, installer string) []string {
	target := regexp.MustCompile(`(?m)^test:([^#\n]*)`).FindStringSubmatch(makefile)
	if target == nil {
		return nil
	}
	var packages []string
	for program := range strings.FieldsSeq(target[1]) {
		branch := regexp.MustCompile(`(?ms)^` + regexp.QuoteMeta(program) + `\)(.*?);;`).FindStringSubmatch(installer)
		if branch == nil {
			packages = append(packages, program) // nothing says what it is
			continue
		}
		for _, list := range regexp.MustCompile(`packages\+?=\(([^)]*)\)`).FindAllStringSubmatch(branch[1], -1) {
			packages = append(packages, strings.Fields(list[1])...)
		}
	}
	return packages
}

func TestPackagesOf(t *testing.T) {
	t.Parallel()
	const installer = "case $program in\none) purpose=\"x\" packages=(a b) ;;\ntwo)\n\tpackages=()\n\thas_c || packages+=(c d)\n\t;;\nthree) packages=(e) ;;\nesac\n"
	got := packagesOf("up: three\n\ntest: one two four ## Run\n\t@run\n", installer)
	if want := []string{"a", "b", "c", "d", "four"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
