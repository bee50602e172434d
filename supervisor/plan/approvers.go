package plan

import (
	"maps"
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/approval"
)

// withRequester are the inquiries by which those agree whom a rule names: whoever has begun the run is asked where they have asked, and others by letters.
func withRequester(v *View, rule *schemas.ApprovalRule, opened *schemas.InquiryOpened) []schemas.InquiryOpened {
	asked := askedApart(v, opened)
	if len(opened.People) > 0 && approval.ByRequester(rule) {
		asked = append(asked, copyForPeople(opened, nil))
	}
	return asked
}

// copyForPeople returns the same inquiry, to other people. What has led to it is told by the first.
func copyForPeople(opened *schemas.InquiryOpened, people []string) schemas.InquiryOpened {
	other := *opened
	other.People, other.To, other.Account, other.InThread = people, nil, "", false
	other.Attempt, other.Tokens, other.Findings, other.Adopts, other.Told = 0, 0, nil, nil, ""
	return other
}

// askedBeside counts those who are asked about a task already.
func askedBeside(v *View, task *workflow.Task) int {
	count := 0
	for _, other := range v.Run.Inquiries {
		if other.Open() && other.Task == task.ID {
			asked := len(other.To)
			if other.InThread {
				asked += inChatAlone(v, other.People)
			}
			count += max(asked, 1)
		}
	}
	return count
}

// reachedToApprove are those of some people who may agree: whoever has begun the run may not by their name.
func reachedToApprove(v *View, people []string) schemas.InquiryOpened {
	opened := reached(v, people)
	begun := v.Run.Message.IsRequester
	opened.To = slices.DeleteFunc(opened.To, func(to schemas.Address) bool { return begun(to.Address) || hasBegun(v, to.Address) })
	return opened
}

// inChatAlone counts those of some people who have no address, and have not begun the run: they are asked in its thread.
func inChatAlone(v *View, people []string) int {
	count, reply := 0, v.Run.Message.Reply
	for _, name := range people {
		person, known := v.People[name]
		if known && person.Mail == "" && (reply == nil || !person.Chat.Is(reply.Channel, v.Run.Message.Author)) {
			count++
		}
	}
	return count
}

// askedApart are inquiries for the same of those who are written to, and of those who are only in the chat of the run, where not all of them are asked in one way.
func askedApart(v *View, opened *schemas.InquiryOpened) []schemas.InquiryOpened {
	inChat := slices.DeleteFunc(slices.Clone(opened.People), func(name string) bool {
		person, known := v.People[name]
		return !known || person.Mail != "" || person.Chat == nil
	})
	if len(inChat) == 0 || len(inChat) == len(opened.People) || inThread(v, opened.People) {
		return []schemas.InquiryOpened{*opened}
	}
	written := *opened
	written.People = slices.DeleteFunc(slices.Clone(opened.People), func(name string) bool { return slices.Contains(inChat, name) })
	return []schemas.InquiryOpened{written, copyForPeople(opened, inChat)}
}

// hasBegun reports whether whoever has an address has begun the run in a chat.
func hasBegun(v *View, address string) bool {
	reply := v.Run.Message.Reply
	for _, name := range slices.Sorted(maps.Keys(v.People)) {
		if person := v.People[name]; person.Mail == address && reply != nil && person.Chat.Is(reply.Channel, v.Run.Message.Author) {
			return true
		}
	}
	return false
}
