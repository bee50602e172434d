package session

import (
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
)

// taintedIn are the members of a request's context that come from outside, as JSON Pointers. All that is
// told in a run is tainted if the run is for a person's message: what an agent has made of
// tainted words is tainted, too. A request of somebody upstream says whether it brings any.
func taintedIn(context *schemas.TaskContext, run *workflow.Run) []string {
	if run.Edition < schemas.Edition1 || run.Message.Upstream != nil && !run.Message.Tainted {
		return nil
	}
	var tainted []string
	mark := func(there bool, member ...string) {
		if !there {
			return
		}
		pointer := jsontext.Pointer("")
		for _, token := range member {
			pointer = pointer.AppendToken(token)
		}
		tainted = append(tainted, string(pointer))
	}
	mark(context.Request != "", "request")
	mark(len(context.Arguments) > 0, "arguments")
	for _, name := range sortedNames(context.Inputs) {
		mark(true, "inputs", name)
	}
	mark(context.Feedback != "", "feedback")
	mark(len(context.Entities) > 0, "entities")
	mark(context.Conversation != nil && len(context.Conversation.Messages) > 0, "conversation", "messages")
	mark(context.Message != nil, "message")
	mark(len(context.Attachments) > 0, "attachments")
	return tainted
}

// comesFromOutside reports whether a request of somebody upstream brings anything that
// does: the words of a person, or what it says itself that does.
func comesFromOutside(brought *RequestContext) bool { return brought != nil && brought.Tainted }
