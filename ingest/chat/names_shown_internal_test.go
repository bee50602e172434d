package chat

import "testing"

// TestNamesOfFilesTurnNoDirection: a file that comes with a message has no mark of direction in its name.
func TestNamesOfFilesTurnNoDirection(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"invoice\u202Efdp.exe": "invoicefdp.exe", "a\u200Eb\u200Fc\u061Cd\u2067.txt": "abcd.txt", "\u202E": "", "Übersicht – 1.pdf": "Übersicht – 1.pdf",
	} {
		if got := shownName(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}
