package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"podium/bus"
	"podium/schemas"
)

func (w *World) streams() []string {
	streams := []string{bus.WorkStream}
	for shard := range w.configuration.shards {
		streams = append(streams, bus.ShardStream(shard))
	}
	return streams
}

// Digest is a hash over the whole ledger.
func (w *World) Digest() string {
	sum := sha256.New()
	for _, stream := range w.streams() {
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
	for _, stream := range w.streams() {
		for message, err := range w.ledger.Scan(context.Background(), stream, 1) {
			w.must(err)
			_, _ = fmt.Fprintf(to, "%s/%d %s %s %s\n", stream, message.Sequence, message.Recorded.Format("15:04:05.000"), message.Subject, brief(message))
		}
	}
	for i := range w.violations {
		_, _ = fmt.Fprintf(to, "%s: %s\n", w.violations[i].Invariant, w.violations[i].Detail)
	}
}

// brief is what a message says, shortened.
func brief(message bus.Message) string {
	var record schemas.Record
	if schemas.Unmarshal(message.Body, &record) != nil || record.Session == "" {
		return string(message.Body[:min(len(message.Body), dumpLength)])
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "#%d epoch %d", record.Number, record.Epoch)
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		cause, facts := &transition.Cause, transition.Facts
		switch {
		case cause.Deadline != nil:
			_, _ = fmt.Fprintf(&b, " | %s %s/%d", cause.Deadline.Kind, cause.Deadline.Task, cause.Deadline.Attempt)
		case cause.Grant != nil:
			_, _ = fmt.Fprintf(&b, " | grant %s", cause.Grant.Task)
		case cause.Absence != nil:
			_, _ = fmt.Fprintf(&b, " | absence %s", cause.Absence.Task)
		default:
			_, _ = fmt.Fprintf(&b, " | %d", cause.Sequence)
		}
		for _, f := range facts {
			_, _ = fmt.Fprintf(&b, ", %s %d/%s", f.Name(), schemas.RunOf(f), schemas.TaskOf(f))
			switch f := f.(type) {
			case *schemas.TaskDispatched:
				_, _ = fmt.Fprintf(&b, " %d %s", f.Attempt, f.Agent)
			case *schemas.TaskReady:
				b.WriteString(" " + f.Agent)
			case *schemas.TaskFailed:
				_, _ = fmt.Fprintf(&b, " %d %s %s", f.Attempt, f.Cause, f.Action)
			case *schemas.RunSettled:
				b.WriteString(" " + string(f.Reason))
			default:
			}
		}
	}
	return b.String()
}

const dumpLength = 160

// Size counts the messages of the ledger.
func (w *World) Size() int {
	size := 0
	for _, stream := range w.streams() {
		state, err := w.ledger.State(context.Background(), stream)
		w.must(err)
		size += int(state.Messages) //nolint:gosec // it fits
	}
	return size
}
