package filestore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A hole is a piece of a block that holds other bytes than were written.
type hole struct{ from, to int }

// sampleBlock returns a block of messages of many sizes, and where each begins; the last is the end.
func sampleBlock(tb testing.TB, messages int) (content []byte, begins []int) {
	tb.Helper()
	for i := range messages {
		begins = append(begins, len(content))
		headers := ""
		if i%3 == 0 {
			headers = fmt.Sprintf("NATS/1.0\r\nce-id: %d\r\n\r\n", i)
		}
		content = append(content, record(tb, "PODIUM_0", 1, uint64(100+i), "podium.session.0.abc", headers,
			`{"text":"`+strings.Repeat("a word ", 20+i*37%400)+`"}`)...)
	}
	return content, append(begins, len(content))
}

// TestHoleLosesOnlyWhatItHit: behind a hole the next whole record is read again: for each place of
// the hole, each content, and several holes.
func TestHoleLosesOnlyWhatItHit(t *testing.T) {
	t.Parallel()
	content, begins := sampleBlock(t, 120)
	size := len(content)
	middle := begins[60]
	for name, holes := range map[string][]hole{
		"in the middle":                     {{size / 3 / 4096 * 4096, size/3/4096*4096 + 4096}},
		"over a header":                     {{middle - 7, middle + 9}},
		"over a length":                     {{middle, middle + 4}},
		"over half a length":                {{middle + 1, middle + 3}},
		"over a sequence":                   {{middle + 4, middle + 12}},
		"over a length of a subject":        {{middle + 20, middle + 22}},
		"over a body and the header behind": {{middle - 300, middle + 5}},
		"of one record":                     {{middle, begins[61]}},
		"up to within a header":             {{middle - 4096, middle + 3}},
		"at the beginning":                  {{0, 4096}},
		"over the first header":             {{0, 22}},
		"at the end":                        {{size - 4096, size}},
		"over the last checksum":            {{size - 8, size}},
		"two":                               {{8192, 12288}, {40960, 45056}},
		"four":                              {{0, 512}, {8192, 12288}, {16384, 16384 + 512}, {size - 4096, size}},
		"one record between two":            {{begins[30] + 50, begins[31]}, {begins[32], begins[33] + 10}},
		"large":                             {{size / 4, size / 4 * 3}},
	} {
		for kind, fill := range map[string]func(piece []byte){
			"zeros": func(piece []byte) { clear(piece) },
			"ones":  func(piece []byte) { copy(piece, bytes.Repeat([]byte{0xff}, len(piece))) },
			"noise": func(piece []byte) {
				random := rand.New(rand.NewPCG(3, uint64(len(piece)))) //nolint:gosec // a seed repeats it
				for i := range piece {
					piece[i] = byte(random.Uint32())
				}
			},
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				damaged := slices.Clone(content)
				for _, hole := range holes {
					fill(damaged[hole.from:hole.to])
				}
				var want []int
				for i := range begins[:len(begins)-1] {
					if bytes.Equal(content[begins[i]:begins[i+1]], damaged[begins[i]:begins[i+1]]) {
						want = append(want, begins[i])
					}
				}
				if got := readOffsets(t, damaged); !slices.Equal(got, want) {
					t.Errorf("%d of %d records are read, and %d were not hit", len(got), len(begins)-1, len(want))
				}
			})
		}
	}
}

func readOffsets(t *testing.T, content []byte) (offsets []int) {
	t.Helper()
	d, err := newDecoder("PODIUM_0", 1)
	if err != nil {
		t.Fatal(err)
	}
	d.each(content, func(offset int64, _ *Record) { offsets = append(offsets, int(offset)) }, func(int64, int64, string) {})
	return offsets
}

// TestHoleAnywhere: each of many places of a page of zeros loses what it hit, and nothing else.
func TestHoleAnywhere(t *testing.T) {
	t.Parallel()
	content, begins := sampleBlock(t, 40)
	for at := 0; at+512 < len(content); at += 97 {
		damaged := slices.Clone(content)
		clear(damaged[at : at+512])
		var want []int
		for i := range begins[:len(begins)-1] {
			if begins[i+1] <= at || begins[i] >= at+512 {
				want = append(want, begins[i])
			}
		}
		if got := readOffsets(t, damaged); !slices.Equal(got, want) {
			t.Errorf("a hole at %d: %d records are read, and %d were not hit", at, len(got), len(want))
		}
	}
}

// TestForgedRecordBehindAHole: the header of a message is gone, and its body holds records that its
// sender made. None of them is read, and what stands behind the message is.
func TestForgedRecordBehindAHole(t *testing.T) {
	t.Parallel()
	before := record(t, "PODIUM_0", 1, 7, "podium.in.chat.0", "", `{"text":1}`)
	after := record(t, "PODIUM_0", 1, 9, "podium.in.chat.0", "", `{"text":3}`)
	for name, forged := range map[string][]byte{
		"one":           record(t, "PODIUM_0", 1, 8, "podium.session.0.a", "", `{"forged":1}`),
		"a later one":   record(t, "PODIUM_0", 1, 500, "podium.session.0.a", "", `{"forged":1}`),
		"an earlier":    record(t, "PODIUM_0", 1, 3, "podium.session.0.a", "", `{"forged":1}`),
		"several":       slices.Concat(record(t, "PODIUM_0", 1, 8, "a", "", "1"), record(t, "PODIUM_0", 1, 9, "a", "", "2"), record(t, "PODIUM_0", 1, 10, "a", "", "3")),
		"with the next": slices.Concat(record(t, "PODIUM_0", 1, 8, "a", "", "1"), after),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message := record(t, "PODIUM_0", 1, 8, "podium.in.chat.0", "", strings.Repeat("x", 40)+string(forged)+strings.Repeat("y", 30))
			content := slices.Concat(before, message, after)
			clear(content[len(before) : len(before)+recordHeader+20])
			if got, want := readOffsets(t, content), []int{0, len(before) + len(message)}; !slices.Equal(got, want) {
				t.Errorf("records are read at %d, want %d", got, want)
			}
		})
	}
}

// TestForgedRecordInATornMessage: a message was being written when the process ended, up to where a
// record in its body ends. That one is not read.
func TestForgedRecordInATornMessage(t *testing.T) {
	t.Parallel()
	before := record(t, "PODIUM_0", 1, 7, "podium.in.chat.0", "", `{"text":1}`)
	forged := record(t, "PODIUM_0", 1, 500, "podium.session.0.a", "", `{"forged":1}`)
	message := record(t, "PODIUM_0", 1, 8, "podium.in.chat.0", "", strings.Repeat("x", 40)+string(forged)+strings.Repeat("y", 30))
	content := slices.Concat(before, message[:len(message)-checksumSize-30])
	if got := readOffsets(t, content); !slices.Equal(got, []int{0}) {
		t.Errorf("records are read at %d", got)
	}
}

// TestOmitDamageKeepsWhatIsBehindAHole: the block that is written anew has no damage, and all
// messages that the hole has not hit.
func TestOmitDamageKeepsWhatIsBehindAHole(t *testing.T) {
	t.Parallel()
	content, _ := sampleBlock(t, 60)
	folder := filepath.Join(t.TempDir(), "PODIUM_0")
	clear(content[8192:12288])
	file := BlockFile(folder, 1)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := OmitDamage(folder, 1); err != nil {
		t.Fatal(err)
	}
	block, err := readBlockFile("PODIUM_0", folder, 1, 0)
	if err != nil || len(block.Damages) > 0 || block.Last != 159 || len(block.Gaps) != 1 || block.Gaps[0].Last-block.Gaps[0].First > 5 {
		t.Errorf("%+v, %v", block, err)
	}
}
