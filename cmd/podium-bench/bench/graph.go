package bench

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

const (
	// conductorName is the agent that the supervisor answers as.
	conductorName = "conductor"
	plannerName   = "planner"
	// absentAgent is one whose process is not there: what it is asked for waits.
	absentAgent = "absent"
	fanWidth    = 100
)

// diamond is A → B and C → D, planned by whoever asks.
func diamond() workload {
	return planned([]step{
		{task: "A"},
		{task: "B", after: []string{"A"}},
		{task: "C", after: []string{"A"}},
		{task: "D", after: []string{"B", "C"}},
	}, 64, 2)
}

// diamondWithOpenRuns is the diamond beside runs that stay open: they are diamonds too, but
// for the agent of A.
func diamondWithOpenRuns() workload {
	work := diamond()
	work.profile.Agents = append(work.profile.Agents, schemas.AgentUse{Name: absentAgent})
	work.agents[absentAgent] = agent.HandlerFunc(answerAtOnce)
	work.waiting = planRequest(work.steps, map[string]string{"A": absentAgent})
	return work
}

// fanOut is fanWidth tasks that wait for nothing, and one that waits for them all.
func fanOut() workload {
	steps := make([]step, fanWidth, fanWidth+1)
	all := make([]string, fanWidth)
	for i := range all {
		all[i] = "F" + strconv.Itoa(i+1)
		steps[i] = step{task: all[i]}
	}
	return planned(append(steps, step{task: "join", after: all}), 8, fanWidth)
}

// planned is a workload whose input is an execution_request with its whole plan
// and whose end is the one execution_response to it.
func planned(steps []step, inFlight, width int) workload {
	profile := benchProfile(schemas.ExecutionDAG)
	profile.Routers = []schemas.Router{{Kind: schemas.RouterAssigned}, {Kind: schemas.RouterDefault, Agent: workAgent}}
	return workload{
		profile: profile,
		agents:  map[string]agent.Handler{workAgent: agent.HandlerFunc(answerAtOnce)},
		steps:   steps,
		event:   planRequest(steps, nil),
		adapter: "agent",
		ends:    endsByResponse(),
		width:   width, inFlight: inFlight,
	}
}

// planRequest returns what makes the input of a run. Tasks without an agent are
// for workAgent. The words of the person stand in the first task and reach every
// agent.
func planRequest(steps []step, agents map[string]string) func(uint64) schemas.Event {
	tasks := make([]schemas.Task, len(steps))
	assignments := map[string][]string{}
	for i, s := range steps {
		agent := agents[s.task]
		if agent == "" {
			agent = workAgent
		}
		tasks[i] = schemas.Task{
			TaskID: s.task, Description: "Do nothing, as " + s.task + ".", AssignedTo: agent, Dependencies: s.after,
			Priority: schemas.PriorityMedium,
		}
		assignments[agent] = append(assignments[agent], s.task)
	}
	tasks[0].Context.Request = words()
	return func(number uint64) schemas.Event {
		id := requestOf(number)
		return inputEvent(number, id, "/podium/"+plannerName, schemas.TypeExecutionRequest, schemas.ExecutionRequest{
			Envelope: schemas.Envelope{
				MessageID: id, From: plannerName, To: conductorName,
				Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: time.Now().UTC(),
			},
			Payload: schemas.RequestPayload{
				PlanID: id, RequestID: conversation(number), Tasks: tasks, AgentAssignments: maps.Clone(assignments),
			},
		})
	}
}

// requestOf is the message_id of a run's input.
func requestOf(number uint64) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(conversation(number))).String()
}

// endsByResponse sees the end of a run by the response to whoever asked for it.
func endsByResponse() ends {
	return ends{
		key: requestOf,
		streams: func(int) map[string][]string {
			return map[string][]string{bus.WorkStream: {responseSubject()}}
		},
		of: func(message bus.Message) (string, bool) {
			return first(message.Header, "ce-causationid"), message.Subject == responseSubject()
		},
	}
}

// responseSubject is where the supervisor answers a request that names no other place.
func responseSubject() string { return bus.ServiceSubject(conductorName, string(bus.KindResponse)) }

// agentNames lists a workload's agents in lexical order.
func (w *workload) agentNames() []string { return slices.Sorted(maps.Keys(w.agents)) }

// present lists the agents that are there from the beginning.
func (w *workload) present() []string {
	return slices.DeleteFunc(w.agentNames(), func(name string) bool { return name == absentAgent })
}
