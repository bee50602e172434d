package route

import (
	"regexp/syntax"
	"testing"
)

// TestTextOf: what an expression with large classes is written as is compiled to the same program as what String writes.
func TestTextOf(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`[^.!?]*ja`, `(?i)[^a]+nein`, `(?i:abc)[^x]`, `[^x](?i:abc)`, `(?i:a[^k]b)\pL*`, `\pL{2,5}?\P{Greek}+|[^\n]`, `(?s).[^.].`, `a|[^a]|\W`, `(?i)\W\S[^\d]`,
		`([^a])([^b])(?P<x>[^c]?)`, `^[^,]*$`, `[^ſ]k(?i)[^s]`, `(?i)[^K]K`, "\U00100000[^a]", `[\x{100000}-\x{10ffff}]`, `ganz ohne`, ``, `(?:[^a]b[^a]c)*`,
	} {
		written := func(text func(*syntax.Regexp) string) string {
			parsed, err := syntax.Parse(source, syntax.Perl)
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			again, err := syntax.Parse(text(parsed), syntax.Perl)
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			program, err := syntax.Compile(again.Simplify())
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			return program.String()
		}
		if got, want := written(textOf), written((*syntax.Regexp).String); got != want {
			t.Errorf("%s is compiled to\n%s\nwant\n%s", source, got, want)
		}
	}
}
