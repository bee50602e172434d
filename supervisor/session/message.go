package session

import (
	"maps"
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// handleMessage decides what becomes of a message: a run, a place behind the run under
// way, part of what waits, the end of the run under way, or nothing.
func handleMessage(d *decision, message *Message) {
	id := d.input.Event.ID
	if d.state.HasTaken(id) && !fault.Is("a repeat is taken again") {
		repeatedMessage(d, message, id)
		return
	}
	received := schemas.MessageReceived{ID: id, Sequence: d.input.Sequence}
	if message.DeliveryStatus != nil {
		noteBounce(d, received, message.DeliveryStatus)
		return
	}
	if message.Ignore != "" {
		received.Disposition, received.Reason = schemas.DispositionIgnored, message.Ignore
		d.emit(&received)
		return
	}
	given := readReply(d, message)
	if applyReply(d, &given, message, received); given.kind != replyNone && !fault.Is("an answer begins a run as well") {
		return
	}
	if d.state.Active != nil && d.state.Queue.IsZero() && (supersedes(d, message) || urgentMeanwhile(d, message)) {
		takeOver(d, message, received)
		return
	}
	if !d.state.Idle() {
		queueMessage(d, message, received)
		return
	}
	received.Run, received.Disposition = d.state.Runs+1, schemas.DispositionStarted
	d.emit(&received)
	beginRun(d, received.Run, message, incoming(d, message))
}

// takeOver begins a run in the place of the one under way.
func takeOver(d *decision, message *Message, received schemas.MessageReceived) {
	received.Run, received.Disposition = d.state.Runs+1, schemas.DispositionStarted
	d.emit(&received)
	d.planDecision(d.env.Pinned).Supersede()
	beginRun(d, received.Run, message, incoming(d, message))
}

// urgentMeanwhile reports whether whoever has begun the run under way says what cannot wait until people have answered its question.
func urgentMeanwhile(d *decision, message *Message) bool {
	active := d.state.Active
	if message.Upstream != nil || !slices.ContainsFunc(active.Inquiries, (*workflow.Inquiry).Open) || withheldReason(d, message) != "" {
		return false
	}
	_, same := requesterIn(d, message)
	return same && urgent(d, message, message.Text)
}

// urgent reports whether what the requester says is more urgent than the run that waits, and may take its place: nobody else would hear of that run's end.
func urgent(d *decision, message *Message, words string) bool {
	active := d.state.Active
	return d.state.Queue.IsZero() && active.Message.Upstream == nil && !active.Settled() && d.env.Pinned.Urgent(words, d.env.Found) &&
		sameRecipients(recipients(active.Message.Reply), message.Reply.To)
}

// repeatedMessage takes a message that came before. A request whose run has ended gets
// its answer once more: whoever asks again has not heard it. What came before is held
// against it first: see Refuse.
func repeatedMessage(d *decision, message *Message, id string) {
	run := d.state.RunOf(id)
	if message.Upstream == nil || run == 0 {
		return
	}
	if under := d.state.Active != nil && d.state.Active.Number == run; under || d.state.Queue.has(run) {
		d.doubtful = true
		if message.Upstream.Effect != "" {
			return // a supervisor says the same under the same id
		}
	}
	d.output(Output{Kind: OutputRepeatedResponse, Run: run})
}

// supersedes reports whether a message takes the place of the run under way. A
// second attempt of a request always does: nobody waits for the first. No other
// takes the place of a request's run, since whoever asked waits for its answer.
func supersedes(d *decision, message *Message) bool {
	if d.state.Active.Settled() && !d.state.Active.AnswerWaits() || d.state.Active.AnswerDelayed() {
		return false // its answer is ready, and is delivered
	}
	upstream := d.state.Active.Message.Upstream
	return sameEffect(message.Upstream, upstream) ||
		upstream == nil && d.env.Current.Conversation.WhileRunning == schemas.WhileRunningSupersede && withheldReason(d, message) == "" &&
			sameRecipients(recipients(d.state.Active.Message.Reply), message.Reply.To)
}

// queueMessage queues a message behind the run under way, or makes it part of what waits
// already.
func queueMessage(d *decision, message *Message, received schemas.MessageReceived) {
	incoming := incoming(d, message)
	incoming.Text = referTo(schemas.Result{Text: message.Text}, d.input.Sequence) // a long queue is small
	incoming.Entities = d.env.Current.EntitiesIn("", message.Entities)
	received.Message = &incoming
	if newest, some := d.state.Queue.newest(); some && merges(d, &newest, message) {
		received.Run, received.Disposition = d.state.Runs, schemas.DispositionMerged
	} else {
		received.Run, received.Disposition = d.state.Runs+1, schemas.DispositionQueued
	}
	d.emit(&received)
}

// withheldReason is why a message is not answered: nobody vouches for who wrote. Nothing of the
// session is for such a message, and nothing of it for the session.
func withheldReason(d *decision, message *Message) schemas.WithheldReason {
	return d.env.Current.Conversation.Answer.Withheld(message.Origin)
}

// maxMerged bounds the messages that become one run.
const maxMerged = 32

func merges(d *decision, newest *waiting, message *Message) bool {
	return d.env.Current.Conversation.WhileRunning == schemas.WhileRunningMerge &&
		!newest.cancelled && message.Upstream == nil && newest.message.Upstream == nil &&
		newest.message.Withheld == "" && withheldReason(d, message) == "" &&
		newest.message.Channel == message.Channel && len(newest.message.MergedTexts) < maxMerged &&
		sameRecipients(recipients(newest.message.Reply), message.Reply.To) && sameAuthor(newest.message, message)
}

// sameAuthor reports whether two messages may be told as one of somebody's: they are
// of the same author, and it is known as well of both.
func sameAuthor(waits *schemas.Incoming, message *Message) bool {
	same := waits.Author == nil && message.Author == nil || waits.Author != nil && message.Author != nil && *waits.Author == *message.Author
	return same && waits.Origin == message.Origin
}

func incoming(d *decision, message *Message) schemas.Incoming {
	incoming := d.input.incoming(d.env.Current.LanguageFor(message.Text, message.Language))
	incoming.Withheld = withheldReason(d, message)
	incoming.Text = inlineOrReferTo(schemas.Result{Text: message.Text}, d.input.Sequence)
	return incoming
}

// incoming returns what a session keeps of a message, its words by reference.
func (in *Input) incoming(language string) schemas.Incoming {
	message := in.Message
	incoming := schemas.Incoming{
		Sequence: in.Sequence, ID: in.Event.ID, Channel: message.Channel, Subject: message.Subject,
		Text: referTo(schemas.Result{Text: message.Text}, in.Sequence), Language: language, Upstream: message.Upstream, Proven: in.Proven,
		TraceParent: schemas.TraceParent(in.Event.TraceParent),
	}
	if message.Upstream == nil {
		incoming.Reply = &message.Reply
	}
	incoming.Author, incoming.Origin, incoming.Taken = message.Author, message.Origin, in.Event.Time
	incoming.Quoted, incoming.Files, incoming.Tainted = message.Quoted != "", len(message.Files), comesFromOutside(message.Context)
	return incoming
}

func beginRun(d *decision, run int, message *Message, incoming schemas.Incoming) {
	content := schemas.Result{Text: message.Text}
	if message.Tasks != nil {
		content = d.input.Content()
	}
	started := startRun(d, run, incoming, content.Text, message.Entities)
	if incoming.Withheld == schemas.WithheldRefuted {
		started.Refuse()
		return
	}
	started.Begin(content)
	started.Resume()
}

func startRun(d *decision, run int, message schemas.Incoming, words string, entities map[string]string) *plan.Decision {
	message.Tainted = message.Tainted || inheritsTaint(d, &message)
	started := schemas.RunStarted{
		Run: run, Retries: d.retries, Profile: d.env.Current.Name, ProfileHash: d.env.Current.Hash, Message: message,
		Entities: d.env.Current.EntitiesIn(words, entitiesBefore(d, &message, entities)),
	}
	if limit := time.Duration(d.env.Current.Deadlines.Run); limit > 0 {
		started.Expires = d.input.Now.Add(limit)
	}
	if message.Upstream != nil && !message.Upstream.Expires.IsZero() &&
		(started.Expires.IsZero() || message.Upstream.Expires.Before(started.Expires)) {
		started.Expires = message.Upstream.Expires
	}
	d.emit(&started)
	return d.planDecision(d.env.Current)
}

// inheritsTaint reports whether a request of somebody upstream is about what a message before it has brought from outside, or is told what
// peopleOf have said before: it says what comes from outside of what it brings itself alone.
func inheritsTaint(d *decision, message *schemas.Incoming) bool {
	return message.Upstream != nil && message.Withheld == "" &&
		(d.state.Tainted || len(d.state.memoryOf(recipients(message.Reply)).Said) > 0)
}

// entitiesBefore is what the session is about before a message: what a request says
// comes before what was said earlier, which is nothing to anybody else.
func entitiesBefore(d *decision, message *schemas.Incoming, said map[string]string) map[string]string {
	if message.Withheld != "" {
		return said
	}
	before := d.state.memoryOf(recipients(message.Reply)).Entities
	if len(said) == 0 {
		return before
	}
	known := maps.Clone(before)
	if known == nil {
		return said
	}
	maps.Copy(known, said)
	return known
}

// beginNext starts what waited, once the run before it has ended (G-33). An answer that is
// to be sent again is older than what waits.
func beginNext(d *decision) {
	reopenDelivery(d)
	for d.state.Active == nil && len(d.state.Resends) == 0 && !d.state.Queue.IsZero() {
		run, head := d.state.Queue.first, d.state.Queue.waiting.At(0)
		message := d.env.wholeMessage(&head)
		content := d.env.content(message.Text)
		message.Text = inlineOrReferTo(schemas.Result{Text: content.Text}, message.Sequence)
		content.Text = plan.RequestText(&message, d.env.Read)
		if message.Upstream == nil {
			content.Data = nil // a person's files are no part of the words
		}
		said := message.Entities
		message.Entities = nil
		started := startRun(d, run, message, content.Text, said)
		switch {
		case head.final && !fault.Is("who was cancelled by a person while it waited is asked for again"):
			started.Cancel()
		case head.cancelled:
			started.Release()
		case overtaken(d, &message):
			started.Supersede()
		case message.Withheld == schemas.WithheldRefuted:
			started.Refuse()
		default:
			started.Begin(content)
		}
		started.Resume()
	}
}

// wholeMessage returns all of a message that waits.
func (env *Env) wholeMessage(w *waiting) schemas.Incoming {
	if !w.referred {
		return *w.message
	}
	if input := env.InputAt(w.sequence); input.Message != nil {
		incoming := input.incoming(w.message.Language)
		incoming.Withheld = w.message.Withheld
		return incoming
	}
	return schemas.Incoming{Sequence: w.sequence} // to be decided again once it can be read
}

// overtaken reports whether a person's newer message takes the place of one that
// has waited as well.
func overtaken(d *decision, head *schemas.Incoming) bool {
	if d.env.Current.Conversation.WhileRunning != schemas.WhileRunningSupersede || head.Upstream != nil {
		return false
	}
	for newer := range d.state.Queue.All() {
		if newer.Message.Upstream == nil && !newer.Cancelled && newer.Message.Withheld == "" && sameRecipients(recipients(head.Reply), recipients(newer.Message.Reply)) {
			return true
		}
	}
	return false
}
