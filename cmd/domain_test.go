package cmd_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// domain are words of the fields that the systems in deploy/profiles are for. They stand in YAML, prompts and programs there.
var domain = regexp.MustCompile(`(?i)\b(?:smiles|rdkit|xtb|molecul\w*|chemi\w*|orbital\w*|patients?|patient_?\w+|doctors?|medic\w*|illness\w*|clinic\w*|german|deutsch\w*)\b`)

// TestNoDomainInGo: whatever field a system is for, nothing of it is in Podium itself.
func TestNoDomainInGo(t *testing.T) {
	t.Parallel()
	files := 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "bin/") {
			return err
		}
		files++
		text, err := os.ReadFile("../" + path)
		for n, line := range strings.Split(string(text), "\n") {
			if found := domain.FindString(line); found != "" {
				t.Errorf("%s:%d names %q", path, n+1, found)
			}
		}
		return err
	})
	if err != nil || files < 500 {
		t.Errorf("%d files were read, %v", files, err)
	}
}
