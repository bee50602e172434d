package diagnostic

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"agents", "chat", "http", "ledger", "mail", "profiles"}
	for word, want := range map[string]string{
		"agnets": "agents", "Profiles": "profiles", "profile": "profiles", "legder": "ledger", "mails": "mail", "zebra": "", "": "",
	} {
		if got := nearest(word, words); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}
