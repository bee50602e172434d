package schemas

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestSeen: what was seen is remembered with its run, in every copy, also in one
// that was written and read; a copy does not see what the others take.
func TestSeen_X03(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var seen Seen
		runs := map[string]int{}
		for i := range rapid.IntRange(0, 60).Draw(t, "inputs") {
			before, id := seen, "id-"+strconv.Itoa(i)
			run := rapid.OneOf(rapid.Just(seen.Len()), rapid.IntRange(0, 5), rapid.Just(1<<40)).Draw(t, "run")
			seen = seen.With(id, run)
			runs[id] = run
			if other := before.With("other", 7); before.Find(id) >= 0 || other.Find(id) >= 0 || seen.Find("other") >= 0 {
				t.Fatal("copies share what they take")
			}
		}
		body, err := Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		var read Seen
		if err = Unmarshal(body, &read); err != nil {
			t.Fatal(err)
		}
		if again, err := Marshal(read); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%s became %s (%v)", body, again, err)
		}
		for _, s := range []Seen{seen, read} {
			for id, run := range runs {
				if place := s.Find(id); place < 0 || s.Run(place) != run {
					t.Fatalf("%s is at place %d", id, place)
				}
			}
			if s.Len() != len(runs) || s.Find("nothing") >= 0 || s.IsZero() != (len(runs) == 0) {
				t.Fatalf("%d inputs, want %d", s.Len(), len(runs))
			}
		}
	})
}

// TestSeenIsCompact: a conversation of any length costs about eleven characters a
// message in a snapshot.
func TestSeenIsCompact(t *testing.T) {
	t.Parallel()
	var seen Seen
	const messages = 5000
	for i := range messages {
		seen = seen.With(strconv.Itoa(i), i+1)
	}
	text, err := seen.MarshalText()
	if err != nil || len(text) > 11*messages {
		t.Errorf("%d characters (%v)", len(text), err)
	}
}

// FuzzSeen: no text is a panic, and what is read is written as it was.
func FuzzSeen(f *testing.F) {
	for _, seed := range []string{"", "AA", "AQECAwQFBgcIAgE", "AQECAwQFBgcIAgEC", "AgECAwQFBgcI", "////////////"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var seen Seen
		if seen.UnmarshalText([]byte(text)) != nil {
			return
		}
		for place := range seen.Len() {
			seen.Run(place)
		}
		seen.Find("id")
		written, err := seen.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var again Seen
		if err = again.UnmarshalText(written); err != nil || fmt.Sprint(again) != fmt.Sprint(seen) {
			t.Errorf("%q became %q (%v)", text, written, err)
		}
	})
}

// BenchmarkSeen is looking up an id that a long conversation has not seen.
func BenchmarkSeen(b *testing.B) {
	for _, messages := range []int{10, 1000, 100_000} {
		b.Run(strconv.Itoa(messages), func(b *testing.B) {
			var seen Seen
			for i := range messages {
				seen = seen.With("seen"+strconv.Itoa(i), i+1)
			}
			for b.Loop() {
				if seen.Find("unseen") >= 0 {
					b.Fatal("it is seen")
				}
			}
		})
	}
}
