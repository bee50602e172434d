package memory_test

import (
	"testing"

	"podium/bus/memory"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, subject string
		want             bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a", false},
		{"a", "a.b", false},
		{"a.b", "a.b.c", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"*.b", "a.b", true},
		{"*", "a", true},
		{"*", "", false},
		{"a.>", "a.b", true},
		{"a.>", "a.b.c", true},
		{"a.>", "a", false},
		{">", "a", true},
		{">", "a.b", true},
		{">", "", false},
		{"a.*.c", "a.b.c", true},
		{"a.*.c", "a..c", false},
		{"a.b*", "a.bc", false},
		{"a.*", "a.", false},
	} {
		if got := memory.Match(c.pattern, c.subject); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.subject, got)
		}
	}
	if !memory.MatchAny(nil, "a") || memory.MatchAny([]string{"b", "c"}, "a") || !memory.MatchAny([]string{"b", "a"}, "a") {
		t.Error("MatchAny")
	}
}
