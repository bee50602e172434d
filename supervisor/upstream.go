package supervisor

import (
	"context"
	"hash/fnv"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
	"podium/supervisor/session"
)

// Whoever asked for a run hears how far it is: once soon, so that its work
// deadline begins, unless the answer comes sooner; after a change, though not at
// every one; and at least every ten seconds, so that silence means something
// (M-36, M-54).
const (
	firstWord   = 500 * time.Millisecond
	nextChange  = time.Second
	nextAnyways = 10 * time.Second
	// wordSpacing bounds the words of a shard to 200 a second, so that with
	// thousands of open runs telling about work leaves room for the work: with n of
	// them on a shard the ten seconds become n times the spacing.
	wordSpacing = 5 * time.Millisecond
)

// A telling is what somebody upstream has been told of a conversation's run.
type telling struct {
	run     int
	alarm   *alarm    // for the next word
	last    time.Time // of the newest word; zero before the first
	records uint64    // of the session, as far as they were looked at
	said    uint64    // a hash of what the newest word said, but for the time
	turn    bool      // its alarm is its turn to speak
}

// inform keeps whoever asked for the run under way informed. It is called whenever
// a conversation goes on, and only sets an alarm: the words are best effort, not
// on record, and never come from a run that has ended.
func (o *Owner) inform(ctx context.Context, c *conversation, now time.Time) {
	run, told := c.state.Active, c.telling
	if told != nil && (run == nil || run.Number != told.run) {
		o.alarms.cancel(told.alarm)
		c.telling, told = nil, nil
	}
	switch {
	case run == nil || run.Message.Upstream == nil:
	case told == nil:
		told = &telling{run: run.Number}
		c.telling = told
		o.informAt(ctx, c, told, now.Add(firstWord))
	case !told.last.IsZero() && told.records != c.state.Records:
		told.records = c.state.Records
		if at := told.last.Add(nextChange); at.Before(told.alarm.at) {
			o.alarms.cancel(told.alarm)
			o.informAt(ctx, c, told, at)
		}
	}
}

// replySubjects is agent.ReplySubjects in a ledger of so many shards: a replyto that
// names one which is not there is ignored as well, else its answer would be tried
// for ever and keep the floor where it is.
func (o *Owner) replySubjects(agentName string, e *schemas.Event) (response, progress string) {
	if named, err := bus.ParseSubject(e.ReplyTo); err == nil && named.Shard >= o.shards {
		e.ReplyTo = ""
	}
	return agent.ReplySubjects(agentName, e)
}

func (o *Owner) informAt(ctx context.Context, c *conversation, told *telling, at time.Time) {
	told.alarm = o.alarms.add(at, func(now time.Time) {
		if run := c.state.Active; c.telling == told && run != nil && run.Number == told.run {
			o.say(ctx, c, told, now)
		}
	})
}

// say publishes a word, unless there is nothing new and the last one is young.
func (o *Owner) say(ctx context.Context, c *conversation, told *telling, now time.Time) {
	if slot := o.speaks; !told.turn && slot.After(now) {
		told.turn, o.speaks = true, slot.Add(wordSpacing)
		o.informAt(ctx, c, told, slot)
		return
	}
	if !told.turn {
		o.speaks = now.Add(wordSpacing)
	}
	told.turn = false
	run := c.state.Active
	payload := session.ProgressOf(run, o.Profiles.Pinned(run.ProfileHash), now)
	said, err := timeless(payload)
	told.records = c.state.Records
	if due := told.last.Add(nextAnyways); err == nil && now.Before(due) && said == told.said {
		o.informAt(ctx, c, told, due)
		return
	}
	told.last, told.said = now, said
	o.informAt(ctx, c, told, now.Add(nextAnyways))
	event, err := session.ProgressEvent(run.Message.Upstream, payload, now)
	if err != nil {
		o.Log.Warn().Err(err).Str("session", c.id).Msg("a progress update cannot be written")
		return
	}
	_, subject := o.replySubjects(run.Message.Upstream.To, &event)
	o.send(ctx, subject, &event, bus.Expect{}, func(_ time.Time, _ bus.Ack, err error) {
		if err != nil {
			o.Log.Debug().Err(err).Str("session", c.id).Msg("a progress update is lost")
		}
	})
}

// timeless is a hash of what a word says, but for what changes by itself.
func timeless(payload schemas.ProgressPayload) (uint64, error) {
	payload.EstimatedCompletion = time.Time{}
	if payload.ResourceUsage != nil {
		usage := *payload.ResourceUsage
		usage.TimeElapsedSeconds = 0
		payload.ResourceUsage = &usage
	}
	body, err := schemas.Marshal(payload)
	sum := fnv.New64a()
	_, _ = sum.Write(body)
	return sum.Sum64(), err
}
