package supervisor

import (
	"context"
	"time"

	"podium/supervisor/history"
	"podium/supervisor/session"
)

// answerAgain publishes the answer to a request that came again after its run
// had ended: whoever asks again has not heard it. The answer is the same, byte
// for byte, because it follows from the same record.
func (o *Owner) answerAgain(ctx context.Context, c *conversation, in *input, run int) {
	o.begin(c)
	var outputs []session.Output
	o.loop.Await(func() (err error) {
		outputs, err = history.Response(ctx, o.Core, o.Grants, o.Shard, c.id(), run)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		o.deliver(ctx, outputs, func(time.Time) { o.settle(c, []*input{in}) }, now)
	})
}
