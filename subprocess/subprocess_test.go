package subprocess_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/subprocess"
)

// TestEnvironment: a program sees what every one needs and what is listed, and nothing else of ours.
func TestEnvironment(t *testing.T) {
	t.Setenv("TEST_SECRET", "x")
	t.Setenv("TEST_NAMED", "y")
	seen := subprocess.Environment([]string{"TEST_NAMED", "TEST_SET=a=b", "TEST_ABSENT"})
	for _, want := range []string{"TEST_NAMED=y", "TEST_SET=a=b", "PATH=" + os.Getenv("PATH")} {
		if !slices.Contains(seen, want) {
			t.Errorf("%s is missing in %q", want, seen)
		}
	}
	for _, variable := range seen {
		if strings.HasPrefix(variable, "TEST_SECRET") || strings.HasPrefix(variable, "TEST_ABSENT") {
			t.Errorf("it sees %s", variable)
		}
	}
	for entry, right := range map[string]bool{"NAME": true, "NAME=": true, "=value": false, "": false, "A=\x00": false} {
		if err := subprocess.CheckEnvironment([]string{entry}); (err == nil) != right {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

// TestFind: a name is looked up in PATH, a path is relative to the folder, and what may not be run is not found.
func TestFind(t *testing.T) {
	folder := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o700, "text": 0o600} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
	for _, test := range []struct {
		name, dir string
		found     bool
	}{
		{"program", "", true},
		{"./program", folder, true},
		{filepath.Join(folder, "program"), "/", true},
		{"./program", "/", false},
		{"text", "", false},
		{"./text", folder, false},
		{"nothing", "", false},
	} {
		path, err := subprocess.Find(test.name, test.dir)
		if (err == nil) != test.found || test.found && path != filepath.Join(folder, "program") {
			t.Errorf("%s in %q: %q, %v", test.name, test.dir, path, err)
		}
	}
}

// TestFindScript: the file that an interpreter is to read is missed before it is started, and what may be something else is none.
func TestFindScript(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "there.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "inpath"), []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	for command, missing := range map[string]string{
		"python3 there.py": "", "/usr/bin/python3 -B -u there.py": "", "python3.11 gone.py": "gone.py", "/usr/bin/python3 -B gone.py there.py": "gone.py",
		"python3 -m gone": "", "python3 -c gone": "", "python3 -W ignore gone.py": "", "python3 -": "", "python3": "",
		"node gone.mjs": "gone.mjs", "node --require gone gone.mjs": "", "bash -eu gone.sh": "gone.sh", "bash -euc gone": "", "sh inpath": "", "perl -wT gone.pl": "gone.pl",
		"./anything gone.py": "", "cat gone": "", "Rscript gone.R": "gone.R", "node /gone.mjs": "/gone.mjs",
	} {
		err := subprocess.FindScript(strings.Fields(command), folder)
		if (err == nil) != (missing == "") || err != nil && !strings.Contains(err.Error(), "run "+missing+", which is not there") {
			t.Errorf("%s: %v", command, err)
		}
	}
}
