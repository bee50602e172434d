package session

import (
	"podium/schemas"
	"podium/supervisor/plan"
)

// handlePermit decides whether an agent may act outside. What it asks about a run that
// has ended is refused, on record if the question's own attributes prove that
// such a request was made.
func handlePermit(d *decision, request *schemas.PermitRequest) {
	id := d.input.Event.ID
	known := d.state.HasTaken(permitKey(id))
	task, attempt := asked(d, request.InReplyTo)
	switch {
	case id == schemas.PermitID(request.InReplyTo):
		refuseInput(d, schemas.QuarantineMalformed, "its id is the permit that the request brings along; a question has an id of its own")
	case task == nil:
		refuseLatePermit(d, request, id, known)
	case task.AgentOf(attempt) != d.input.Agent:
		wrongAgent(d, task.AgentOf(attempt))
	default:
		answer := d.planDecision(d.env.Pinned).Permit(task, attempt, plan.Permission{ID: id, Agent: d.input.Agent, Call: request.Call}, known)
		d.output(Output{Kind: OutputPermitAnswer, Agent: d.input.Agent, Permit: &answer})
		d.doubtful = true
	}
}

// refuseLatePermit refuses what is asked about a run that is over.
func refuseLatePermit(d *decision, request *schemas.PermitRequest, id string, known bool) {
	run, task, attempt, past := askedByEndedRun(d, request.InReplyTo)
	if !past {
		refuseInput(d, schemas.QuarantineUnknownRun, "in_reply_to names no request that this session made")
		return
	}
	d.output(Output{Kind: OutputPermitAnswer, Agent: d.input.Agent, Permit: &schemas.PermitAnswer{Permit: id, Reason: schemas.PermitStale}})
	if !known {
		d.emit(&schemas.PermitRefused{
			Run: run, Task: task, Attempt: attempt, Permit: id, Reason: schemas.PermitStale, Agent: d.input.Agent,
		})
	}
}

// permitKey is what the session remembers of a question that it has answered. An
// agent chooses its ids: none of them may be taken for a message's.
func permitKey(permit string) string { return "permit\x00" + permit }

// rememberPermit remembers a question about a permit.
func (s *State) rememberPermit(f schemas.Fact) {
	switch f := f.(type) {
	case *schemas.PermitRefused:
		s.see(permitKey(f.Permit), f.Run)
	case *schemas.PermitGranted:
		s.see(permitKey(f.Permit), f.Run)
	default:
	}
}

// carriedPermit is the permit that a request takes along, if any. A question takes none.
func carriedPermit(f *schemas.TaskDispatched) string {
	if f.Permitted && f.Kind.MayActOutside() {
		return schemas.PermitID(f.Request)
	}
	return ""
}

// appendPermitAnswer appends the answer that a fact gives to whoever has asked for a permit.
func appendPermitAnswer(outputs []Output, state *State, f schemas.Fact) []Output {
	switch f := f.(type) {
	case *schemas.PermitRefused:
		return append(outputs, Output{Kind: OutputPermitAnswer, Agent: f.Agent, Permit: &schemas.PermitAnswer{
			Permit: f.Permit, Reason: f.Reason,
		}})
	case *schemas.PermitGranted:
		if task := taskOf(state, f.Run, f.Task); task != nil {
			return append(outputs, Output{Kind: OutputPermitAnswer, Agent: task.AgentOf(f.Attempt), Permit: &schemas.PermitAnswer{
				Permit: f.Permit, Granted: true,
			}})
		}
	default:
	}
	return outputs
}
