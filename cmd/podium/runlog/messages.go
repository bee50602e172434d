package runlog

import (
	"context"
	"iter"
	"strings"

	"podium/bus"
	"podium/schemas"
)

// Messages merges the streams of the shards by time; each stream keeps its order. A subject
// that is not empty chooses, with the wildcards of NATS. Requests to agents are among them
// when work says so, or the subject.
func (r Reader) Messages(ctx context.Context, subject string, work bool) iter.Seq2[bus.Message, error] {
	var subjects []string
	if subject != "" {
		subjects = []string{subject}
	}
	var streams []iter.Seq2[bus.Message, error]
	for shard := range r.Core.Shards() {
		streams = append(streams, r.Core.Scan(ctx, bus.ShardStream(shard), 1, subjects...))
	}
	if work || strings.HasSuffix(subject, ".request") {
		streams = append(streams, r.Core.Scan(ctx, bus.WorkStream, 1, subjects...))
	}
	return mergeByTime(streams)
}

func mergeByTime(streams []iter.Seq2[bus.Message, error]) iter.Seq2[bus.Message, error] {
	return func(yield func(bus.Message, error) bool) {
		type source struct {
			next func() (bus.Message, error, bool)
			head bus.Message
			err  error
			ok   bool
		}
		sources := make([]*source, len(streams))
		for i, stream := range streams {
			next, stop := iter.Pull2(stream)
			defer stop()
			s := &source{next: next}
			s.head, s.err, s.ok = next()
			sources[i] = s
		}
		for {
			var first *source
			for _, s := range sources {
				if s.ok && (first == nil || s.head.Recorded.Before(first.head.Recorded)) {
					first = s
				}
			}
			if first == nil || !yield(first.head, first.err) || first.err != nil {
				return
			}
			first.head, first.err, first.ok = first.next()
		}
	}
}

// Concerns reports whether a message is about a run: it says so, or it is a
// record or an input of the run's session.
func Concerns(event *schemas.Event, message *bus.Message, session, run string) bool {
	about, _, _ := strings.Cut(event.Subject, "/")
	switch {
	case about == run || event.CorrelationID == run:
		return true
	case event.Type == schemas.TypeRecord && strings.HasSuffix(message.Subject, "."+session):
		return tells(event, run)
	case about != "" || event.CorrelationID != "":
		return false
	case event.PartitionKey != "" && event.Session() == session:
		return true
	}
	return strings.HasSuffix(message.Subject, "."+session)
}

// tells reports whether a record says something about a run, or nothing about any;
// its attributes name only the first of several.
func tells(event *schemas.Event, run string) bool {
	var record schemas.Record
	if schemas.Unmarshal(event.Data, &record) != nil {
		return event.CorrelationID == ""
	}
	about := false
	for fact := range record.AllFacts() {
		if number := schemas.RunOf(fact); number > 0 {
			about = true
			if schemas.RunID(record.Session, number) == run {
				return true
			}
		}
	}
	return !about
}
