package chat

import "testing"

// TestTriggerWordIsNoWord: what calls Podium is cut where the post begins with it as a word, and nowhere else.
func TestTriggerWordIsNoWord(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, word, want string }{
		{"ask 2+2", "ask", "2+2"},
		{" ask: 2+2", "ask", "2+2"},
		{"@podium, ask me", "@podium", "ask me"},
		{"ask", "ask", ""},
		{"asking", "ask", "asking"},
		{"I ask", "ask", "I ask"},
		{"2+2", "", "2+2"},
		{": x", "", ": x"},
	} {
		if got := (&mattermostPost{Text: test.text, Word: test.word}).words(); got != test.want {
			t.Errorf("%q with %q is %q, want %q", test.text, test.word, got, test.want)
		}
	}
}
