package session

import (
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// An Utterance is what somebody has said in a session, by reference.
type Utterance struct {
	By   schemas.Speaker `json:"by"`
	Run  int             `json:"run"`
	Time time.Time       `json:"time"`
	// Sequences are those of the inputs that hold the words, in order: of messages, or of the
	// answers that the answer was assembled from.
	Sequences []uint64 `json:"sequences,omitzero"`
	// Text is what stands in no input, at most maxSpoken bytes of it.
	Text string `json:"text,omitzero"`
}

// maxSpoken bounds the words that a session keeps of what it has said itself, in bytes.
const maxSpoken = 512

// A Memory is what a session keeps of its conversation with one correspondent while it turns to another: several people may answer one
// circular, and what one of them has said is told to none of the others.
type Memory struct {
	Recipients []schemas.Address    `json:"recipients"`
	Recent     []schemas.RecentCall `json:"recent,omitzero"`
	Said       []Utterance          `json:"said,omitzero"`
	Entities   map[string]string    `json:"entities,omitzero"`
	Tainted    bool                 `json:"tainted,omitzero"`
	First      int                  `json:"first,omitzero"`
}

// maxMemories bounds the correspondents whose conversations a session keeps besides the newest.
const maxMemories = 32

// Correspondents is what a session knows of those who were answered.
type Correspondents struct {
	// Others are the conversations with the correspondents before the newest, the newest of them last.
	Others []Memory `json:"others,omitzero"`
	// SentReplies are the answers by mail of the last hour, oldest first.
	SentReplies []SentReply `json:"sent_replies,omitzero"`
}

// correspondents returns a copy to be changed and put in its place.
func (s *State) correspondents() Correspondents {
	if s.Correspondents == nil {
		return Correspondents{}
	}
	return *s.Correspondents
}

// memoryOf returns what the session keeps of its conversation with some recipients.
func (s *State) memoryOf(to []schemas.Address) Memory {
	if sameRecipients(s.Recipients, to) {
		return Memory{s.Recipients, s.Recent, s.Said, s.Entities, s.Tainted, s.First}
	}
	for _, other := range s.correspondents().Others {
		if sameRecipients(other.Recipients, to) {
			return other
		}
	}
	return Memory{}
}

// turnTo has a run that starts go on with the conversation of its recipients.
func (s *State) turnTo(to []schemas.Address, f *schemas.RunStarted) {
	if !sameRecipients(s.Recipients, to) {
		next := s.memoryOf(to)
		if s.First > 0 {
			known := s.correspondents()
			kept := slices.DeleteFunc(slices.Clone(known.Others), func(other Memory) bool { return sameRecipients(other.Recipients, to) })
			kept = append(kept, s.memoryOf(s.Recipients))
			known.Others = kept[max(len(kept)-maxMemories, 0):]
			s.Correspondents = &known
		}
		s.Recent, s.Said, s.First = next.Recent, next.Said, next.First
	}
	if s.First == 0 {
		s.First = f.Run
	}
}

// wordsOf returns what somebody has said.
func (env *Env) wordsOf(said *Utterance) string {
	var words []string
	if said.Text != "" {
		words = append(words, said.Text)
	}
	for _, sequence := range said.Sequences {
		var result schemas.Result
		if env.EarlierAt != nil {
			_, result = env.EarlierAt(sequence)
		} else {
			result = env.Read(schemas.Content{Sequence: sequence})
		}
		if text := strings.TrimSpace(result.Text); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, "\n\n")
}

// remember keeps what was said, the newest schemas.MaxConversationMessages. An answer that is sent
// again is said once.
func (s *State) remember(said Utterance) {
	kept := slices.DeleteFunc(slices.Clone(s.Said), func(other Utterance) bool { return other.By == said.By && other.Run == said.Run })
	s.Said = append(kept[max(len(kept)-schemas.MaxConversationMessages+1, 0):], said)
}

// rememberMessage keeps what the requester of a run has said.
func (s *State) rememberMessage(f *schemas.RunStarted) {
	if f.Message.Upstream != nil || f.Retries > 0 { // what is retried is remembered
		return
	}
	said := Utterance{By: schemas.SpeakerRequester, Run: f.Run, Time: s.now, Sequences: []uint64{f.Message.Sequence}}
	for i := range f.Message.MergedTexts {
		said.Sequences = append(said.Sequences, f.Message.MergedTexts[i].Sequence)
	}
	s.remember(said)
}

// rememberWord keeps what the requester of the run under way has answered when asked: it belongs to what they
// have said before.
func (s *State) rememberWord(f schemas.Fact) {
	word, is := f.(*schemas.InquiryAnswered)
	if !is {
		return
	}
	if inquiry := s.Active.Inquiry(word.Inquiry); inquiry == nil || len(inquiry.People) > 0 {
		return
	}
	for i := range s.Said {
		if said := &s.Said[i]; said.By == schemas.SpeakerRequester && said.Run == word.Run {
			more := *said
			more.Sequences = append(slices.Clip(said.Sequences), word.Sequence)
			s.Said = slices.Clone(s.Said)
			s.Said[i] = more
			return
		}
	}
}

// rememberAnswer keeps what a run that has ended has answered, if that was delivered.
func (s *State) rememberAnswer(run *workflow.Run) {
	if run.Message.Withheld != "" || run.Delivery == nil || run.Delivery.State != workflow.TaskCompleted {
		return
	}
	if !sameRecipients(s.Recipients, recipients(run.Message.Reply)) {
		return // an answer that was sent again, to whom the conversation is not with any more
	}
	said := Utterance{By: schemas.SpeakerPodium, Run: run.Number, Time: s.now}
	var own []string
	if run.Error != nil {
		own = append(own, run.Error.Message[run.Message.Language])
	}
	for i := range run.Answer {
		part := &run.Answer[i]
		task := run.Task(part.Task)
		switch {
		case part.Told != "":
			own = append(own, part.Told)
		case task != nil && task.Answered > 0:
			said.Sequences = append(said.Sequences, task.Answered)
		case task != nil && task.Reused > 0:
			said.Sequences = append(said.Sequences, task.Reused)
		default:
			own = append(own, part.Body.Text)
		}
	}
	said.Text = cut(strings.TrimSpace(strings.Join(own, "\n\n")), maxSpoken)
	s.remember(said)
}
