package table_test

import (
	"strings"
	"testing"

	"podium/schemas/table"
)

// TestNoCellIsAFormula: a text has an apostrophe before whatever a spreadsheet would take for a formula, and stays as it is
// otherwise.
func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=cmd()": "'=cmd()", ";=cmd": ";'=cmd", "a;=cmd": "a;'=cmd", "a; @x": "a;' @x", "＝1": "'＝1", "﹦1": "'﹦1", "－1": "'－1", "＋1": "'＋1", "＠x": "'＠x",
		"\u00A0=1": "'\u00A0=1", "\u200B=1": "'\u200B=1", "\uFEFF=1": "'\uFEFF=1", "\u2060\u3000=1": "'\u2060\u3000=1", "\u202E=1": "'\u202E=1",
		"a\n=1": "a\n'=1", "a\r\n+1": "a\r\n'+1", "\t=1": "'\t'=1", "\tx": "'\tx", "a\t-1": "a\t'-1", "+49 30 1": "'+49 30 1",
		"": "", "a": "a", "1-1": "1-1", "a=b": "a=b", "a@b.c": "a@b.c", "two words": "two words", "\u00A0x": "\u00A0x", ";": ";", "a;\u200B": "a;\u200B",
	} {
		if got := table.Guard(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if long := strings.Repeat(";=", 1<<16); len(table.Guard(long)) != 3<<16 {
		t.Error("a long text is not guarded throughout")
	}
}
