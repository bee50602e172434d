package bus_test

import (
	"strings"
	"testing"

	"podium/bus"
	"podium/schemas"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, subject string
		want             bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a", false},
		{"a", "a.b", false},
		{"a.b", "a.b.c", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"*.b", "a.b", true},
		{"*", "a", true},
		{"*", "", false},
		{"a.>", "a.b", true},
		{"a.>", "a.b.c", true},
		{"a.>", "a", false},
		{">", "a", true},
		{">", "a.b", true},
		{">", "", false},
		{"a.*.c", "a.b.c", true},
		{"a.*.c", "a..c", false},
		{"a.b*", "a.bc", false},
		{"a.*", "a.", false},
	} {
		if got := bus.Match(c.pattern, c.subject); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.subject, got)
		}
	}
	if !bus.MatchAny(nil, "a") || bus.MatchAny([]string{"b", "c"}, "a") || !bus.MatchAny([]string{"b", "a"}, "a") {
		t.Error("MatchAny")
	}
}

func TestSubjectsAreParsedAsTheyAreBuilt(t *testing.T) {
	t.Parallel()
	session := schemas.SessionID("p", "k")
	shard := schemas.ShardOf(session, 3)
	for subject, want := range map[string]bus.Subject{
		bus.InSubject("chat", 2):            {Kind: bus.KindIn, Adapter: "chat", Shard: 2},
		bus.RequestSubject("echo"):          {Kind: bus.KindRequest, Agent: "echo", Shard: -1},
		bus.ResponseSubject("echo", 1):      {Kind: bus.KindResponse, Agent: "echo", Shard: 1},
		bus.ProgressSubject("echo", 0):      {Kind: bus.KindProgress, Agent: "echo"},
		bus.ControlSubject(0):               {Kind: bus.KindControl},
		bus.ShardSubject(1):                 {Kind: bus.KindShard, Shard: 1},
		bus.SessionSubject(session, 3):      {Kind: bus.KindSession, Session: session, Shard: shard},
		bus.DeadSubject("malformed", 1):     {Kind: bus.KindDead, Reason: "malformed", Shard: 1},
		bus.ServiceSubject("echo", "alive"): {Kind: "alive", Agent: "echo", Shard: -1},
	} {
		if got, err := bus.ParseSubject(subject); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", subject, got, err, want)
		}
		if want.Shard >= 0 && !bus.MatchAny(bus.ShardSubjects(want.Shard), subject) {
			t.Errorf("%s is in no shard's stream", subject)
		}
	}
	for _, subject := range []string{"", "podium", "podium.in.chat", "other.in.chat.0", "podium.in.chat.x", "podium.in.chat.-1", "podium.shard.70000", "podium.a.b.c.d.e", strings.Repeat(".", 9)} {
		if got, err := bus.ParseSubject(subject); err == nil {
			t.Errorf("%q is parsed as %+v", subject, got)
		}
	}
}
