package session

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
)

// replyWindow is the span that the budget of answers is for.
const replyWindow = time.Hour

// rememberReply remembers that an answer by mail goes out. Further attempts of it are
// the same mail.
func (s *State) rememberReply(f schemas.Fact) {
	sent, is := f.(*schemas.TaskDispatched)
	if !is || sent.Task != schemas.DeliveryTask || sent.Attempt != 1 || s.Active.Message.Channel != schemas.ChannelEmail {
		return
	}
	kept := s.recentReplies(s.now)
	kept = kept[max(len(kept)-schemas.MaxRepliesPerHour+1, 0):]
	s.Replies = append(slices.Clip(kept), s.now)
}

func (s *State) recentReplies(now time.Time) []time.Time {
	for i, moment := range s.Replies {
		if now.Sub(moment) < replyWindow {
			return s.Replies[i:]
		}
	}
	return nil
}

// withheld says why the answer does not go out: nobody vouches for who wrote, or the budget
// of the session is used up. Programs that answer each other, and do not say that they
// are programs, come to an end by that.
func (d *decision) withheld(profile *plan.Profile) *schemas.ReplyWithheld {
	active := d.state.Active
	if active == nil || profile == nil || active.Message.Channel != schemas.ChannelEmail {
		return nil
	}
	if doubt := active.Message.Withheld; doubt != "" {
		return &schemas.ReplyWithheld{Run: active.Number, Reason: doubt}
	}
	limit := cmp.Or(profile.Conversation.RepliesPerHour, schemas.DefaultRepliesPerHour)
	recent := d.state.recentReplies(d.input.Now)
	if len(recent) < limit {
		return nil
	}
	return &schemas.ReplyWithheld{
		Run: active.Number, Reason: schemas.WithheldBudget, Until: recent[len(recent)-limit].Add(replyWindow),
	}
}

// A DeliveryStatus is what a mail system says of an answer that was sent.
type DeliveryStatus struct {
	MessageID string // of the answer
	Action    string
	Status    string
}

// unmatchedBounce is why nothing comes of a report on a mail that this session did
// not send.
const unmatchedBounce = "unmatched_bounce"

// bounced notes a report on an answer. It starts nothing: whoever answers a report
// may get the next one.
func (d *decision) bounced(received schemas.MessageReceived, report *DeliveryStatus) {
	received.Disposition, received.Reason = schemas.DispositionIgnored, unmatchedBounce
	if received.Run = d.runOfMessageID(report.MessageID); received.Run > 0 {
		received.Reason = string(schemas.MailBounce)
	}
	d.emit(&received)
	if received.Run == 0 {
		return
	}
	d.emit(&schemas.DeliveryBounced{
		Run: received.Run, Message: received.ID, Action: cut(report.Action, maxNote), Status: cut(report.Status, maxNote),
		Failed: report.Action == "failed" || strings.HasPrefix(report.Status, "5."),
	})
}

// runOfMessageID returns the run whose answer has a Message-ID, or 0. The id begins with that
// of the effect, and so names run and task to whoever knows the session.
func (d *decision) runOfMessageID(messageID string) int {
	effect, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(messageID), "<"), "@")
	if named, _, more := strings.Cut(effect, "."); more {
		effect = strings.ToLower(named) // ids without more were never known in another case
	}
	for number := d.state.begun(); number > 0 && effect != ""; number-- {
		if schemas.EffectID(schemas.RunID(d.state.Session, number), schemas.DeliveryTask) != effect {
			continue
		}
		if active := d.state.Active; active != nil && active.Number == number && (active.Delivery == nil || active.Delivery.Attempt == 0) {
			return 0 // it is not sent yet
		}
		return number
	}
	return 0
}
