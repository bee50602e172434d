package exec

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		percentage int
		message    string
	}{
		"":            {-1, ""},
		"words":       {-1, "words"},
		"0%":          {0, ""},
		"100% done":   {100, "done"},
		"5 %  slow":   {5, "slow"},
		"101% sure":   {-1, "101% sure"},
		"7%more":      {-1, "7%more"},
		"a 7% thing":  {-1, "a 7% thing"},
		"12%\ttabbed": {12, "tabbed"},
		"\x00bell\a":  {-1, "bell"},
		"gr\xfc\xdfe": {-1, "gre"},
	}
	for line, want := range tests {
		percentage, message := parseLine([]byte(line))
		if percentage != want.percentage || message != want.message {
			t.Errorf("%q: %d %q, want %d %q", line, percentage, message, want.percentage, want.message)
		}
	}
}

func TestLongLineIsCut(t *testing.T) {
	t.Parallel()
	p := newProgress(func(int, string) {})
	for range 3 {
		_, _ = p.Write([]byte(strings.Repeat("x", lineLimit)))
	}
	if last := p.finish(); len(last) != lineLimit {
		t.Errorf("kept %d bytes, want %d", len(last), lineLimit)
	}
}

// FuzzProgress proves that how the bytes are cut into writes makes no
// difference, and that reports are fit to be shown.
func FuzzProgress(f *testing.F) {
	f.Add([]byte("10% a\nb\n\n\xff%\n"), uint64(1))
	f.Add([]byte("99%\r\n 3 % ü\x1b[0m"), uint64(7))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		whole := newProgress(func(percentage int, message string) {
			if percentage < 0 || percentage > 100 || !utf8.ValidString(message) || strings.ContainsAny(message, "\n\r\x00\x1b") {
				t.Errorf("reported %d %q", percentage, message)
			}
		})
		_, _ = whole.Write(text)
		cut := newProgress(func(int, string) {})
		random := rand.New(rand.NewPCG(seed, 0))
		for rest := text; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			_, _ = cut.Write(rest[:n])
			rest = rest[n:]
		}
		if a, b := whole.finish(), cut.finish(); a != b || whole.percentage != cut.percentage {
			t.Errorf("whole %q %d, cut %q %d", a, whole.percentage, b, cut.percentage)
		}
	})
}
