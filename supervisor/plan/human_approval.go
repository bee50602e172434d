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
		if edit, sound = a.v.WrittenEdit(a.asked, reply.Whole); !sound {
			return schemas.WordEdit
		}
	}
	if len(edit) > 0 {
		edited, can := a.v.Edit(a.asked, edit)
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
	approved := agreedPersons(a.v, a.asked, a.asked.Hash)
	return approved.Has(approval.Names(a.asked, actor)...) && !fault.Is("same person twice")
}

// applyReply makes the task due once enough people have approved it. A rejection by one of them fails it.
func (a approvalTask) applyReply(reply *Word) events {
	if reply.Choice == schemas.ChoiceApprove && len(reply.Arguments) > 0 {
		return a.approveEdited(reply)
	}
	return a.applyHeld(reply)
}

func (a approvalTask) applyHeld(reply *Word) events {
	if reply.Choice == schemas.ChoiceApprove {
		return a.approve(reply)
	}
	return a.reject(reply)
}

// approve returns an approval. Only people who are still in the profile count, each once.
func (a approvalTask) approve(reply *Word) events {
	answered, _ := a.newReply(reply)
	answered.Lacking = lackingPersons(a.v, a.asked, a.asked.Hash, approval.Names(a.asked, answered.Actor))
	if answered.Lacking > 0 {
		return events{answered}
	}
	return append(a.end(answered), withdraw(a.v, a.task(), a.asked)...)
}

// approveEdited returns an approval that edits the arguments. Approvals of the
// old arguments no longer count, and the editor's counts for the new ones. If more are needed, all approvers are asked again.
func (a approvalTask) approveEdited(reply *Word) events {
	answered, _ := a.newReply(reply)
	done := applyEdit(a.v, a.asked, answered)
	answered.Lacking = lackingPersons(a.v.after(done), a.asked, answered.Hash, approval.Names(a.asked, answered.Actor))
	done = append(append(done, a.end(answered)...), withdraw(a.v, a.task(), a.asked)...)
	if answered.Lacking == 0 {
		return done
	}
	asked := []schemas.InquiryOpened{copyForPeople(&a.asked.InquiryOpened, a.asked.People)}
	for _, other := range a.v.Run.Inquiries {
		if other.Open() && other.Task == a.asked.Task && other != a.asked {
			asked = append(asked, copyForPeople(&other.InquiryOpened, other.People))
		}
	}
	v := a.v.after(done)
	for i := range asked {
		asked[i].Hash, asked[i].Call, asked[i].Operation = answered.Hash, answered.Call, v.Run.Inquiry(a.asked.Inquiry).AgreedOperation()
	}
	return append(done, askToApprove(v, v.Run.Task(a.asked.Task), asked...)...)
}

// reject fails the task, and every other one that would do the same and waits for its approval.
func (a approvalTask) reject(reply *Word) events {
	answered, _ := a.newReply(reply)
	done, why := append(a.end(answered), withdraw(a.v, a.task(), a.asked)...), disapproval(a.v, reply)
	v := a.v.after(done)
	for number := 1; number <= len(v.Run.Inquiries); number++ {
		if other := v.Run.Inquiry(number); other.Open() && other.Kind == a.asked.Kind && other.Hash == a.asked.Hash {
			closed := withdraw(v, v.Run.Task(other.Task), nil)
			v = v.after(closed)
			failed := fail(v, v.Run.Task(other.Task), schemas.FailureRejected, why)
			done, v = append(append(done, closed...), failed...), v.after(failed)
		}
	}
	return append(done, fail(v, v.Run.Task(a.asked.Task), schemas.FailureRejected, why)...)
}

// applyEnd fails the task unless others who are asked may still be enough.
func (a approvalTask) applyEnd() events {
	v, task := a.v, a.task()
	if fault.Is("expired approved") {
		return dispatch(v, task)
	}
	persons := agreedPersons(v, a.asked, a.asked.Hash)
	for _, other := range v.Run.Inquiries {
		if !other.Open() || other.Task != a.asked.Task || other.Hash != a.asked.Hash {
			continue
		}
		for _, person := range approvers(v, other) {
			persons.Add(person)
		}
	}
	waits := slices.ContainsFunc(v.Run.Inquiries, func(other *workflow.Inquiry) bool { return other.Open() && other.Task == a.asked.Task })
	if waits && persons.Count >= max(a.asked.Need, 1) {
		return nil
	}
	closed := withdraw(v, task, nil)
	v = v.after(closed)
	return append(closed, fail(v, v.Run.Task(task.ID), schemas.FailureRejected, schemas.Because(schemas.Unanswered))...)
}

// approvers returns the people who may still decide a human task.
func approvers(v *View, asked *workflow.Inquiry) []string {
	if len(asked.People) == 0 {
		return []string{approval.Requester}
	}
	return slices.DeleteFunc(slices.Clone(asked.People), func(name string) bool { return !decides(v, name) })
}

func (a approvalTask) askAgain() events {
	return askToApprove(a.v, a.task(), copyForPeople(&a.asked.InquiryOpened, a.asked.People))
}

// An answerApproval asks people to approve the answer of a run before it is delivered.
type answerApproval struct{ approvalTask }

// applyReply makes the delivery due once enough people have approved the answer. A rejection by one of them fails it.
func (a answerApproval) applyReply(reply *Word) events {
	if reply.Choice == schemas.ChoiceApprove {
		return a.approve(reply)
	}
	answered, _ := a.newReply(reply)
	done := append(a.end(answered), withdraw(a.v, a.task(), a.asked)...)
	v := a.v.after(done)
	return append(done, fail(v, v.Run.Task(a.asked.Task), schemas.FailureRejected, disapproval(a.v, reply))...)
}
