package wire

import (
	"errors"
	"testing"

	"podium/bus"
	"podium/schemas"
)

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body  string
		count int
		want  bus.Ack
		err   error // nil: none, or a temporary one when want is empty
	}{
		{`{"stream":"PODIUM_0","seq":7}`, 1, bus.Ack{Stream: "PODIUM_0", Sequence: 7}, nil},
		{`{"stream":"PODIUM_0", "domain":"hub", "seq":7}`, 1, bus.Ack{Stream: "PODIUM_0", Sequence: 7}, nil},
		{`{"stream":"PODIUM_WORK","seq":40,"batch":"x","count":3}`, 3, bus.Ack{Stream: "PODIUM_WORK", Sequence: 40}, nil},
		{`{"stream":"PODIUM_WORK","seq":40,"batch":"x","count":2}`, 3, bus.Ack{}, nil},
		{`{"stream":"PODIUM_WORK","seq":40}`, 3, bus.Ack{}, nil},
		{`{"stream":"PODIUM_0","seq":7,"duplicate":true}`, 1, bus.Ack{}, errSwallowed},
		{`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"},"stream":"PODIUM_0","seq":0}`, 1, bus.Ack{}, bus.ErrConflict},
		{`{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"},"stream":"PODIUM_0","seq":0}`, 5, bus.Ack{}, bus.ErrFull},
		{`{"stream":"","seq":7}`, 1, bus.Ack{}, nil},
		{`{"stream":"PODIUM_0","seq":-7}`, 1, bus.Ack{}, nil},
		{`{"stream":"PODIUM_0","seq":99999999999999999999}`, 1, bus.Ack{}, nil},
		{`+OK`, 1, bus.Ack{}, nil},
		{``, 1, bus.Ack{}, nil},
	} {
		got, err := ReadPubAck([]byte(test.body), test.count)
		switch {
		case got != test.want:
			t.Errorf("%s: %+v", test.body, got)
		case test.err != nil && !errors.Is(err, test.err):
			t.Errorf("%s: %v, want %v", test.body, err, test.err)
		case test.err == nil && test.want == (bus.Ack{}) && !bus.Temporary(err):
			t.Errorf("%s: %v, want a temporary error: the message may stand or not", test.body, err)
		case test.want != (bus.Ack{}) && err != nil:
			t.Errorf("%s: %v", test.body, err)
		}
	}
}

// FuzzPlainAnswer: what is read letter by letter is what the JSON says.
func FuzzPlainAnswer(f *testing.F) {
	f.Add([]byte(`{"stream":"PODIUM_0","seq":7}`))
	f.Add([]byte(`{"stream":"PODIUM_\u0030","seq":7}`))
	f.Add([]byte(`{"stream":"PODIUM_0","seq":007}`))
	f.Add([]byte(`{"stream":"PODIUM_0","seq":+7}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		ack, ok := plainPubAck(body)
		if !ok {
			return
		}
		var said pubAck
		if err := schemas.Unmarshal(body, &said); err == nil && (said.Stream != ack.Stream || said.Sequence != ack.Sequence) {
			t.Errorf("%s was read as %+v", body, ack)
		}
	})
}
