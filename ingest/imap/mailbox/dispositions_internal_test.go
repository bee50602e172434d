package mailbox

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDispositionsAreAMap compares with a plain map, under any order of notes.
func TestDispositionsAreAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var found Dispositions
		var log []Span
		want := map[uint32]Disposition{}
		for range rapid.IntRange(0, 40).Draw(t, "notes") {
			first := rapid.Uint32Range(1, 60).Draw(t, "first")
			s := Span{
				First: first, Last: first + rapid.Uint32Range(0, 5).Draw(t, "more"),
				Disposition: Disposition(rapid.IntRange(1, int(dispositionCount)-1).Draw(t, "disposition")),
			}
			found, log = found.set(s), noteSpan(log, s)
			for uid := s.First; uid <= s.Last; uid++ {
				want[uid] = s.Disposition
			}
		}
		decoded, err := decodeSpans(encodeSpans(log))
		if err != nil || !slices.Equal(decoded, log) {
			t.Fatalf("decoded %v (%v), want %v", decoded, err, log)
		}
		var again Dispositions
		for _, s := range decoded {
			again = again.set(s)
		}
		if !slices.Equal(again, found) {
			t.Fatalf("read again: %v, want %v", again, found)
		}
		for uid := uint32(1); uid < 70; uid++ {
			if found.Of(uid) != want[uid] {
				t.Fatalf("disposition of %d is %d, want %d: %v", uid, found.Of(uid), want[uid], found)
			}
		}
		for i := 1; i < len(found); i++ {
			if found[i].First <= found[i-1].Last || found[i].First == found[i-1].Last+1 && found[i].Disposition == found[i-1].Disposition {
				t.Fatalf("not in order, or not joined: %v", found)
			}
		}
	})
}

func FuzzDecodeSpans(f *testing.F) {
	f.Add(encodeSpans([]Span{{1, 9, DispositionPublished}, {11, 11, DispositionVanished}, {4, 5, DispositionFailed}, {1<<32 - 1, 1<<32 - 1, DispositionOld}}))
	f.Add([]byte{0x80})
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Fuzz(func(t *testing.T, packed []byte) {
		spans, err := decodeSpans(packed)
		if err != nil {
			if !errors.Is(err, errDispositions) {
				t.Fatal(err)
			}
			return
		}
		again, err := decodeSpans(encodeSpans(spans))
		if err != nil || !slices.Equal(spans, again) {
			t.Fatalf("%v became %v (%v)", spans, again, err)
		}
	})
}
