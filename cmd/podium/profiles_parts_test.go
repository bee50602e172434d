//go:build profiles

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// profileParts is where `make profiles` installs what tools/profiles pins of npm: where no go command looks for packages.
const profileParts = "../../bin/.profiles"

// TestParts holds each program that the scenarios of profiles work with to a small piece of real work, so that one that is missing, or another
// version of it, is named here and not by a scenario.
func TestParts(t *testing.T) {
	t.Parallel()
	parts, err := filepath.Abs(profileParts)
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string) string { return filepath.Join(parts, "node_modules", ".bin", name) }
	for _, c := range []struct {
		name    string
		files   map[string]string
		in      string // the folder it works in; empty is that of the files
		command []string
		fails   bool // with what it has found
		says    []string
	}{
		{
			name: "testthat", files: map[string]string{
				"test-mean.R": "testthat::test_that('a mean', {\n  testthat::expect_equal(mean(c(1, 2)), 1.5)\n  testthat::expect_equal(mean(c(1, 2)), 2)\n})\n",
				"look.R": `for (one in testthat::test_file("test-mean.R", reporter = "silent", stop_on_failure = FALSE)) for (r in one$results)
					if (inherits(r, "expectation_failure")) cat(jsonlite::toJSON(list(line = r$srcref[1]), auto_unbox = TRUE))`,
			},
			command: []string{"Rscript", "look.R"},
			says:    []string{`{"line":3}`},
		},
		{
			name: "tsc", files: map[string]string{"price.ts": "export function price(): number {\n  return '7';\n}\n"},
			command: []string{tool("tsc"), "--noEmit", "--strict", "--pretty", "false", "price.ts"}, fails: true, says: []string{"price.ts(2,3): error TS2322"},
		},
		{
			name: "eslint", files: map[string]string{"price.js": "export function price() {\n  const unused = 1;\n  return 7;\n}\n"},
			command: []string{tool("eslint"), "--no-config-lookup", "--rule", `{"no-unused-vars":"error"}`, "-f", "json", "price.js"}, fails: true, says: []string{`"line":2`, "'unused' is assigned a value but never used"},
		},
		{
			name: "jest", files: map[string]string{"price.test.js": "test('a price', () => {\n  expect(6).toBe(7);\n});\n"},
			command: []string{tool("jest"), "--rootDir", ".", "--config", `{"transform":{}}`, "--json", "--testLocationInResults"}, fails: true, says: []string{`"numFailedTests":1`, `"line":1`},
		},
		{
			name: "pytest", files: map[string]string{"test_mean.py": "def test_mean():\n    assert sum([1, 2]) / 2 == 2\n"},
			command: []string{"/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"}, fails: true, says: []string{"test_mean.py:2: AssertionError"},
		},
		{
			name: "flake8", files: map[string]string{"model.py": "import os\n"},
			command: []string{"flake8", "--isolated", "model.py"}, fails: true, says: []string{"model.py:1:1: F401"},
		},
		{
			name: "@rdkit/rdkit", in: parts, command: []string{"node", "-e", `require("@rdkit/rdkit")().then(R => { R.set_log_capture("rdApp.error");
				const molecule = R.get_mol("CC(=O)Oc1ccccc1C(=O)O"); console.log(JSON.parse(molecule.get_descriptors()).exactmw.toFixed(3), R.get_mol("C1CC") === null) })`},
			says: []string{"180.042 true"},
		},
		{
			name: "typst and pdftotext", in: parts, command: []string{"bash", "-c", `f=$(mktemp) && trap 'rm "$f"' EXIT && node -e '
				const { NodeCompiler } = require("@myriaddreamin/typst-ts-node-compiler-linux-x64-gnu");
				require("fs").writeFileSync(process.argv[1], NodeCompiler.create().pdf({ mainFileContent: "„Łódź, Čapek“ ß €" }))' "$f" && pdftotext -layout "$f" -`},
			says: []string{"„Łódź, Čapek“ ß €"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder := c.in
			if folder == "" {
				folder = t.TempDir()
			}
			for name, content := range c.files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(t.Context(), c.command[0], c.command[1:]...)
			command.Dir = folder
			said, err := command.CombinedOutput()
			if command.ProcessState == nil {
				t.Fatalf("%v: `make profiles` installs what is missing", err)
			}
			if (err != nil) != c.fails {
				t.Errorf("%v: `make profiles` installs what is missing\n%s", err, said)
			}
			for _, want := range c.says {
				if !strings.Contains(string(said), want) {
					t.Errorf("%q is not in\n%s", want, said)
				}
			}
		})
	}
}
