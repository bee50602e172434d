package schemas

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeExecutionRequest reads an execution_request with the verdict of its
// schema, and refuses assignments that disagree with the tasks (M-06). Errors
// are *InvalidMessageError.
func DecodeExecutionRequest(body []byte) (ExecutionRequest, error) {
	request, err := readExecutionRequest(body)
	if err != nil {
		return ExecutionRequest{}, err
	}
	if err := request.Payload.checkAssignments(); err != nil {
		return ExecutionRequest{}, err
	}
	return request, nil
}

func readExecutionRequest(body []byte) (ExecutionRequest, error) {
	var request ExecutionRequest
	err := decode(body, func(d *decoder) {
		d.message(&request.Envelope, ExecutionRequestType, func() { request.Payload = readRequestPayload(d) })
	})
	return request, err
}

// message reads an envelope and calls payload where the payload stands.
func (d *decoder) message(e *Envelope, kind string, payload func(), alsoRequired ...string) {
	required := [8]string{"message_id", "from", "to", "type", "timestamp", "payload"}
	names := append(required[:6], alsoRequired...)
	d.object(func(name []byte) {
		switch string(name) {
		case "message_id":
			e.MessageID = d.uuid()
		case "from":
			e.From = d.identifier()
		case "to":
			e.To = d.identifier()
		case "type":
			e.Type = choice(d, kind)
		case "timestamp":
			e.Timestamp = d.time()
		case "in_reply_to":
			e.InReplyTo = d.uuid()
		case "payload":
			payload()
		default:
			d.skip()
		}
	}, names...)
}

func readRequestPayload(d *decoder) (p RequestPayload) {
	d.object(func(name []byte) {
		switch string(name) {
		case "plan_id":
			p.PlanID = d.uuid()
		case "request_id":
			p.RequestID = d.identifier()
		case "tasks":
			p.Tasks = list(d, readTask)
			switch {
			case len(p.Tasks) == 0:
				d.refuse(reasonEmpty)
			case len(p.Tasks) > maxTasks:
				d.refuse(tooMany(maxTasks))
			}
		case "agent_assignments":
			p.AgentAssignments = dictionary(d, identifiers)
		case "validation_criteria":
			p.ValidationCriteria = list(d, (*decoder).text)
		case "risks":
			p.Risks = list(d, readRisk)
		default:
			d.skip()
		}
	}, "plan_id", "request_id", "tasks")
	return p
}

func identifiers(d *decoder) []string { return list(d, (*decoder).identifier) }

func readTask(d *decoder) (t Task) {
	d.object(func(name []byte) {
		switch string(name) {
		case "task_id":
			t.TaskID = d.identifier()
		case "description":
			t.Description = d.text()
		case "assigned_to":
			t.AssignedTo = d.agent()
		case "dependencies":
			t.Dependencies = identifiers(d)
		case "estimated_tokens":
			t.EstimatedTokens = d.integer(maxInteger)
		case "estimated_time_seconds":
			t.EstimatedTimeSeconds = d.integer(maxInteger)
		case "priority":
			t.Priority = choice(d, PriorityCritical, PriorityHigh, PriorityMedium, PriorityLow, PriorityNiceToHave)
		case "deliverables":
			t.Deliverables = list(d, (*decoder).text)
		case "validation_criteria":
			t.ValidationCriteria = list(d, (*decoder).text)
		case "context":
			t.Context = readTaskContext(d)
		case "optional":
			t.Optional = d.boolean()
		case "resources":
			t.Resources = identifiers(d)
		default:
			d.skip()
		}
	}, "task_id", "description", "assigned_to")
	return t
}

func readTaskContext(d *decoder) (c TaskContext) {
	d.object(func(name []byte) {
		switch string(name) {
		case "files_to_modify":
			c.FilesToModify = list(d, (*decoder).text)
		case "references":
			c.References = list(d, (*decoder).text)
		case "constraints":
			c.Constraints = d.freeObject()
		case "request":
			c.Request = d.text()
		case "arguments":
			c.Arguments = d.freeObject()
		case "inputs":
			c.Inputs = dictionary(d, readResult)
		case "kind":
			c.Kind = choice(d, KindWork, KindAssess, KindPlan, KindRoute)
		case "feedback":
			c.Feedback = d.text()
		case "entities":
			c.Entities = dictionary(d, (*decoder).text)
		case "conversation":
			c.Conversation = readConversationContext(d)
		default:
			d.skip()
		}
	})
	return c
}

func readConversationContext(d *decoder) *ConversationContext {
	var c ConversationContext
	d.object(func(name []byte) {
		switch string(name) {
		case "state":
			c.State = choice(d, ConversationNew, ConversationOngoing)
		case "recent":
			c.Recent = list(d, readRecentCall)
		default:
			d.skip()
		}
	}, "state")
	return &c
}

func readRecentCall(d *decoder) (c RecentCall) {
	d.object(func(name []byte) {
		switch string(name) {
		case "request":
			c.Request = d.identifier()
		case "agent":
			c.Agent = d.agent()
		case "task":
			c.Task = d.identifier()
		case "status":
			c.Status = choice(d, StatusCompleted, StatusPartial, StatusFailed, StatusBlocked)
		default:
			d.skip()
		}
	}, "request", "agent", "task", "status")
	return c
}

func readRisk(d *decoder) (r Risk) {
	d.object(func(name []byte) {
		switch string(name) {
		case "risk_id":
			r.RiskID = d.identifier()
		case "description":
			r.Description = d.text()
		case "mitigation":
			r.Mitigation = d.text()
		case "owner":
			r.Owner = d.text()
		default:
			d.skip()
		}
	}, "risk_id", "description")
	return r
}

// checkAssignments refuses assignments that are given and differ from the
// tasks' own (M-06).
func (p *RequestPayload) checkAssignments() error {
	if len(p.AgentAssignments) == 0 {
		return nil
	}
	assigned := map[string]string{}
	for i := range p.Tasks {
		assigned[p.Tasks[i].TaskID] = p.Tasks[i].AssignedTo
	}
	for _, agent := range slices.Sorted(maps.Keys(p.AgentAssignments)) {
		for i, task := range p.AgentAssignments[agent] {
			if assigned[task] != agent {
				return &InvalidMessageError{
					Pointer: "/payload/agent_assignments" + string(jsontext.Pointer("").AppendToken(agent)) + "/" + strconv.Itoa(i),
					Reason:  "is not a task whose assigned_to is this agent",
				}
			}
		}
	}
	for i := range p.Tasks {
		if !slices.Contains(p.AgentAssignments[p.Tasks[i].AssignedTo], p.Tasks[i].TaskID) {
			return &InvalidMessageError{
				Pointer: "/payload/tasks/" + strconv.Itoa(i) + "/assigned_to",
				Reason:  "does not stand in agent_assignments",
			}
		}
	}
	return nil
}
