package plan

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/approval"
)

// An approvalTask asks people to approve a task, or the operation that its agent has proposed.
type approvalTask struct{ humanTask }

// Accepts rejects an approval with an edit that cannot be made, and the second approval of one person.
func (a approvalTask) Accepts(reply *Word, edit jsontext.Value) schemas.Rejection {
	if reply.Choice != schemas.ChoiceApprove {
		return ""
	}
	if len(edit) == 0 {
		var sound bool
		if edit, sound = a.d.WrittenEdit(a.asked, reply.Whole); !sound {
			return schemas.WordEdit
		}
	}
	if len(edit) > 0 {
		edited, can := a.d.Edit(a.asked, edit)
		if !can {
			return schemas.WordEdit
		}
		reply.Arguments = edited
	}
	if len(reply.Arguments) == 0 && a.hasApproved(reply.Actor) {
		return schemas.WordDecided
	}
	return ""
}

// hasApproved reports whether a person has approved the same before: their second reply does not count as that of another person.
func (a approvalTask) hasApproved(actor schemas.Actor) bool {
	approved := agreedPersons(a.d, a.asked, a.asked.Hash)
	return approved.Has(approval.Names(a.asked, actor)...) && !fault.Is("same person twice")
}

// applyReply makes the task due once enough people have approved it. A rejection by one of them fails it.
func (a approvalTask) applyReply(reply *Word) {
	if reply.Choice == schemas.ChoiceApprove && len(reply.Arguments) > 0 {
		a.approveEdited(reply)
		return
	}
	a.applyHeld(reply)
}

func (a approvalTask) applyHeld(reply *Word) {
	if reply.Choice == schemas.ChoiceApprove {
		a.approve(reply)
		return
	}
	a.reject(reply)
}

// approve records an approval. Only people who are still in the profile count, each once.
func (a approvalTask) approve(reply *Word) {
	answered, _ := a.newReply(reply)
	answered.Lacking = lackingPersons(a.d, a.asked, a.asked.Hash, approval.Names(a.asked, answered.Actor))
	if answered.Lacking > 0 {
		a.d.emit(answered)
		return
	}
	a.end(answered)
	withdraw(a.d, a.task())
}

// approveEdited records an approval that edits the arguments, and asks the others to approve the edited ones.
func (a approvalTask) approveEdited(reply *Word) {
	answered, _ := a.newReply(reply)
	d, hash := a.d, edits(a.d, a.asked, answered)
	answered.Lacking = lackingPersons(d, a.asked, hash, approval.Names(a.asked, answered.Actor))
	a.end(answered)
	if answered.Lacking == 0 {
		withdraw(d, a.task())
		return
	}
	asked := []schemas.InquiryOpened{besides(&a.asked.InquiryOpened, a.asked.People)}
	for _, other := range d.Run.Inquiries {
		if other.Open() && other.Task == a.asked.Task {
			asked = append(asked, besides(&other.InquiryOpened, other.People))
		}
	}
	withdraw(d, a.task())
	for i := range asked {
		asked[i].Hash, asked[i].Call, asked[i].Operation = hash, answered.Call, d.Run.Inquiry(a.asked.Inquiry).AgreedOperation()
	}
	askToApprove(d, a.task(), asked...)
}

// reject fails the task, and every other one that would do the same and waits for its approval.
func (a approvalTask) reject(reply *Word) {
	answered, _ := a.newReply(reply)
	a.end(answered)
	d, detail := a.d, disapproval(a.d, reply)
	withdraw(d, a.task())
	for number := 1; number <= len(d.Run.Inquiries); number++ {
		if other := d.Run.Inquiry(number); other.Open() && other.Kind == a.asked.Kind && other.Hash == a.asked.Hash {
			withdraw(d, d.Run.Task(other.Task))
			fail(d, d.Run.Task(other.Task), schemas.FailureRejected, detail)
		}
	}
	fail(d, a.task(), schemas.FailureRejected, detail)
}

// applyEnd fails the task unless others who are asked may still be enough.
func (a approvalTask) applyEnd() {
	d, task := a.d, a.task()
	if fault.Is("expired approved") {
		dispatch(d, task)
		return
	}
	persons := agreedPersons(d, a.asked, a.asked.Hash)
	for _, other := range d.Run.Inquiries {
		if !other.Open() || other.Task != a.asked.Task || other.Hash != a.asked.Hash {
			continue
		}
		for _, person := range approvers(d, other) {
			persons.Add(person)
		}
	}
	waits := slices.ContainsFunc(d.Run.Inquiries, func(other *workflow.Inquiry) bool { return other.Open() && other.Task == a.asked.Task })
	if !waits || persons.Count < max(a.asked.Need, 1) {
		withdraw(d, task)
		fail(d, task, schemas.FailureRejected, d.texts().Unanswered)
	}
}

// approvers returns the people who may still decide a human task.
func approvers(d *Decision, asked *workflow.Inquiry) []string {
	if len(asked.People) == 0 {
		return []string{approval.Requester}
	}
	return slices.DeleteFunc(slices.Clone(asked.People), func(name string) bool { return !decides(d, name) })
}

func (a approvalTask) askAgain() {
	askToApprove(a.d, a.task(), besides(&a.asked.InquiryOpened, a.asked.People))
}

// An answerApproval asks people to approve the answer of a run before it is delivered.
type answerApproval struct{ approvalTask }

// applyReply makes the delivery due once enough people have approved the answer. A rejection by one of them fails it.
func (a answerApproval) applyReply(reply *Word) {
	if reply.Choice == schemas.ChoiceApprove {
		a.approve(reply)
		return
	}
	answered, _ := a.newReply(reply)
	a.end(answered)
	withdraw(a.d, a.task())
	fail(a.d, a.task(), schemas.FailureRejected, disapproval(a.d, reply))
}
