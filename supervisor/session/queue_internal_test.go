package session

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"podium/schemas"
)

// A queue as it would be if it held every message whole.
type wholeQueue []wholeQueued

type wholeQueued struct {
	Run       int              `json:"run"`
	Message   schemas.Incoming `json:"message"`
	Cancelled bool             `json:"cancelled,omitzero"`
	Final     bool             `json:"final,omitzero"`
}

// drawMessage returns a message as a session queues it.
func drawMessage(t *rapid.T, sequence uint64) *schemas.Incoming {
	message := schemas.Incoming{
		Sequence: sequence, ID: "id", Channel: rapid.SampledFrom([]string{schemas.ChannelChat, schemas.ChannelEmail}).Draw(t, "channel"),
		Language: rapid.SampledFrom([]string{"de", "en"}).Draw(t, "language"), Text: schemas.Content{Sequence: sequence, Size: 14},
		Reply: &schemas.Reply{Agent: "chat", Thread: "t"},
	}
	switch rapid.IntRange(0, 7).Draw(t, "particular") {
	case 0:
		message.Upstream, message.Reply = &schemas.Upstream{Request: "r"}, nil
	case 1:
		message.Reply.To = []schemas.Address{{Address: "a@example.org"}}
	case 2:
		message.Entities = map[string]string{"customer": "1"}
	case 3:
		message.Text = schemas.Content{Result: schemas.Result{Text: "in place"}}
	}
	return &message
}

// TestQueue: a queue says of every message what one that holds all of them says,
// also after it was written and read.
func TestQueue_G33(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var queue Queue
		var whole wholeQueue
		run := 7
		for range rapid.IntRange(0, 80).Draw(t, "happenings") {
			before, written := queue, mustMarshal(t, queue)
			switch n := len(whole); {
			case n == 0 || rapid.IntRange(0, 3).Draw(t, "what") > 0:
				run++
				message := drawMessage(t, uint64(10*run)) //nolint:gosec // a small number
				queue, whole = queue.with(run, message), append(whole, wholeQueued{Run: run, Message: *message})
			case rapid.Bool().Draw(t, "cancelled"):
				place := rapid.IntRange(0, n-1).Draw(t, "place")
				final := rapid.Bool().Draw(t, "final")
				queue, whole[place].Cancelled = queue.cancelled(whole[place].Run, final), true
				whole[place].Final = whole[place].Final || final
			case rapid.Bool().Draw(t, "merged"):
				message := whole[n-1].Message
				message.MergedTexts = append(slices.Clip(message.MergedTexts), schemas.Content{Sequence: 1, Size: 1})
				queue, whole[n-1].Message = queue.merged(&message), message
			default:
				queue, whole = queue.rest(), whole[1:]
			}
			if !bytes.Equal(mustMarshal(t, before), written) {
				t.Fatal("an earlier version has changed")
			}
		}
		var read Queue
		if err := schemas.Unmarshal(mustMarshal(t, queue), &read); err != nil {
			t.Fatal(err)
		}
		for _, q := range []Queue{queue, read} {
			saysAsMuch(t, q, whole)
			if got, want := mustMarshal(t, q), mustMarshal(t, queue); !bytes.Equal(got, want) {
				t.Fatalf("written as\n%s\nand as\n%s", got, want)
			}
		}
	})
}

func mustMarshal(t *rapid.T, value any) []byte {
	body, err := schemas.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func saysAsMuch(t *rapid.T, queue Queue, whole wholeQueue) {
	if queue.Len() != len(whole) || queue.IsZero() != (len(whole) == 0) {
		t.Fatalf("%d wait, want %d", queue.Len(), len(whole))
	}
	place := 0
	for queued := range queue.All() {
		want, kept := &whole[place], queue.waiting.At(place)
		if queued.Run != want.Run || queued.Cancelled != want.Cancelled || kept.final != want.Final || !queue.has(want.Run) || queue.has(want.Run+len(whole)) {
			t.Fatalf("run %d, cancelled %v, want run %d", queued.Run, queued.Cancelled, want.Run)
		}
		if kept.sequence != want.Message.Sequence || (queued.Message.Upstream == nil) != (want.Message.Upstream == nil) ||
			queued.Message.Channel != want.Message.Channel || queued.Message.Language != want.Message.Language ||
			queued.Message.ReplyAgent() != want.Message.ReplyAgent() || !sameRecipients(recipients(queued.Message.Reply), recipients(want.Message.Reply)) {
			t.Fatalf("run %d waits with %+v, want %+v", queued.Run, queued.Message, want.Message)
		}
		if !kept.referred && !bytes.Equal(mustMarshal(t, queued.Message), mustMarshal(t, want.Message)) {
			t.Fatalf("run %d is held as %+v, want %+v", queued.Run, queued.Message, want.Message)
		}
		if last := place == len(whole)-1; kept.referred == (last || !referable(&want.Message)) {
			t.Fatalf("run %d, the last %v, is referred to: %v", queued.Run, last, kept.referred)
		}
		place++
	}
}

// FuzzQueue: no text is a panic, and what is read is written and read alike.
func FuzzQueue(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[{"run":1,"message":{"sequence":1}}]`, `[{"run":2,"sequences":"CgE=","channel":"chat"},{"run":4,"message":{"sequence":9}}]`,
		`[{"run":2,"sequences":"gA=="}]`, `[{"run":1},{}]`, `null`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var queue, again Queue
		if schemas.Unmarshal([]byte(text), &queue) != nil {
			return
		}
		written, err := schemas.Marshal(queue)
		if err != nil {
			t.Fatal(err)
		}
		if err = schemas.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s became %s: %v", text, written, err)
		}
		if rewritten, err := schemas.Marshal(again); err != nil || !bytes.Equal(rewritten, written) {
			t.Errorf("%s became %s (%v)", written, rewritten, err)
		}
	})
}
