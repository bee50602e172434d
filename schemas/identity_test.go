package schemas

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// These ids stand in ledgers: they never change.
func TestIdentitiesAreFixed(t *testing.T) {
	t.Parallel()
	session := SessionID("demo", "m1@example.org")
	run := RunID(session, 1)
	for name, pair := range map[string][2]string{
		"session":         {session, "ab645964-e92f-5cad-8180-53d5ca44f196"},
		"other profile":   {SessionID("praxis", "m1@example.org"), "453c2817-fe19-59f4-9b71-8ee0a22cd41e"},
		"other partition": {SessionID("demo", "m2@example.org"), "654588b9-8412-58cb-a331-0aa65536a2e9"},
		"run":             {run, "ab645964-e92f-5cad-8180-53d5ca44f196-1"},
		"plan":            {PlanID(run), "603a90e6-3c2e-544f-bebe-18b72e5712fc"},
		"request":         {RequestID(3, 1, run, "t1", 1), "00030000-0001-8843-a90a-149799e09b11"},
		"second attempt":  {RequestID(3, 1, run, "t1", 2), "00030000-0001-8dc4-8f6b-6288d294aebf"},
		"later epoch":     {RequestID(3, 0xdeadbeef_89abcdef, run, "t1", 1), "000389ab-cdef-8843-a90a-149799e09b11"},
		"attempt":         {AttemptKey(RequestID(3, 7, run, "t1", 1)), RequestID(3, 0, run, "t1", 1)},
		"no attempt":      {AttemptKey(PlanID(run)), PlanID(run)},
		"no id":           {AttemptKey("x"), "x"},
		"effect":          {EffectID(run, "t1"), "b9cbf024-1dea-5d69-9452-ea565839637d"},
		"response":        {ResponseID(RequestID(3, 1, run, "t1", 1)), "d0b79675-1b11-584b-9c4d-e361a911abba"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %s, want %s", name, pair[0], pair[1])
		}
	}
}

// What two ids are made of cannot run together.
func TestIdentitiesAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, id := range map[string]string{
		"ab,c":             SessionID("ab", "c"),
		"a,bc":             SessionID("a", "bc"),
		"effect":           EffectID("a", "bc"),
		"plan":             PlanID("a"),
		"response":         ResponseID("a"),
		"request":          RequestID(0, 1, "a", "b", 1),
		"request 11":       RequestID(0, 1, "a", "b", 11),
		"request b1":       RequestID(0, 1, "a", "b1", 1),
		"other epoch":      RequestID(0, 2, "a", "b", 1),
		"other shard":      RequestID(1, 1, "a", "b", 1),
		"other run":        RequestID(0, 1, "ab", "", 1),
		"effect of nobody": EffectID("", "abc"),
	} {
		if other, twice := seen[id]; twice {
			t.Errorf("%s and %s have the same id", name, other)
		}
		seen[id] = name
		if err := uuid.Validate(id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRequestIDNamesItsShard(t *testing.T) {
	t.Parallel()
	for _, shard := range []int{0, 1, 255, 256, math.MaxUint16} {
		id := RequestID(shard, 1, "run", "t1", 1)
		if got, ok := ShardOfRequest(id); !ok || got != shard {
			t.Errorf("shard %d: got %d, %t", shard, got, ok)
		}
		if parsed := uuid.MustParse(id); parsed.Version() != 8 || parsed.Variant() != uuid.RFC4122 {
			t.Errorf("%s is version %d, variant %s", id, parsed.Version(), parsed.Variant())
		}
	}
	for _, id := range []string{"", "x", uuid.NewString(), ResponseID("x")} {
		if _, ok := ShardOfRequest(id); ok {
			t.Errorf("%q passes for a request id", id)
		}
	}
}

// FNV-1a-32 modulo shards is what every holder of a session id computes.
func TestShardOf(t *testing.T) {
	t.Parallel()
	// The first value is from the FNV reference vectors: FNV-1a-32 of "a" is 0xe40c292c.
	if got := ShardOf("a", 65535); got != 0xe40c292c%65535 {
		t.Errorf("got %d", got)
	}
	const sessions = 20_000
	for _, shards := range []int{1, 2, 4, 7} {
		counts := make([]int, shards)
		for i := range sessions {
			counts[ShardOf(SessionID("demo", strconv.Itoa(i)), shards)]++
		}
		for shard, count := range counts {
			if mean := sessions / shards; count < mean*9/10 || count > mean*11/10 {
				t.Errorf("%d shards: shard %d has %d of %d sessions", shards, shard, count, sessions)
			}
		}
	}
}

func TestParseRunID(t *testing.T) {
	t.Parallel()
	session := SessionID("demo", "key")
	for _, number := range []int{1, 2, 10, math.MaxInt32} {
		gotSession, got, err := ParseRunID(RunID(session, number))
		if err != nil || gotSession != session || got != number {
			t.Errorf("run %d: %s, %d, %v", number, gotSession, got, err)
		}
	}
	for _, run := range []string{
		"", "-", "1", session, session + "-", session + "-0", session + "--1", session + "-x", session + "-1.0", session + "-+1", session + "-01", strings.ToUpper(session) + "-1",
		session + "-99999999999999999999", "x-1", "{" + session + "}-1", "urn:uuid:" + session + "-1", session[1:] + "-1",
	} {
		if _, _, err := ParseRunID(run); !errors.Is(err, ErrInvalidID) {
			t.Errorf("%q: %v, want ErrInvalidID", run, err)
		}
	}
}

// A run's id has one spelling, so that two ids are equal when their runs are.
func FuzzParseRunID(f *testing.F) {
	f.Add(RunID(SessionID("demo", "key"), 1))
	f.Add(SessionID("demo", "key") + "-+1")
	f.Add(SessionID("demo", "key") + "-01")
	f.Add("0B7C1E9E-6D0E-5C1B-9F5E-1A2B3C4D5E6F-1")
	f.Fuzz(func(t *testing.T, text string) {
		session, number, err := ParseRunID(text)
		if err == nil && RunID(session, number) != text {
			t.Errorf("%q is run %d of %s", text, number, session)
		}
	})
}
