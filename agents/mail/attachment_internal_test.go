package mail

import "testing"

// TestNamesOfAttachmentsAreSeen: what a file that goes along is called cannot look like something else.
func TestNamesOfAttachmentsAreSeen(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"invoice\u202Efdp.exe": "invoicefdp.exe", "a\u202Ab\u202Bc\u202Cd\u202De": "abcde", "\u2066x\u2067y\u2068z\u2069.pdf": "xyz.pdf",
		"\u200Ea\u200Fb\u061C.txt": "ab.txt", "\u202E": "attachment", "\u202E..\u202Ehidden": "hidden", "in\u200Bvisible\uFEFF.pdf": "invisible.pdf",
		"Übersicht – 1.pdf": "Übersicht – 1.pdf", "../../a;b.pdf": "a_b.pdf", "שלום.pdf": "שלום.pdf",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
