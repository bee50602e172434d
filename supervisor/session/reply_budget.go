package session

import (
	"cmp"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// withheldAnswer returns why the answer of the run under way does not go out, and when the budget of its correspondent has capacity for it;
// zero is now. Programs that answer each other without saying that they are programs are slowed down by the budget.
func withheldAnswer(d *decision, profile *plan.Profile) (schemas.WithheldReason, time.Time) {
	active := d.state.Active
	if active == nil || profile == nil || active.Message.Channel != schemas.ChannelEmail {
		return "", time.Time{}
	}
	if active.Message.Withheld != "" {
		return active.Message.Withheld, time.Time{}
	}
	limit := cmp.Or(profile.Conversation.RepliesPerHour, schemas.DefaultRepliesPerHour)
	if asked := active.Inquiries; slices.ContainsFunc(asked, func(i *workflow.Inquiry) bool { return i.OfRequester() }) {
		limit++ // whoever was asked something is answered
	}
	recent, limit := d.state.countedReplies(d.input.Now, limit)
	if len(recent) < limit {
		return "", time.Time{}
	}
	return "", recent[len(recent)-limit].Add(replyWindow)
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
	known := s.correspondents()
	kept := s.recentSent(s.now)
	kept = kept[max(len(kept)-schemas.MaxRepliesPerHour+1, 0):]
	known.SentReplies = append(slices.Clip(kept), SentReply{s.now, correspondent(s.Active)})
	s.Correspondents = &known
}

// A SentReply is one answer by mail: when, and to the mailbox of which correspondent.
type SentReply struct {
	Time time.Time `json:"time"`
	To   string    `json:"to,omitzero"`
}

// correspondent returns the mailbox that the answer of a run goes to. The parts of an address that its owner may choose do not count:
// programs that answer each other could change them each time.
func correspondent(run *workflow.Run) string {
	if to := recipients(run.Message.Reply); len(to) > 0 {
		return schemas.Mailbox(to[0].Address)
	}
	return ""
}

// countedReplies returns when the answers went out that count for the run under way, oldest first, and how many there may be: those to its
// correspondent within the limit, and those to all within schemas.MaxRepliesPerHour.
func (s *State) countedReplies(now time.Time, limit int) ([]time.Time, int) {
	var own, all []time.Time
	to := correspondent(s.Active)
	for _, sent := range s.recentSent(now) {
		if all = append(all, sent.Time); sent.To == to {
			own = append(own, sent.Time)
		}
	}
	slices.SortFunc(own, time.Time.Compare)
	slices.SortFunc(all, time.Time.Compare)
	if len(all) >= schemas.MaxRepliesPerHour && len(own) < limit {
		return all, schemas.MaxRepliesPerHour
	}
	return own, limit
}

// asksRequester reports whether a task tells the requester what they are asked.
func (s *State) asksRequester(task string) bool {
	inquiry := s.Active.Inquiry(s.Active.Task(task).HumanTask())
	return inquiry != nil && inquiry.OfRequester()
}

// recentSent returns the answers by mail of the last hour. They need not be in the order of their times: the clock of another owner may have been ahead.
func (s *State) recentSent(now time.Time) []SentReply {
	past := func(sent SentReply) bool { return now.Sub(sent.Time) >= replyWindow }
	sent := s.correspondents().SentReplies
	if !slices.ContainsFunc(sent, past) {
		return sent
	}
	return slices.DeleteFunc(slices.Clone(sent), past)
}
