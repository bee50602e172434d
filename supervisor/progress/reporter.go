// Package progress tells whoever asked for a run how far it is.
package progress

import (
	"context"
	"hash/fnv"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/eventloop"
	"podium/supervisor/publisher"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// Whoever asked for a run hears how far it is: once soon, so that its work
// deadline begins, unless the answer comes sooner; after a change, though not at
// every one; and at least every ten seconds, so that silence means something
// (M-36, M-54).
const (
	firstUpdate = 500 * time.Millisecond
	nextChange  = time.Second
	nextAnyway  = 10 * time.Second
	// updateSpacing bounds the updates of a shard to 200 a second, so that with
	// thousands of open runs telling about work leaves room for the work: with n of
	// them on a shard the ten seconds become n times the spacing.
	updateSpacing = 5 * time.Millisecond
)

// A Reporter sends the progress updates of a shard. They are best effort, not on record,
// and never come from a run that has ended.
type Reporter struct {
	Publisher *publisher.Publisher
	Profiles  *restore.Profiles

	next time.Time // when the next update may be sent
}

// A Report is what somebody upstream has been told of a run.
type Report struct {
	state   *session.State // of the live session
	run     int
	ended   bool
	timer   *eventloop.Timer // for the next update
	sent    time.Time        // the newest update; zero before the first
	records uint64           // of the session, as far as they were looked at
	said    uint64           // a hash of what the newest update said, but for the time
	turn    bool             // its timer is its turn to send
}

// Follow keeps whoever asked for the run under way informed, and returns the report of it;
// nil when nobody has to be told. It is called whenever a session goes on, with the report
// of before and the state of the live session, which it reads again later.
func (r *Reporter) Follow(ctx context.Context, report *Report, state *session.State, now time.Time) *Report {
	run := state.Active
	if report != nil && (run == nil || run.Number != report.run) {
		r.Publisher.Loop.Stop(report.timer)
		report.ended, report = true, nil
	}
	switch {
	case run == nil || run.Message.Upstream == nil:
	case report == nil:
		report = &Report{state: state, run: run.Number}
		r.updateAt(ctx, report, now.Add(firstUpdate))
	case !report.sent.IsZero() && report.records != state.Records:
		report.records = state.Records
		at := report.sent.Add(nextChange)
		if due, _ := report.timer.Due(); at.Before(due) {
			r.Publisher.Loop.Stop(report.timer)
			r.updateAt(ctx, report, at)
		}
	}
	return report
}

func (r *Reporter) updateAt(ctx context.Context, report *Report, at time.Time) {
	report.timer = r.Publisher.Loop.At(at, func(now time.Time) {
		if run := report.state.Active; !report.ended && run != nil && run.Number == report.run {
			r.update(ctx, report, now)
		}
	})
}

// update sends an update, unless there is nothing new and the last one is young.
func (r *Reporter) update(ctx context.Context, report *Report, now time.Time) {
	if slot := r.next; !report.turn && slot.After(now) {
		report.turn, r.next = true, slot.Add(updateSpacing)
		r.updateAt(ctx, report, slot)
		return
	}
	if !report.turn {
		r.next = now.Add(updateSpacing)
	}
	report.turn = false
	run := report.state.Active
	payload := session.ProgressOf(run, r.Profiles.Pinned(run.ProfileHash), now)
	said, err := timeless(payload)
	report.records = report.state.Records
	if due := report.sent.Add(nextAnyway); err == nil && now.Before(due) && said == report.said {
		r.updateAt(ctx, report, due)
		return
	}
	report.sent, report.said = now, said
	r.updateAt(ctx, report, now.Add(nextAnyway))
	event, err := session.ProgressEvent(&run.Message, payload, now)
	log := r.Publisher.Log
	if err != nil {
		log.Warn().Err(err).Str("session", report.state.Session).Msg("a progress update cannot be written")
		return
	}
	id := report.state.Session
	_, subject := r.Publisher.ReplySubjects(run.Message.Upstream.To, &event)
	r.Publisher.Publish(ctx, subject, &event, bus.Expect{}, func(_ time.Time, _ bus.Ack, err error) {
		if err != nil {
			log.Debug().Err(err).Str("session", id).Msg("a progress update is lost")
		}
	})
}

// timeless is a hash of what an update says, but for what changes by itself.
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
