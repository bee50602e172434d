package cmd_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wire says where each kind of name that others meet on the wire is declared.
var wire = map[string]func(fs.FS) ([]string, error){
	"attribute": declaredBy("bus/binding/binary.go", `"ce-(\w+)"`),
	"signal":    declaredBy("bus/subject.go", `(?:Service|Signal)\w+\s+= "(\w+)"`),
	"subject":   declaredBy("bus/subject.go", `Kind\w+\s+Kind = "(\w+)"`),
	"stream":    declaredBy("bus/subject.go", `= "(PODIUM_\w+)"`),
	"fact":      factsOf("schemas/record.schema.json"),
	"control":   declaredBy("schemas/control.go", `ControlAction = "(\w+)"`),
	"phase":     declaredBy("schemas/workflow/run.go", `Phase\w+\s+Phase = "(\w+)"`),
	"kind":      declaredBy("schemas/execution_request.go", `Kind\w+\s+RequestKind = "(\w+)"`),
	"schema": func(tree fs.FS) (names []string, err error) {
		files, err := fs.Glob(tree, "schemas/*.schema.json")
		for _, file := range files {
			names = append(names, strings.TrimSuffix(path.Base(file), ".schema.json"))
		}
		return names, err
	},
}

// ofCloudEvents are the attributes that the specification has.
var ofCloudEvents = strings.Fields("specversion id source type subject time datacontenttype dataschema")

// TestWireIsInTheChangelog: what is frozen is named on the page that says what is.
func TestWireIsInTheChangelog(t *testing.T) {
	t.Parallel()
	var told, tokens []string // tokens are those of subjects
	for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(readDoc(t, "CHANGELOG.md"), -1) {
		words := regexp.MustCompile(`\w+`).FindAllString(quoted, -1)
		if told = append(told, words...); strings.HasPrefix(quoted, "`podium.") {
			tokens = append(tokens, words...)
		}
	}
	for kind, enumerate := range wire {
		names, err := enumerate(os.DirFS(".."))
		if err != nil || len(names) < 4 {
			t.Errorf("only %v are declared as %s: %v", names, kind, err)
		}
		named := told
		switch kind {
		case "attribute":
			named = slices.Concat(told, ofCloudEvents)
		case "signal", "subject":
			named = tokens
		}
		for _, name := range names {
			if !slices.Contains(named, name) {
				t.Errorf("CHANGELOG.md does not name the %s %s", kind, name)
			}
		}
	}
}
