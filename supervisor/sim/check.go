package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor"
)

// check reads the ledger and looks for anything that must not be.
func (w *World) check() {
	ctx := context.Background()
	known, err := supervisor.NewProfiles(ctx, w.ledger.Artifacts(), nil)
	w.must(err)
	conversations := map[string]*schemas.Conversation{}
	var order []string
	dispatched := map[string]bool{}
	for shard := range w.shards {
		verification, err := supervisor.Verify(ctx, w.ledger, known, shard)
		w.must(err)
		for _, fault := range verification.Faults {
			w.violate("deciding again: %+v", fault)
		}
		for message, err := range w.ledger.Scan(ctx, bus.ShardStream(shard), 1, "podium.session.*.*") {
			w.must(err)
			record, err := w.record(message)
			w.must(err)
			conversation := conversations[record.Session]
			if conversation == nil {
				conversation = &schemas.Conversation{Session: record.Session}
				conversations[record.Session] = conversation
				order = append(order, record.Session)
			}
			if err = conversation.Apply(record); err != nil {
				w.violate("session %s, record %d: %v", record.Session, record.Number, err)
			}
			w.dispatches(record, dispatched)
		}
	}
	for _, id := range order {
		w.checkRuns(conversations[id])
	}
	w.checkMessages(conversations)
	w.checkCheckpoints()
	w.checkRequests(dispatched)
}

func (w *World) record(message bus.Message) (schemas.Record, error) {
	var record schemas.Record
	event, err := bus.DecodeWhole(context.Background(), w.ledger.Artifacts(), message)
	if err == nil {
		err = schemas.Unmarshal(event.Data, &record)
	}
	return record, err
}

func (w *World) dispatches(record schemas.Record, dispatched map[string]bool) {
	for fact := range record.AllFacts() {
		f := fact.TaskDispatched
		if f == nil {
			continue
		}
		if dispatched[f.Request] {
			w.violate("request %s was decided twice", f.Request)
		}
		dispatched[f.Request] = true
	}
}

// checkRuns: every run ended, with a reason, one after the other.
func (w *World) checkRuns(conversation *schemas.Conversation) {
	for i := range conversation.Runs {
		run := &conversation.Runs[i]
		if run.Ended.IsZero() || run.Status == "" || run.Reason == "" {
			w.violate("run %s has not ended with a status and a reason", run.ID)
		}
		if run.Number != i+1 {
			w.violate("run %s began out of order", run.ID)
		}
		if i > 0 && run.Started.Before(conversation.Runs[i-1].Ended) {
			w.violate("run %s began before the one before it had ended", run.ID)
		}
	}
}

// checkMessages: every accepted message ended exactly once, in order.
func (w *World) checkMessages(conversations map[string]*schemas.Conversation) {
	dead := w.quarantined()
	for _, sent := range w.sent {
		if !sent.good {
			if !dead[bus.ShardStream(schemas.ShardOf(sent.session, w.shards))+fmt.Sprint(":", sent.sequence)] {
				w.violate("unusable message %s is not in quarantine", sent.id)
			}
			continue
		}
		conversation := conversations[sent.session]
		received := 0
		if conversation != nil {
			for _, message := range conversation.Messages {
				if message.ID == sent.id {
					received++
				}
			}
		}
		if received != 1 {
			w.violate("message %s was received %d times", sent.id, received)
		}
	}
	for _, conversation := range conversations {
		last, numbers := uint64(0), []int{}
		for _, message := range conversation.Messages {
			if message.Sequence <= last {
				w.violate("session %s took its messages out of order", conversation.Session)
			}
			last = message.Sequence
			if message.Disposition == schemas.DispositionStarted || message.Disposition == schemas.DispositionQueued {
				numbers = append(numbers, message.Run)
			}
		}
		if !slices.IsSorted(numbers) || len(numbers) != len(conversation.Runs) {
			w.violate("session %s has %d runs for %d messages", conversation.Session, len(conversation.Runs), len(numbers))
		}
	}
}

func (w *World) quarantined() map[string]bool {
	dead := map[string]bool{}
	for shard := range w.shards {
		for message, err := range w.ledger.Scan(context.Background(), bus.ShardStream(shard), 1, "podium.dead.*.*") {
			w.must(err)
			event, err := bus.Decode(message)
			w.must(err)
			dead[event.ID] = true
		}
	}
	return dead
}

// checkRequests: what was decided was sent, and nothing else was.
func (w *World) checkRequests(dispatched map[string]bool) {
	sent := map[string]bool{}
	for message, err := range w.ledger.Scan(context.Background(), bus.WorkStream, 1, "podium.agent.*.request") {
		w.must(err)
		event, err := bus.Decode(message)
		w.must(err)
		sent[event.ID] = true
		if !dispatched[event.ID] {
			w.violate("request %s was sent but never decided", event.ID)
		}
	}
	missing := 0
	for request := range dispatched {
		if !sent[request] {
			missing++
		}
	}
	if missing > 0 {
		w.violate("%d requests were decided but never sent", missing)
	}
}

// Digest is a hash over the whole ledger.
func (w *World) Digest() string {
	sum := sha256.New()
	streams := []string{bus.WorkStream}
	for shard := range w.shards {
		streams = append(streams, bus.ShardStream(shard))
	}
	for _, stream := range streams {
		for message, err := range w.ledger.Scan(context.Background(), stream, 1) {
			w.must(err)
			header, err := schemas.Marshal(message.Header)
			w.must(err)
			_, _ = fmt.Fprintf(sum, "%s %d %s %d %s\n", stream, message.Sequence, message.Subject, message.Recorded.UnixNano(), header)
			_, _ = sum.Write(message.Body)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Dump writes the ledger for a person to read: one line for each message.
func (w *World) Dump(to io.Writer) {
	for shard := range w.shards {
		for message, err := range w.ledger.Scan(context.Background(), bus.ShardStream(shard), 1) {
			w.must(err)
			body := message.Body
			if len(body) > dumpLength {
				body = body[:dumpLength]
			}
			_, _ = fmt.Fprintf(to, "%d/%d %s %s %s\n", shard, message.Sequence, message.Recorded.Format("04:05.000"), message.Subject, body)
		}
	}
}

const dumpLength = 600
