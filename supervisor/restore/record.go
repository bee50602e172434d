package restore

import (
	"context"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/schemas"
)

// A Record is a record of a session with its sequence in the shard, and what leads from it
// to those before it.
type Record struct {
	*schemas.Record

	Sequence, Previous uint64
	Chain              string       // link to the record before, as the record says it
	Link               schemas.Link // of this one
	Trail              *schemas.Trail
	Size               int // of its body, in bytes
}

// ReadRecord reads a record. Its link is taken from what is stored, before anything of that is
// fetched or read.
func ReadRecord(ctx context.Context, artifacts bus.Artifacts, message bus.Message) (Record, error) {
	event, err := binding.Decode(message)
	if err != nil {
		return Record{}, err
	}
	link := schemas.LinkOf(&event, message.Body)
	if err = artifact.Resolve(ctx, artifacts, &event); err != nil {
		return Record{}, err
	}
	if event.Trail == nil {
		return Record{}, &bus.MalformedError{Detail: "a record without a trail"}
	}
	var record schemas.Record
	if err = schemas.Unmarshal(event.Data, &record); err != nil {
		return Record{}, err
	}
	return Record{
		Record: &record, Sequence: message.Sequence, Previous: event.PreviousSequence, Chain: event.Chain, Link: link, Trail: event.Trail, Size: len(event.Data),
	}, nil
}
