package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAutomatonFindsAll compares with the plain search for every word.
func TestAutomatonFindsAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[ab é]{1,5}`), 0, 12).Draw(t, "words")
		text := rapid.StringMatching(`[abc é]{0,60}`).Draw(t, "text")
		var want, got []string
		for end := 1; end <= len(text); end++ {
			for i, word := range words {
				if strings.HasSuffix(text[:end], word) {
					want = append(want, fmt.Sprintf("%d ends at %d", i, end))
				}
			}
		}
		newAutomaton(words).scan([]byte(text), func(word, end int) {
			got = append(got, fmt.Sprintf("%d ends at %d", word, end))
		})
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestAutomatonOfNothing(t *testing.T) {
	t.Parallel()
	newAutomaton(nil).scan([]byte("text \xff"), func(word, end int) {
		t.Errorf("found word %d at %d", word, end)
	})
}
