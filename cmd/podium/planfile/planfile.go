// Package planfile reads the file of a plan as strictly as podium.yaml is read: every
// fault is named with its line, its column and its place, in words that need no knowledge
// of a parser or of Go. All are named at once: of keys and values, of what depends on what,
// and of what the profile asks, as far as tasks can be read. What is no JSON has no other fault, and
// agent_assignments are held against the tasks once these are right.
//
// A plan is JSON: an execution_request, of which the envelope may be left out in part,
// or its payload alone, of which the tasks are enough. What may stand there follows
// from the schema of the message. On the bus a message may hold names that nobody
// knows; in a file that a person has written they are mistakes.
package planfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/cmd/podium/diagnostic"
	"podium/schemas"
	"podium/schemas/pointer"
	"podium/schemas/validation"
	"podium/supervisor/plan"
	"podium/supervisor/say"
	"podium/supervisor/session"
)

// A Plan is a file that was read.
type Plan struct {
	request schemas.ExecutionRequest
	whole   bool // it has an envelope of its own
	reader  *reader
	root    *node
	tasks   *node
	path    string // of the tasks
	// faulty says that the file has faults of its own. Unread are the tasks of which only the ids, the agents and the dependencies could be
	// read then, unsound those in which something is wrong.
	faulty          bool
	unread, unsound map[int]bool
}

// envelope are the keys by which a file shows that it is a whole message.
var envelope = [...]string{"message_id", "from", "to", "type", "timestamp", "in_reply_to", payloadKey} //nolint:gochecknoglobals // never written

const (
	payloadKey = "payload"
	tasksKey   = "tasks"
)

// Read reads a plan. The name stands for the file in errors, which are diagnostic.Problems. A plan that comes with an error is there for Check
// alone, whose error has all of its faults.
func Read(body []byte, name string) (*Plan, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	r := &reader{file: name, body: body}
	root, err := parse(body)
	if err != nil {
		r.problem(root.at, "", "%v", err)
		return nil, r.problems
	}
	of, err := requestShape()
	if err != nil {
		return nil, err
	}
	r.shapes = of.Definitions
	made := &Plan{reader: r, root: root, path: tasksKey}
	if root.kind == '{' {
		made.whole = slices.ContainsFunc(root.members, func(m member) bool { return slices.Contains(envelope[:], m.name) })
	}
	made.shape(of)
	if !made.readable() {
		return nil, r.problems.Sorted()
	}
	r.graph(made.tasks, made.request.Payload.Tasks, made.path)
	if made.faulty = len(r.problems) > 0; made.faulty {
		made.faults(made.anybody())
		return made, r.problems.Sorted()
	}
	if err = made.decode(); err != nil {
		return nil, err
	}
	return made, made.sound()
}

// shape holds the file to what may stand in it. Ids and the sender may be left out:
// they are made when it is sent.
func (p *Plan) shape(of *shape) {
	root := p.root
	payload := of.Properties[payloadKey]
	payload.Required = []string{tasksKey}
	if p.whole {
		of.Required = []string{payloadKey}
		p.path = diagnostic.Under(payloadKey, tasksKey)
		if stray := root.member(tasksKey); stray != nil && root.member(payloadKey) == nil {
			p.reader.problem(stray.at, "", `"tasks" stands in "payload" when there is an envelope: {"payload": {"tasks": […]}}`)
			return
		}
		p.reader.value(root, of, "")
		return
	}
	payload.Description = `a plan: {"tasks": […]}, or an execution_request with such a payload`
	p.reader.value(root, payload, "")
}

func (p *Plan) decode() error {
	into, payload := any(&p.request.Payload), p.root
	if p.whole {
		into, payload = &p.request, p.root.member(payloadKey)
	}
	p.tasks = payload.member(tasksKey)
	if schemas.Unmarshal(p.reader.body, into) != nil { // its words are those of a parser
		p.reader.problem(p.root.at, "", "it cannot be read as a plan")
		return p.reader.problems
	}
	return nil
}

// Tasks are the tasks of the plan.
func (p *Plan) Tasks() []schemas.Task { return p.request.Payload.Tasks }

// Request is the message that the plan is sent as. What its envelope leaves out is made
// here: the ids by newID.
func (p *Plan) Request(from string, now time.Time, newID func() string) schemas.ExecutionRequest {
	request := p.request
	request.MessageID = cmp.Or(request.MessageID, newID())
	request.From = cmp.Or(request.From, from)
	request.To = session.Supervisor // the answer is looked for there
	request.Type = schemas.EnvelopeTypeExecutionRequest
	if request.Timestamp.IsZero() {
		request.Timestamp = now
	}
	request.Payload.PlanID = cmp.Or(request.Payload.PlanID, newID())
	request.Payload.RequestID = cmp.Or(request.Payload.RequestID, request.MessageID)
	return request
}

// sound holds the message to its schema, and the tasks to what every profile asks of them.
func (p *Plan) sound() error {
	request := p.Request("anybody", time.Unix(0, 0).UTC(), func() string { return uuid.Nil.String() })
	body, err := schemas.Marshal(request)
	if err != nil {
		return err
	}
	err = schemas.Validate(schemas.EnvelopeTypeExecutionRequest, body)
	if invalid, ok := errors.AsType[*validation.Error](err); ok {
		p.invalid(invalid)
		return p.reader.problems
	}
	if err != nil {
		return err
	}
	for i := range p.request.Payload.Tasks {
		if kind := p.request.Payload.Tasks[i].Context.Kind; !kind.IsWork() {
			at := p.tasks.elements[i].member("context").member("kind").at
			p.reader.problem(at, entry(p.path, i)+".context.kind", "%q is a question; a supervisor is asked for work alone", kind)
		}
	}
	if p.words() {
		return p.reader.problems.Sorted()
	}
	p.faults(p.anybody())
	return p.reader.problems.Sorted()
}

// anybody is a profile that has all agents of the plan, and room for it.
func (p *Plan) anybody() *plan.Profile {
	tasks := p.request.Payload.Tasks
	anybody := plan.Profile{Profile: schemas.Profile{Planner: &schemas.Planner{MaxTasks: len(tasks)}}}
	for i := range tasks {
		anybody.Agents = append(anybody.Agents, schemas.AgentUse{Name: tasks[i].AssignedTo})
	}
	return &anybody
}

// words reports whether the plan is none: one task for the supervisor itself is a piece of
// work in words, of which it makes the tasks.
func (p *Plan) words() bool {
	tasks := p.request.Payload.Tasks
	return len(tasks) == 1 && tasks[0].AssignedTo == session.Supervisor
}

// Check names all that keeps a plan from being carried out by a profile, arguments that an agent does not take among it: the error is
// diagnostic.Problems.
func (p *Plan) Check(profile *plan.Profile) error {
	if p.words() {
		return nil
	}
	names := make([]string, len(profile.Agents))
	for i := range profile.Agents {
		names[i] = profile.Agents[i].Name
	}
	for i := range p.request.Payload.Tasks {
		if agent := p.request.Payload.Tasks[i].AssignedTo; agent != "" && !slices.Contains(names, agent) {
			p.reader.problem(p.tasks.elements[i].member("assigned_to").at, entry(p.path, i)+".assigned_to", "%s",
				diagnostic.Suggest(fmt.Sprintf("%q is not one of the agents of profile %q", agent, profile.Name), agent, names))
		}
	}
	known := *profile // with those that have been named already
	known.Agents = slices.Clone(profile.Agents)
	for i := range p.request.Payload.Tasks {
		task := &p.request.Payload.Tasks[i]
		if !slices.Contains(names, task.AssignedTo) {
			known.Agents = append(known.Agents, schemas.AgentUse{Name: task.AssignedTo})
		}
		if !p.unread[i] {
			p.arguments(profile, i, task)
		}
	}
	p.faults(&known)
	return p.reader.problems.Sorted()
}

// arguments holds those of a task to the schema of its agent.
func (p *Plan) arguments(profile *plan.Profile, i int, task *schemas.Task) {
	at, path := p.tasks.elements[i], entry(p.path, i)+".context.arguments"
	if context := at.member("context"); context != nil && context.member("arguments") != nil {
		at = context.member("arguments")
	}
	for _, fault := range profile.ArgumentFaults(task.AssignedTo, task.Description, task.Context.Arguments) {
		place := path
		if fault.Path != "" {
			place = diagnostic.Under(path, fault.Path)
		}
		if problem, is := fault.Reason.Values["problem"]; is {
			p.reader.problem(at.at, place, "it %s, by the input_schema of %s", problem, task.AssignedTo)
		} else {
			p.reader.problem(at.at, place, "%s", say.Reason(say.English(), fault.Reason))
		}
	}
}

// faults adds those that a run would name. Each has the place of its task.
func (p *Plan) faults(profile *plan.Profile) {
	sound := p.soundTasks()
	if len(sound) == 0 {
		return
	}
	for _, fault := range profile.Faults(sound) {
		at, path := p.tasks.at, p.path
		for i := range p.request.Payload.Tasks {
			if id, is := fault.Values["task"]; is && p.request.Payload.Tasks[i].TaskID == id {
				at, path = p.tasks.elements[i].at, entry(p.path, i)
				break
			}
		}
		p.reader.problem(at, path, "%s", say.Reason(say.English(), fault))
	}
}

// invalid adds what the schema says of a place, or of the nearest one around it that is
// in the file.
func (p *Plan) invalid(fault *validation.Error) {
	at, path := p.root, ""
	for token := range jsontext.Pointer(fault.Pointer).Tokens() {
		if path == "" && !p.whole && token == payloadKey {
			continue
		}
		next := at.member(token)
		if i, is := pointer.Index(token); is && at.kind == '[' && i < len(at.elements) {
			next, path = at.elements[i], entry(path, i)
		} else {
			path = diagnostic.Under(path, token)
		}
		if next == nil {
			break
		}
		at = next
	}
	p.reader.problem(at.at, path, "it %s", fault.Reason)
}
