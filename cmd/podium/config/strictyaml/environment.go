package strictyaml

import (
	"regexp"
	"strings"
)

type lookupFunc = func(name string) (string, bool)

// The marks that stand for "${" and "}" while the file is parsed, so that a
// variable is one plain word to the YAML parser wherever it stands, and columns
// stay right: each mark has as many characters as what it stands for.
const (
	markOpen  = "\ue000\ue000"
	markClose = "\ue001"
	markPlain = "\ue002\ue002\ue002" // "$${"
)

var (
	variable   = regexp.MustCompile(`\$\$\{|\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}"\n]*)?\}`)
	markedName = regexp.MustCompile(markOpen + `([A-Za-z_][A-Za-z0-9_]*)(:-[^` + markClose + `]*)?` + markClose)
	anyMark    = regexp.MustCompile("[\ue000-\ue002]")
)

func markVariables(text string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$${" {
			return markPlain
		}
		return markOpen + strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}") + markClose
	})
}

// unmark returns a text as it stands in the file.
func unmark(text string) string {
	return strings.NewReplacer(markOpen, "${", markClose, "}", markPlain, "$${").Replace(text)
}

// expand replaces the variables of one value and returns the names of those that
// are not set. One with a default, as in ${NAME:-default}, has that when it is not
// set or empty, as in a shell.
func expand(text string, lookup lookupFunc) (expanded string, missing []string) {
	expanded = markedName.ReplaceAllStringFunc(text, func(found string) string {
		parts := markedName.FindStringSubmatch(found)
		name, otherwise := parts[1], parts[2]
		value, ok := lookup(name)
		switch {
		case otherwise != "" && value == "":
			return strings.TrimPrefix(otherwise, ":-")
		case !ok:
			missing = append(missing, name)
		}
		return value
	})
	return strings.ReplaceAll(expanded, markPlain, "${"), missing
}
