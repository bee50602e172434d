package immutable

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A list is what a slice is, and every version of it stays what it was, whatever
// becomes of the others.
func TestListKeepsEveryVersion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			list List[int]
			want []int
		}
		filled := make([]int, rapid.IntRange(0, 3*listBlock).Draw(t, "filled"))
		for i := range filled {
			filled[i] = -i
		}
		versions := []version{{}, {ListOf(slices.Clone(filled)), filled}}
		for i := range rapid.IntRange(0, 40).Draw(t, "changes") {
			from := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "from")]
			to := version{from.list, slices.Clone(from.want)}
			change := rapid.IntRange(0, 2).Draw(t, "change")
			for n := range rapid.SampledFrom([]int{1, 2, listBlock - 1, listBlock, 2*listBlock + 1}).Draw(t, "times") {
				switch {
				case change == 0 || len(to.want) == 0:
					to.list, to.want = to.list.With(1000*i+n), append(to.want, 1000*i+n)
				case change == 1:
					to.list, to.want = to.list.Rest(), to.want[1:]
				default:
					place := rapid.IntRange(0, len(to.want)-1).Draw(t, "place")
					to.list = to.list.Set(place, 1000*i+n)
					to.want[place] = 1000*i + n
				}
			}
			versions = append(versions, to)
		}
		for _, v := range versions {
			if got := slices.Collect(v.list.All()); !slices.Equal(got, v.want) || v.list.Len() != len(v.want) {
				t.Fatalf("%v, want %v", got, v.want)
			}
			for place, want := range v.want {
				if got := v.list.At(place); got != want {
					t.Fatalf("at %d stands %d, want %d", place, got, want)
				}
				if got, first := Index(v.list, want), slices.Index(v.want, want); got != first {
					t.Fatalf("%d is found at %d, want %d", want, got, first)
				}
			}
		}
	})
}

// A change copies one block, however long the list is.
func TestListSharesWhatItHolds(t *testing.T) {
	t.Parallel()
	list := ListOf(make([]int, 100*listBlock+1))
	for name, changed := range map[string]List[int]{
		"one more": list.With(1), "another at the end": list.Set(100*listBlock, 1), "another in the middle": list.Set(50*listBlock, 1), "one less": list.Rest(),
	} {
		copied := 0
		for i := range list.blocks {
			if &list.blocks[i][0] != &changed.blocks[i][0] {
				copied++
			}
		}
		if copied > 1 {
			t.Errorf("%s: %d of %d blocks are copied", name, copied, len(list.blocks))
		}
	}
}
