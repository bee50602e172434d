package supervisor

import (
	"context"
	"time"

	"podium/bus"
	"podium/bus/history"
	"podium/schemas"
	"podium/supervisor/session"
)

// answerAgain publishes the answer to a request that came again after its run
// had ended: whoever asks again has not heard it. The answer is the same, byte
// for byte, because it follows from the same record.
func (o *Owner) answerAgain(ctx context.Context, c *conversation, in *input, run int) {
	o.begin(c)
	var outputs []session.Output
	o.operate(func() (err error) {
		outputs, err = o.ending(ctx, c.id, run)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		o.deliver(ctx, outputs, func(time.Time) { o.settle(c, []*input{in}) }, now)
	})
}

// ending returns the response that the end of a run owed.
func (o *Owner) ending(ctx context.Context, id string, run int) ([]session.Output, error) {
	ended, err := o.endOf(ctx, id, run)
	if err != nil || ended == nil {
		return nil, err
	}
	var failed error
	env := session.Env{Shard: o.Shard, Grants: o.Grants, Read: func(body schemas.Body) schemas.Result {
		_, content, err := Recall(ctx, o.Core, o.Shard, body.Sequence)
		if err != nil {
			failed = err
		}
		return content
	}}
	outputs, err := session.Answers(env, &ended.state, ended.last.Last())
	if failed != nil {
		return nil, failed
	}
	return outputs, err
}

// endOf reads a session as it was when a run had ended; nil when it has not.
func (o *Owner) endOf(ctx context.Context, id string, run int) (*loaded, error) {
	opened, err := history.OpenSession(ctx, o.Core, id)
	if err != nil {
		return nil, err
	}
	for record, err := range opened.Run(ctx, run) {
		if err != nil {
			return nil, err
		}
		for fact := range record.AllFacts() {
			if fact.RunEnded == nil || fact.RunEnded.Run != run {
				continue
			}
			message, err := o.Core.Get(ctx, bus.ShardStream(o.Shard), record.Sequence)
			if err != nil {
				return nil, err
			}
			return loadFrom(ctx, o.Core, id, message)
		}
	}
	return nil, nil
}
