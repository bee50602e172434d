package bus_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that the package documentation calls as a witness exists.
func TestDocumentationNamesRealTests(t *testing.T) {
	t.Parallel()
	read := func(pattern string) string {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		var all strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	tests := read("*_test.go") + read("memory/*_test.go") + read("agent/*_test.go") + read("intake/*_test.go")
	suite := read("bustest/*.go") + read("agent/conformance/*.go") + `"PODIUM_AGENTS"` // the name of a subtest is the bucket's
	found := 0
	for _, group := range regexp.MustCompile(`\(((?:Test\w+|[A-Z]\w+/\w+)(?:/[\w-]+)?(?:,[\s/]+(?:Test\w+|[A-Z]\w+/\w+)(?:/[\w-]+)?)*)\)`).FindAllStringSubmatch(read("doc.go"), -1) {
		for _, witness := range regexp.MustCompile(`\w[\w/-]*`).FindAllString(group[1], -1) {
			found++
			name, sub, _ := strings.Cut(witness, "/")
			if strings.HasPrefix(name, "Test") {
				if !strings.Contains(tests, "func "+name+"(") || sub != "" && !strings.Contains(suite, `"`+sub+`"`) {
					t.Errorf("there is no test %s", witness)
				}
			} else if !strings.Contains(suite, `"`+name+`"`) || !strings.Contains(suite, `"`+sub+`"`) {
				t.Errorf("bustest has no test %s", witness)
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d witnesses were found", found)
	}
}
