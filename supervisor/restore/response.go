package restore

import (
	"context"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/history"
	"podium/schemas"
	"podium/supervisor/session"
)

// ReadResponse returns what a request is answered that has come again: the response with which its run ended, the same byte for byte as
// it was then, because it follows from the same record. Nothing when it has not ended. A request that asks for something else than the
// one that began the run is refused.
func ReadResponse(ctx context.Context, core bus.Core, grants *artifact.Grants, shard int, id string, run int, again *session.Input) ([]session.Output, error) {
	earlier, err := firstOf(ctx, core, shard, id, run, again.Event.ID)
	if err != nil {
		return nil, err
	}
	if refusal, refused := session.Refuse(again, &earlier); refused {
		return []session.Output{refusal}, nil
	}
	ended, err := endOf(ctx, core, shard, id, run)
	if err != nil || ended == nil {
		return nil, err
	}
	var failed error
	env := session.Env{Shard: shard, Grants: grants, Read: func(body schemas.Content) schemas.Result {
		input, err := ReadInput(ctx, core, shard, body.Sequence)
		if err != nil {
			failed = err
		}
		return input.Content
	}}
	outputs, err := session.Responses(env, &ended.State, ended.Last.Last())
	if failed != nil {
		return nil, failed
	}
	return outputs, err
}

// firstOf reads the message of that id by which a run was begun, or waits to be. It has no event where it is not found.
func firstOf(ctx context.Context, core bus.Core, shard int, id string, run int, message string) (session.Input, error) {
	opened, err := history.OpenSession(ctx, core, id)
	if err != nil {
		return session.Input{}, err
	}
	for record, err := range opened.Run(ctx, run) {
		if err != nil {
			return session.Input{}, err
		}
		for fact := range record.AllFacts() {
			if received, is := fact.(*schemas.MessageReceived); is && received.ID == message {
				input, err := ReadInput(ctx, core, shard, received.Sequence)
				return input.Read, err
			}
		}
	}
	return session.Input{}, nil
}

// endOf reads a session as it was when a run had ended; nil when it has not.
func endOf(ctx context.Context, core bus.Core, shard int, id string, run int) (*StoredSession, error) {
	opened, err := history.OpenSession(ctx, core, id)
	if err != nil {
		return nil, err
	}
	for record, err := range opened.Run(ctx, run) {
		if err != nil {
			return nil, err
		}
		for fact := range record.AllFacts() {
			if end, is := fact.(*schemas.RunEnded); !is || end.Run != run {
				continue
			}
			message, err := core.Get(ctx, bus.ShardStream(shard), record.Sequence)
			if err != nil {
				return nil, err
			}
			return LoadFrom(ctx, core, id, message)
		}
	}
	return nil, nil
}
