package bus_test

import (
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
)

func TestSubjectsAreParsedAsTheyAreBuilt(t *testing.T) {
	t.Parallel()
	session := schemas.SessionID("p", "k")
	shard := schemas.ShardOf(session, 3)
	for subject, want := range map[string]bus.Subject{
		bus.InSubject("chat", 2):              {Kind: bus.KindIn, Adapter: "chat", Shard: 2},
		bus.RequestSubject("echo"):            {Kind: bus.KindRequest, Agent: "echo", Shard: -1},
		bus.ResponseSubject("echo", 1):        {Kind: bus.KindResponse, Agent: "echo", Shard: 1},
		bus.ProgressSubject("echo", 0):        {Kind: bus.KindProgress, Agent: "echo"},
		bus.ControlSubject(0):                 {Kind: bus.KindControl},
		bus.ShardSubject(1):                   {Kind: bus.KindShard, Shard: 1},
		bus.SessionSubject(session, 3):        {Kind: bus.KindSession, Session: session, Shard: shard},
		bus.QuarantineSubject("malformed", 1): {Kind: bus.KindQuarantine, Reason: "malformed", Shard: 1},
		bus.ServiceSubject("echo", "alive"):   {Kind: "alive", Agent: "echo", Shard: -1},
	} {
		if got, err := bus.ParseSubject(subject); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", subject, got, err, want)
		}
		if want.Shard >= 0 && !memory.MatchAny(bus.ShardSubjects(want.Shard), subject) {
			t.Errorf("%s is in no shard's stream", subject)
		}
	}
	for _, subject := range []string{"", "podium", "podium.in.chat", "other.in.chat.0", "podium.in.chat.x", "podium.in.chat.-1", "podium.shard.70000", "podium.a.b.c.d.e", strings.Repeat(".", 9)} {
		if got, err := bus.ParseSubject(subject); err == nil {
			t.Errorf("%q is parsed as %+v", subject, got)
		}
	}
}
