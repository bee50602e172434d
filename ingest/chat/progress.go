package chat

import (
	"context"
	"errors"
	"strconv"
	"time"

	"podium/bus/intake"
	"podium/ingest/runs"
	"podium/schemas/workflow"
)

// notesFor bounds how long one message's progress is shown: a run may wait for days.
const notesFor = 15 * time.Minute

// showProgress follows the run of a message in the background and shows how far it
// is, until it asks who wrote: their answer is a message of its own. The agent that delivers the answer puts it in the place of the last line. A
// process that starts anew does not go on with it: a line may then be left behind.
func (d *Adapter) showProgress(ctx context.Context, e *exchange, message *Message, receipt intake.Receipt, replyRef string) {
	if d.config.Note == nil {
		return
	}
	leave, ok := d.runs.Place(receipt.Session)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notesFor)
	name, language := e.name, e.language(message)
	d.notes.Go(func() {
		defer cancel()
		defer leave()
		err := d.followProgress(ctx, receipt, language, func(run *workflow.RunHistory, text string) error {
			channel, ref := name, replyRef
			if reply := run.Message.Reply; reply != nil && reply.ReplyRef != "" {
				channel, ref = reply.Channel, reply.ReplyRef // the answer goes there: the message may be part of another one's run
			}
			return d.config.Note(ctx, channel, ref, asked(run), text)
		})
		if err != nil && !errors.Is(err, runs.ErrClosing) && ctx.Err() == nil {
			d.log.Warn().Err(err).Str("session", receipt.Session).Msg("progress is not shown any more")
		}
	})
}

// asked counts the questions that a run has asked before the one that is open.
func asked(run *workflow.RunHistory) int {
	if open := run.OpenInquiry(); open != nil {
		return open.Inquiry - 1
	}
	return len(run.Inquiries)
}

// followProgress shows a line when NoteEvery has passed, at most one in that time,
// and only when it says something new, until the outcome is fixed or the requester is asked.
func (d *Adapter) followProgress(ctx context.Context, receipt intake.Receipt, language string, show func(run *workflow.RunHistory, text string) error) error {
	w, err := d.runs.Follow(ctx, receipt)
	if err != nil {
		return err
	}
	defer w.Close()
	tick := time.NewTicker(d.config.NoteEvery)
	defer tick.Stop()
	shown := ""
	for !w.Settled() {
		if w.Asks() != nil && shown == "" {
			return nil // the question is to come, and tells everything
		}
		if w.Asks() != nil {
			return show(w.Run(), d.progressLine(w, language))
		}
		_, recorded, err := w.Next(ctx, tick.C)
		if err != nil {
			return err
		}
		line := d.progressLine(w, language)
		if said := w.Partial(); said != "" {
			line = said + " …" // it goes on, and what it becomes is the answer
		}
		if recorded || line == "" || line == shown {
			continue
		}
		if err := show(w.Run(), line); err != nil {
			return err
		}
		shown = line
	}
	return nil
}

// unservedLine says that nobody serves the agent that a task waits for.
func (d *Adapter) unservedLine(task *workflow.Task, language string) string {
	since := task.Unserved.Moment(d.config.Now())
	if since == "" {
		return d.words.Say(language, "unserved", "{agent}", task.Agent)
	}
	return d.words.Say(language, "unserved_since", "{agent}", task.Agent, "{since}", since)
}

// progressLine says how far a run is; nothing before it has begun. The words of
// agents are left out: they are for the answer, which is checked.
func (d *Adapter) progressLine(w *runs.Watch, fallback string) string {
	run := w.Run()
	if run == nil {
		return ""
	}
	language := w.Language()
	if _, spoken := d.words[language]; !spoken {
		language = fallback
	}
	if w.Asks() != nil {
		return d.words.Say(language, "asked")
	}
	done, busy := 0, false
	for _, task := range run.Tasks {
		busy = busy || task.State.UnderWay()
		if task.Unserved != nil {
			return d.unservedLine(task, language)
		}
		if task.State == workflow.TaskCompleted {
			done++
		}
	}
	if !busy && w.WaitsFor() != nil {
		return d.words.Say(language, "asked_other")
	}
	if total := len(run.Tasks); total > 1 {
		return d.words.Say(language, "progress", "{done}", strconv.Itoa(done), "{total}", strconv.Itoa(total))
	}
	return d.words.Say(language, "working")
}
