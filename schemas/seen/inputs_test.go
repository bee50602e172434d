package seen_test

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"podium/schemas/seen"
)

// TestSeen: what was seen is remembered with its run, in every copy, also in one
// that was written and read; a copy does not see what the others take.
func TestSeen_X03(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var inputs seen.Inputs
		runs := map[string]int{}
		for i := range rapid.IntRange(0, 60).Draw(t, "inputs") {
			before, id := inputs, "id-"+strconv.Itoa(i)
			run := rapid.OneOf(rapid.Just(inputs.Len()), rapid.IntRange(0, 5), rapid.Just(1<<40)).Draw(t, "run")
			inputs = inputs.With(id, run)
			runs[id] = run
			if other := before.With("other", 7); before.Find(id) >= 0 || other.Find(id) >= 0 || inputs.Find("other") >= 0 {
				t.Fatal("copies share what they take")
			}
		}
		body, err := json.Marshal(inputs)
		if err != nil {
			t.Fatal(err)
		}
		var read seen.Inputs
		if err = json.Unmarshal(body, &read); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(read); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%s became %s (%v)", body, again, err)
		}
		for _, s := range []seen.Inputs{inputs, read} {
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
	var inputs seen.Inputs
	const messages = 5000
	for i := range messages {
		inputs = inputs.With(strconv.Itoa(i), i+1)
	}
	text, err := inputs.MarshalText()
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
		var inputs seen.Inputs
		if inputs.UnmarshalText([]byte(text)) != nil {
			return
		}
		for place := range inputs.Len() {
			inputs.Run(place)
		}
		inputs.Find("id")
		written, err := inputs.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var again seen.Inputs
		if err = again.UnmarshalText(written); err != nil || fmt.Sprint(again) != fmt.Sprint(inputs) {
			t.Errorf("%q became %q (%v)", text, written, err)
		}
	})
}

// BenchmarkSeen is looking up an id that a long conversation has not seen.
func BenchmarkSeen(b *testing.B) {
	for _, messages := range []int{10, 1000, 100_000} {
		b.Run(strconv.Itoa(messages), func(b *testing.B) {
			var inputs seen.Inputs
			for i := range messages {
				inputs = inputs.With("seen"+strconv.Itoa(i), i+1)
			}
			for b.Loop() {
				if inputs.Find("unseen") >= 0 {
					b.Fatal("it is seen")
				}
			}
		})
	}
}
