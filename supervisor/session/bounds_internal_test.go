package session

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// What others write into records is bounded, whatever they write.
func TestForeignTextIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", maxDetail)
	short := cut(long, maxDetail)
	if len(short) > maxDetail+len("…") || !utf8.ValidString(short) || !strings.HasSuffix(short, "…") {
		t.Errorf("%d bytes, valid %v", len(short), utf8.ValidString(short))
	}
	if cut("as it is", maxDetail) != "as it is" {
		t.Error("a short text was changed")
	}
}

// TestCutInside: with its mark a text is no longer than its limit, and still text.
func TestCutInside(t *testing.T) {
	t.Parallel()
	const text = "grüßen" // 8 bytes
	for limit, want := range []string{"", "", "", "…", "g…", "gr…", "gr…", "grü…", "grüßen", "grüßen"} {
		if got := cutInside(text, limit); got != want || len(got) > limit {
			t.Errorf("at %d: %q, want %q", limit, got, want)
		}
	}
}

func TestLongThreadsKeepTheirRoot(t *testing.T) {
	t.Parallel()
	var references []string
	for i := range 100 {
		references = append(references, strconv.Itoa(i))
	}
	kept := thread(references[:99], references[99])
	if len(kept) != maxReferences || kept[0] != "0" || kept[1] != "81" || kept[len(kept)-1] != "99" {
		t.Errorf("kept %v", kept)
	}
}
