package strictyaml

import (
	"fmt"
	"regexp"
	"strings"
)

// fallbackFault is what is said of a file that is no YAML when nothing better is known.
const fallbackFault = "it is not YAML from here on; look at how far the lines are indented, and for a missing colon, quote or bracket"

// yamlFaults puts the words of the parser, which speak of tokens and contexts, into those
// of whoever has written the file. The first that fits is taken.
var yamlFaults = [...]struct{ said, plain string }{ //nolint:gochecknoglobals // never written
	{"flow mapping end token", "the brace { that begins here is not closed"},
	{"sequence end token", "the bracket [ that begins here is not closed"},
	{"'{' character corresponding", "the brace } closes nothing"},
	{"'[' character corresponding", "the bracket ] closes nothing"},
	{"quoted text", "the quote that begins here is not closed, or a backslash behind it begins no escape such as \\n; in single quotes a backslash is nothing special"},
	{"'\t' that cannot start", "a tab stands here; YAML is indented by spaces alone"},
	{"tab character", "a tab stands here; YAML is indented by spaces alone"},
	{"',' or '}'", "between { and } a comma stands behind each value, and a colon and a space behind each key"},
	{"flow map content", "between { and } a comma stands behind each value, and a colon and a space behind each key"},
	{"could not find map value", "between { and } a comma stands behind each value, and a colon and a space behind each key"},
	{"',' or ']'", "between [ and ] one comma stands between two entries"},
	{"expected sequence element", "between [ and ] one comma stands between two entries"},
	{"reserved character", "no value can begin with this character; put the value into quotes"},
	{"cannot start any token", "no value can begin with this character; put the value into quotes"},
	{"directive", "no value can begin with %; put the value into quotes"},
	{"non-map value", "a key and a colon are expected here; look at how far the line is indented"},
	{"anchor", "& names a value in YAML; put a value that begins with it into quotes"},
	{"alias", "* repeats a value in YAML; put a value that begins with it into quotes"},
	{"tag", "! begins a tag in YAML, which has no meaning here; put the value into quotes"},
	{"header option", "behind | or > nothing stands on the line; the text begins on the next one"},
	{"not allowed", "this does not belong here; look at how far the line is indented, and put a value that holds a colon, a comma or quotes into quotes"},
	{"implicit line break", "a key stands on one line with its colon"},
	{"key name", "this is no key: a key is one word, a colon and a space"},
	{"map key", "this is no key: a key is one word, a colon and a space"},
	{"invalid key", "this is no key: a key is one word, a colon and a space"},
	{"mapping key", "this is no key: a key is one word, a colon and a space"},
	{"document separator", "--- begins another document; the file is one"},
}

var definedTwice = regexp.MustCompile(`^mapping key "((?s:.*))" already defined at \[(\d+):\d+\]$`)

// yamlFault says what the parser has found, in plain words.
func yamlFault(said string) string {
	if twice := definedTwice.FindStringSubmatch(said); twice != nil {
		return fmt.Sprintf("the key %q is there twice; first on line %s", twice[1], twice[2])
	}
	for _, fault := range yamlFaults {
		if strings.Contains(said, fault.said) {
			return fault.plain
		}
	}
	return fallbackFault
}
