package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestCoverageIsTrue: the page is what its sources say, and they do not contradict each other.
func TestCoverageIsTrue(t *testing.T) {
	t.Parallel()
	const root = "../.."
	page, faults, err := coverage(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
	stored, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	if !t.Failed() && !bytes.Equal(page, stored) {
		t.Errorf("%s is not what its sources say: run make generate, and look at the difference", pageFile)
	}
}

const planted = `# Requirements

## Some (X)

- X-01 [E] It is shown.
- X-02 [E] It is shown in part | or so.

## Others (O)

- O-01 [C] It is not there.
- O-02 [D] A test without a number shows it.
- O-03 [D] A story shows it.
`

const plantedTests = `package p

func TestMain(m *testing.M)        {}
func TestShown_X01_I25(t *testing.T) {}
func TestOther_X01(t *testing.T)   {}
func TestPart_X02(t *testing.T)    {}
func TestPlain(t *testing.T)       {}
func FuzzPart(f *testing.F)        {}
func (s suite) TestOf_X08()        {}
func helper_X08()                  {}
`

const plantedJudgements = `
X-02: {partly: The other half., tests: [a/p.FuzzPart]}
O-01: {not yet: It comes later.}
O-02: {tests: [a/p.TestPlain]}
`

// plant returns what is judged of a repository after a change to one of its files.
func plant(t *testing.T, file, old, with string) (string, []string, error) {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		itemsFile: planted, judgementsFile: plantedJudgements, "a/p/x_test.go": plantedTests,
		"a/story_test.go": "package a\n\nfunc TestStories(t *testing.T) {}\n", "a/testdata/stories/O-03_words.txt": "",
		"a/testdata/x_test.go": "none", "bin/x_test.go": "none", ".x/x_test.go": "none", "a/x.go": "none",
	}
	if file != "" {
		changed := strings.Replace(files[file], old, with, 1)
		if changed == files[file] {
			t.Fatalf("%s holds no %q", file, old)
		}
		files[file] = changed
	}
	for name, body := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, faults, err := coverage(root)
	return string(page), faults, err
}

func TestPage(t *testing.T) {
	t.Parallel()
	page, faults, err := plant(t, "", "", "")
	if err != nil || len(faults) > 0 {
		t.Fatalf("%v: %v", err, faults)
	}
	for _, want := range []string{
		"| Some (X) | 1 | 1 | 0 | 2 |\n| Others (O) | 2 | 0 | 1 | 3 |\n| **together** | 3 | 1 | 1 | 5 |\n",
		"## Some (X)\n\n| item |",
		"| X-01 | done | It is shown. |  | [a/p/x_test.go](../a/p/x_test.go) `TestOther_X01`, `TestShown_X01_I25` |\n",
		"| X-02 | partly | It is shown in part \\| or so. | The other half. | [a/p/x_test.go](../a/p/x_test.go) `FuzzPart`, `TestPart_X02` |\n",
		"| O-01 | not yet | It is not there. | It comes later. |  |\n",
		"| O-02 | done | A test without a number shows it. |  | [a/p/x_test.go](../a/p/x_test.go) `TestPlain` |\n",
		"| O-03 | done | A story shows it. |  | [a/testdata/stories/O-03_words.txt](../a/testdata/stories/O-03_words.txt) |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// TestFaults plants one of everything that the sources may contradict themselves in.
func TestFaults(t *testing.T) {
	t.Parallel()
	const tests = "a/p/x_test.go"
	for name, c := range map[string]struct{ file, old, with, want string }{
		"not yet, but a test has its number": {tests, "TestPlain(", "TestNew_O01(t *testing.T) {}\nfunc TestPlain(", "O-01: it is not there yet, but a/p.TestNew_O01 shows it"},
		"not yet, but a test is named":       {judgementsFile, "It comes later.", "It comes later., tests: [a/p.TestPlain]", "O-01: it is not there yet, but a/p.TestPlain shows it"},
		"neither a test nor a judgement":     {judgementsFile, "O-01: {not yet: It comes later.}\n", "", "O-01: no test has its number, and no judgement says why"},
		"a test lost its number":             {tests, "TestPart_X02", "TestPart", ""},
		"partly, but no test":                {judgementsFile, "not yet: It comes", "partly: It comes", "O-01: no test shows the part that is there"},
		"a number of no requirement":         {tests, "TestPlain", "TestPlain_X03(t *testing.T) {}\nfunc TestPlain", "a/p.TestPlain_X03: there is no requirement X-03"},
		"a number of no hazard":              {tests, "_I25", "_I26", "a/p.TestShown_X01_I26: there is no hazard I26 of mail, only I01 to I25"},
		"hazards count from one":             {tests, "_I25", "_I00", "a/p.TestShown_X01_I00: there is no hazard I00 of mail, only I01 to I25"},
		"one digit":                          {tests, "_I25", "_X1", `a/p.TestShown_X01_X1: "X1" is no number of a requirement`},
		"a word behind the number":           {tests, "_I25", "_Again", `a/p.TestShown_X01_Again: "Again" is no number of a requirement`},
		"a benchmark":                        {tests, "func TestMain(m *testing.M)", "func BenchmarkX_X01(b *testing.B)", "a/p.BenchmarkX_X01: a benchmark is not run by tests, and shows no requirement"},
		"a name of no test":                  {judgementsFile, "a/p.TestPlain", "a/p.TestPlan", "O-02: there is no test a/p.TestPlan"},
		"a name of no story":                 {judgementsFile, "a/p.TestPlain", "a.TestStories/words", "O-02: there is no test a.TestStories/words"},
		"a name of another package's":        {judgementsFile, "a/p.TestPlain", "a.TestPlain", "O-02: there is no test a.TestPlain"},
		"a method":                           {judgementsFile, "a/p.TestPlain", "a/p.TestOf_X08", "O-02: there is no test a/p.TestOf_X08"},
		"a name that the number gives":       {judgementsFile, "a/p.FuzzPart", "a/p.TestPart_X02", "X-02: a/p.TestPart_X02 need not be named: it bears the number, or is named twice"},
		"a name twice":                       {judgementsFile, "[a/p.TestPlain]", "[a/p.TestPlain, a/p.TestPlain]", "O-02: a/p.TestPlain need not be named: it bears the number, or is named twice"},
		"two states":                         {judgementsFile, "not yet: It", "partly: Half., not yet: It", "O-01: it is partly there, or not yet, but not both"},
		"a judgement that says nothing":      {judgementsFile, "not yet: It comes later.", `not yet: ""`, "O-01: the judgement says nothing"},
		"a judgement about nothing":          {judgementsFile, "O-01", "O-04", "O-04: a judgement about no requirement"},
		"an item twice":                      {itemsFile, "X-02", "X-01", "X-01: it is there twice"},
		"a story of no requirement":          {judgementsFile, "O-02: {tests: [a/p.TestPlain]}", "O-02: {tests: [a.TestStories/O-03]}", "O-02: there is no test a.TestStories/O-03"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, faults, err := plant(t, c.file, c.old, c.with)
			switch {
			case err != nil:
				t.Error(err)
			case c.want == "" && (len(faults) > 0 || page == ""):
				t.Errorf("faults %q", faults)
			case c.want != "" && (!slices.Contains(faults, c.want) || page != ""):
				t.Errorf("got %q, want %q", faults, c.want)
			}
		})
	}
}

// TestUnreadable: what cannot be read is an error, and no page.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, old, with string }{
		"an unknown key":   {judgementsFile, "partly:", "parly:"},
		"an item twice":    {judgementsFile, "O-01: {", "X-02: {"},
		"no judgements":    {judgementsFile, "X-02: {", "X-02 {"},
		"no Go":            {"a/p/x_test.go", "package p", "packet p"},
		"no requirements":  {itemsFile, planted, "# None\n"},
		"a name in a word": {judgementsFile, "tests: [a/p.TestPlain]", "tests: {a: b}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if page, faults, err := plant(t, c.file, c.old, c.with); err == nil || page != "" {
				t.Errorf("no error, but %q", faults)
			}
		})
	}
	if _, _, err := coverage(t.TempDir()); err == nil {
		t.Error("an empty directory has coverage")
	}
}

func TestNumbersOfStories(t *testing.T) {
	t.Parallel()
	for base, want := range map[string][]string{
		"O-04_O-08_stems.txt":      {"O-04", "O-08"},
		"G-15_to_G-18_groups.txt":  {"G-15", "G-16", "G-17", "G-18"},
		"G-15_to_X-08.txt":         {"G-15", "X-08"},
		"to_G-15.txt":              nil,
		"ready_queue.txt":          nil,
		"about_O-04.txt":           nil,
		"O-04_then_O-05_mixed.txt": {"O-04"},
		"O-5_O-06.txt":             nil,
	} {
		if got := storyIn("a", base); !reflect.DeepEqual(got.numbers, want) {
			t.Errorf("%s: %v, want %v", base, got.numbers, want)
		}
	}
}
