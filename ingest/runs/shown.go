package runs

import (
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
)

// The holder of a run URL is the requester, and often more people than they. What Podium knows about other people because it has notified
// them is not shown: their addresses, and the ids of the emails that ask them, which would prove a forged reply to be one to that email.

// shownFact returns a fact as holders of a run URL get it. The fact itself does not change.
func shownFact(fact schemas.Fact) schemas.Fact {
	switch fact := fact.(type) {
	case *schemas.RunStarted:
		started := *fact
		started.Message.Reply = shownReply(started.Message.Reply)
		return &started
	case *schemas.MessageReceived:
		received := *fact
		if received.Message != nil {
			message := *received.Message
			message.Reply = shownReply(message.Reply)
			received.Message = &message
		}
		received.By = nil
		return &received
	case *schemas.InquiryOpened:
		asked := shownOpened(fact)
		return &asked
	case *schemas.InquiryAnswered:
		answered := *fact
		answered.Actor = shownActor(answered.Actor)
		return &answered
	case *schemas.TaskCompleted:
		if !notifiesPeople(fact.Task) {
			return fact
		}
		completed := *fact
		completed.Result, completed.Findings = schemas.Content{}, nil
		completed.Deliverables, completed.Proven, completed.Unproven = nil, nil, nil
		return &completed
	case *schemas.TaskFailed:
		if !notifiesPeople(fact.Task) {
			return fact
		}
		return shownFailure(fact)
	case *schemas.DeliveryBounced:
		bounced := *fact
		bounced.Recipient = ""
		return &bounced
	case *schemas.RunSettled:
		settled := *fact
		settled.Error = outward(settled.Error)
		return &settled
	case *schemas.RunEnded:
		ended := *fact
		ended.Replied = "" // of an email it is the Message-ID
		return &ended
	case *schemas.DeliveryReopened:
		reopened := *fact
		reopened.Message.Reply, reopened.Error = shownReply(reopened.Message.Reply), outward(reopened.Error)
		return &reopened
	default:
		return fact
	}
}

// shownRun returns a run as holders of a run URL get it. The run itself does not change.
func shownRun(run *workflow.RunHistory) *workflow.RunHistory {
	shown := *run
	shown.Message.Reply = shownReply(run.Message.Reply)
	shown.Error, shown.Replied = outward(run.Error), ""
	shown.Inquiries = shownInquiries(run.Inquiries)
	shown.DecisionTasks = slices.Clone(run.DecisionTasks)
	for i, task := range shown.DecisionTasks {
		shown.DecisionTasks[i] = shownTask(task)
	}
	if run.Delivery != nil {
		shown.Delivery = shownTask(run.Delivery)
	}
	shown.Bounces = slices.Clone(run.Bounces)
	for i := range shown.Bounces {
		shown.Bounces[i].Recipient = ""
	}
	return &shown
}

// notifiesPeople reports whether a task tells people something: the answer, or what they are asked.
func notifiesPeople(task string) bool {
	return task == schemas.DeliveryTask || schemas.HasNotificationID(task)
}

// shownTask returns a task without its result and the words of its failure, if it notifies people: both hold what their server has said.
func shownTask(task *workflow.Task) *workflow.Task {
	if !notifiesPeople(task.ID) {
		return task
	}
	shown := *task
	shown.Result, shown.Findings, shown.Message = schemas.Content{}, nil, ""
	shown.Deliverables, shown.Proven, shown.Unproven = nil, nil, nil
	if task.LastFailure != nil {
		shown.LastFailure = shownFailure(task.LastFailure)
	}
	return &shown
}

func shownFailure(failed *schemas.TaskFailed) *schemas.TaskFailed {
	shown := *failed
	shown.Detail, shown.Reasons, shown.Findings, shown.Result, shown.Proven = "", nil, nil, schemas.Content{}, nil
	return &shown
}

// shownReply returns where an answer goes without the ids of the conversation by email, which may be those of emails to other people, and
// without what only the agent that delivers the answer can open.
func shownReply(reply *schemas.Reply) *schemas.Reply {
	if reply == nil {
		return nil
	}
	shown := *reply
	if shown.ReplyRef = ""; shown.Agent == schemas.MailDelivery {
		shown.InReplyTo, shown.References = "", nil
	}
	return &shown
}

// shownInquiries returns inquiries without where people are asked, and without the operating system's user of the command line.
func shownInquiries(inquiries []*workflow.Inquiry) []*workflow.Inquiry {
	shown := slices.Clone(inquiries)
	for i, inquiry := range shown {
		asked := *inquiry
		asked.InquiryOpened, asked.Bounced = shownOpened(&inquiry.InquiryOpened), nil
		if inquiry.Answered != nil {
			answered := *inquiry.Answered
			answered.Actor = shownActor(answered.Actor)
			asked.Answered = &answered
		}
		asked.Agreed = slices.Clone(inquiry.Agreed)
		for i, word := range asked.Agreed {
			agreed := *word
			agreed.Actor = shownActor(agreed.Actor)
			asked.Agreed[i] = &agreed
		}
		shown[i] = &asked
	}
	return shown
}

// shownActor returns who has said something without the operating system's user.
func shownActor(actor schemas.Actor) schemas.Actor {
	if actor.Via == schemas.ViaCLI {
		actor.ID = ""
	}
	return actor
}

func shownOpened(opened *schemas.InquiryOpened) schemas.InquiryOpened {
	shown := *opened
	shown.To, shown.Account = nil, ""
	if opened.Adopts != nil {
		adopts := *opened.Adopts
		adopts.Bounced = nil
		shown.Adopts = &adopts
	}
	return shown
}

// outward returns an error without what is meant for the log.
func outward(failure *schemas.Error) *schemas.Error {
	if failure == nil {
		return nil
	}
	told := *failure
	told.Reasons, told.InternalDetails = nil, ""
	return &told
}
