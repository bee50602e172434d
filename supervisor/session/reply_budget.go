package session

import (
	"cmp"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// withheld says why the answer does not go out, or not now: the sender is not vouched for, or the budget of the
// session is used up. Programs that answer each other without saying that they are programs are slowed down by that.
func (d *decision) withheld(profile *plan.Profile) *schemas.ReplyWithheld {
	active := d.state.Active
	if active == nil || profile == nil || active.Message.Channel != schemas.ChannelEmail {
		return nil
	}
	if doubt := active.Message.Withheld; doubt != "" {
		return &schemas.ReplyWithheld{Run: active.Number, Reason: doubt}
	}
	limit := cmp.Or(profile.Conversation.RepliesPerHour, schemas.DefaultRepliesPerHour)
	if asked := active.Inquiries; slices.ContainsFunc(asked, func(i *workflow.Inquiry) bool { return i.OfRequester() || active.Edition < schemas.Edition9 }) {
		limit++ // whoever was asked something is answered
	}
	recent := d.state.recentReplies(d.input.Now)
	if len(recent) < limit {
		return nil
	}
	return &schemas.ReplyWithheld{
		Run: active.Number, Reason: schemas.WithheldBudget, Until: recent[len(recent)-limit].Add(replyWindow),
	}
}

// replyWindow is the span that the budget of answers is for.
const replyWindow = time.Hour

// rememberReply remembers that an answer or a question by mail goes out. Further attempts of it are
// the same mail.
func (s *State) rememberReply(f schemas.Fact) {
	sent, is := f.(*schemas.TaskDispatched)
	if !is || sent.Task != schemas.DeliveryTask && !s.asksRequester(sent.Task) || sent.Attempt != 1 || s.Active.Message.Channel != schemas.ChannelEmail {
		return
	}
	kept := s.recentReplies(s.now)
	kept = kept[max(len(kept)-schemas.MaxRepliesPerHour+1, 0):]
	s.Replies = append(slices.Clip(kept), s.now)
}

// asksRequester reports whether a task tells the requester what they are asked.
func (s *State) asksRequester(task string) bool {
	inquiry := s.Active.Inquiry(s.Active.Task(task).Notice())
	return inquiry != nil && inquiry.OfRequester()
}

func (s *State) recentReplies(now time.Time) []time.Time {
	for i, moment := range s.Replies {
		if now.Sub(moment) < replyWindow {
			return s.Replies[i:]
		}
	}
	return nil
}
