package imap

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
		var found fates
		var log []span
		want := map[uint32]fate{}
		for range rapid.IntRange(0, 40).Draw(t, "notes") {
			first := rapid.Uint32Range(1, 60).Draw(t, "first")
			s := span{
				first: first, last: first + rapid.Uint32Range(0, 5).Draw(t, "more"),
				fate: fate(rapid.IntRange(1, int(fateCount)-1).Draw(t, "fate")),
			}
			found, log = found.set(s), appendFate(log, s)
			for uid := s.first; uid <= s.last; uid++ {
				want[uid] = s.fate
			}
		}
		decoded, err := decodeSpans(encodeSpans(log))
		if err != nil || !slices.Equal(decoded, log) {
			t.Fatalf("decoded %v (%v), want %v", decoded, err, log)
		}
		var again fates
		for _, s := range decoded {
			again = again.set(s)
		}
		if !slices.Equal(again, found) {
			t.Fatalf("read again: %v, want %v", again, found)
		}
		for uid := uint32(1); uid < 70; uid++ {
			if found.of(uid) != want[uid] {
				t.Fatalf("fate of %d is %d, want %d: %v", uid, found.of(uid), want[uid], found)
			}
		}
		for i := 1; i < len(found); i++ {
			if found[i].first <= found[i-1].last || found[i].first == found[i-1].last+1 && found[i].fate == found[i-1].fate {
				t.Fatalf("not in order, or not joined: %v", found)
			}
		}
	})
}

func FuzzDecodeSpans(f *testing.F) {
	f.Add(encodeSpans([]span{{1, 9, fatePublished}, {11, 11, fateVanished}, {4, 5, fateFailed}, {1<<32 - 1, 1<<32 - 1, fateOld}}))
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
