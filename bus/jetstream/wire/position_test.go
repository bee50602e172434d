package wire

import (
	"strings"
	"testing"
	"time"
)

func TestParsePosition(t *testing.T) {
	t.Parallel()
	want := Position{Deliveries: 2, Stream: 17, Consumer: 9, Recorded: time.Unix(0, 1_700_000_000_000_000_001).UTC(), Pending: 4}
	for _, reply := range []string{
		"$JS.ACK.PODIUM_0.alpha.2.17.9.1700000000000000001.4",
		"$JS.ACK.hub.ACCHASH.PODIUM_0.alpha.2.17.9.1700000000000000001.4",
		"$JS.ACK._.ACCHASH.PODIUM_0.alpha.2.17.9.1700000000000000001.4.random",
	} {
		if got, ok := ParsePosition(reply); !ok || got != want {
			t.Errorf("%s: %+v, %v", reply, got, ok)
		}
	}
	for _, reply := range []string{
		"", "$JS.ACK.", "_INBOX.x.1", "$JS.ACK.PODIUM_0.alpha.2.17.9.1700000000000000001",
		"$JS.ACK.PODIUM_0.alpha.2.17.9.x.4", "$JS.ACK.PODIUM_0.alpha.-2.17.9.1700000000000000001.4",
		"$JS.ACK.PODIUM_0.alpha.2.17.9.1700000000000000001.4.5", "$JS.ACK.a.b.c.d.1.2.3.4.5.6.7.8.9",
		"$JS.ACK.PODIUM_0.alpha.2.99999999999999999999.9.1700000000000000001.4",
	} {
		if got, ok := ParsePosition(reply); ok {
			t.Errorf("%q was read as %+v", reply, got)
		}
	}
}

func FuzzParsePosition(f *testing.F) {
	f.Add("$JS.ACK.PODIUM_0.alpha.2.17.9.1700000000000000001.4")
	f.Add("$JS.ACK.hub.ACCHASH.PODIUM_0.alpha.2.17.9.1700000000000000001.4.random")
	f.Add("$JS.ACK........")
	f.Fuzz(func(t *testing.T, reply string) {
		got, ok := ParsePosition(reply)
		if ok && (!strings.HasPrefix(reply, ackPrefix) || got.Deliveries < 0) {
			t.Errorf("%q was read as %+v", reply, got)
		}
	})
}
