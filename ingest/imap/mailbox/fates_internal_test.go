package mailbox

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestFatesAreAMap compares with a plain map, under any order of notes.
func TestFatesAreAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var found Fates
		var log []Span
		want := map[uint32]Fate{}
		for range rapid.IntRange(0, 40).Draw(t, "notes") {
			first := rapid.Uint32Range(1, 60).Draw(t, "first")
			s := Span{
				First: first, Last: first + rapid.Uint32Range(0, 5).Draw(t, "more"),
				Fate: Fate(rapid.IntRange(1, int(fateCount)-1).Draw(t, "fate")),
			}
			found, log = found.set(s), appendFate(log, s)
			for uid := s.First; uid <= s.Last; uid++ {
				want[uid] = s.Fate
			}
		}
		decoded, err := decodeSpans(encodeSpans(log))
		if err != nil || !slices.Equal(decoded, log) {
			t.Fatalf("decoded %v (%v), want %v", decoded, err, log)
		}
		var again Fates
		for _, s := range decoded {
			again = again.set(s)
		}
		if !slices.Equal(again, found) {
			t.Fatalf("read again: %v, want %v", again, found)
		}
		for uid := uint32(1); uid < 70; uid++ {
			if found.Of(uid) != want[uid] {
				t.Fatalf("fate of %d is %d, want %d: %v", uid, found.Of(uid), want[uid], found)
			}
		}
		for i := 1; i < len(found); i++ {
			if found[i].First <= found[i-1].Last || found[i].First == found[i-1].Last+1 && found[i].Fate == found[i-1].Fate {
				t.Fatalf("not in order, or not joined: %v", found)
			}
		}
	})
}

func FuzzDecodeSpans(f *testing.F) {
	f.Add(encodeSpans([]Span{{1, 9, FatePublished}, {11, 11, FateVanished}, {4, 5, FateFailed}, {1<<32 - 1, 1<<32 - 1, FateOld}}))
	f.Add([]byte{0x80})
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Fuzz(func(t *testing.T, packed []byte) {
		spans, err := decodeSpans(packed)
		if err != nil {
			if !errors.Is(err, errFates) {
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
