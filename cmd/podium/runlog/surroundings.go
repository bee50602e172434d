package runlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/gateway"
)

// Surroundings are what the operator is told around a run. It is for nobody else: a
// sender is a person.
type Surroundings struct {
	Sender   *Sender    `json:"sender,omitzero"`
	Parent   string     `json:"parent,omitzero"` // the run that this one is a task of
	Children []ChildRun `json:"children,omitzero"`
	// Unread are answers that cannot be read and name no request, by agents of this run that did not answer in time.
	Unread []UnreadAnswer `json:"unread_answers,omitzero"`
}

// An UnreadAnswer is an answer in quarantine that names no request. It came while the run went on, by an agent that the run has asked.
type UnreadAnswer struct {
	ID       string    `json:"id"` // in quarantine
	Agent    string    `json:"agent"`
	Received time.Time `json:"received"`
	Detail   string    `json:"detail"`
	Begins   string    `json:"begins"` // its first bytes, quoted
}

// A Sender is who has sent the message that a run began with.
type Sender struct {
	Name    string `json:"name,omitzero"`
	Address string `json:"address,omitzero"` // of mail
	User    string `json:"user,omitzero"`    // of a chat, as its provider says
	Agent   string `json:"agent,omitzero"`   // of a request
}

// String names the sender in one line.
func (s *Sender) String() string {
	id := cmp.Or(s.Address, s.User)
	switch {
	case s.Agent != "":
		return "agent " + s.Agent
	case s.Name != "" && id != "":
		return s.Name + " <" + id + ">"
	}
	return cmp.Or(s.Name, id, "(nobody that it names)")
}

// A ChildRun is a run that a supervisor has begun for a task of another one.
type ChildRun struct {
	Run    string            `json:"run"`
	Task   string            `json:"task"`
	Agent  string            `json:"agent"`
	Phase  workflow.Phase    `json:"phase"`
	Status schemas.RunStatus `json:"status,omitzero"`
}

// Lines tells them to a person, each as a name and a value.
func (s *Surroundings) Lines() (told [][2]string) {
	if s.Sender != nil {
		told = append(told, [2]string{"from", s.Sender.String()})
	}
	if s.Parent != "" {
		told = append(told, [2]string{"task of", "run " + s.Parent})
	}
	for i := range s.Children {
		child := &s.Children[i]
		came := cmp.Or(string(child.Status), string(child.Phase))
		told = append(told, [2]string{"child", fmt.Sprintf("run %s, %s by %s: %s", child.Run, child.Task, child.Agent, came)})
	}
	for i := range s.Unread {
		one := &s.Unread[i]
		told = append(told, [2]string{"unread", fmt.Sprintf("an answer of %s, which names no request and may be to this run, cannot be read: %s; it begins with %s; podium quarantine show %s",
			one.Agent, one.Detail, one.Begins, one.ID)})
	}
	return told
}

// Around looks for what is around a run.
func (r Reader) Around(ctx context.Context, run *workflow.RunHistory) (found Surroundings, err error) {
	if run.Message.Sequence != 0 {
		if found.Sender, err = senderOf(ctx, r.Core, run); err != nil {
			return found, err
		}
	}
	if run.Message.Upstream != nil {
		found.Parent = run.Message.Upstream.Correlation
	}
	if found.Children, err = childrenOf(ctx, r.Core, run); err != nil {
		return found, err
	}
	found.Unread, err = unreadAnswers(ctx, r.Core, run)
	return found, err
}

// The bounds of the unread answers of a run: how many are told, and how many bytes of each.
const (
	maxUnread = 5
	maxBegins = 40
)

// unreadAnswers finds the answers in quarantine that may be to attempts of a run which ended without an answer. They stand in the shard of
// the run, or in the first one, when their agent ignores where answers go.
func unreadAnswers(ctx context.Context, core bus.Core, run *workflow.RunHistory) (found []UnreadAnswer, err error) {
	var asked []string
	for task := range run.All {
		if task.Failure().Cause != "" || task.Attempt > 1 || task.State.UnderWay() {
			asked = append(asked, task.Agent)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	shards := []int{schemas.ShardOf(run.Session, core.Shards()), 0}
	for _, shard := range slices.Compact(shards) {
		for message, err := range core.Scan(ctx, bus.ShardStream(shard), 1, bus.QuarantineSubject(schemas.QuarantineMalformed, shard)) {
			if err != nil {
				return nil, err
			}
			event, err := artifact.DecodeWhole(ctx, core.Artifacts(), message)
			var kept schemas.Quarantined
			if err == nil {
				err = schemas.Unmarshal(event.Data, &kept)
			}
			if err != nil {
				return nil, fmt.Errorf("a message in quarantine: %w", err)
			}
			subject, unknown := bus.ParseSubject(kept.Subject)
			if unknown != nil || subject.Kind != bus.KindResponse || !slices.Contains(asked, subject.Agent) || kept.Received.Before(run.Started) ||
				!run.Ended.IsZero() && kept.Received.After(run.Ended) || binding.NamedRequest(bus.Message{Header: kept.Headers, Body: kept.Body}, core.Shards()) != "" {
				continue
			}
			if len(found) == maxUnread {
				return found, nil
			}
			found = append(found, UnreadAnswer{
				ID: event.ID, Agent: subject.Agent, Received: kept.Received, Detail: kept.Detail,
				Begins: strconv.QuoteToASCII(string(kept.Body[:min(len(kept.Body), maxBegins)])),
			})
		}
	}
	return found, nil
}

// senderOf reads who has sent the message that a run began with.
func senderOf(ctx context.Context, core bus.Core, run *workflow.RunHistory) (*Sender, error) {
	if run.Message.Upstream != nil {
		return &Sender{Agent: run.Message.Upstream.From}, nil
	}
	shard := schemas.ShardOf(run.Session, core.Shards())
	message, err := core.Get(ctx, bus.ShardStream(shard), run.Message.Sequence)
	if err != nil {
		return nil, fmt.Errorf("the message of run %s: %w", run.ID, err)
	}
	event, err := artifact.DecodeWhole(ctx, core.Artifacts(), message)
	if err != nil {
		return nil, fmt.Errorf("the message of run %s: %w", run.ID, err)
	}
	found := &Sender{}
	switch event.Type {
	case schemas.TypeEmailReceived:
		var mail schemas.EmailReceived
		if err = schemas.Unmarshal(event.Data, &mail); err == nil && len(mail.From) > 0 {
			found.Name, found.Address = mail.From[0].Name, mail.From[0].Address
		}
	case schemas.TypeChatReceived:
		var chat schemas.ChatReceived
		if err = schemas.Unmarshal(event.Data, &chat); err == nil {
			found.Name, found.User = chat.User.Name, chat.User.ID
		}
	}
	return found, err
}

// Control reads the control message that stands at a sequence of the shard of a run; nil when it is gone, or a letter has said the same.
func (r Reader) Control(ctx context.Context, run *workflow.RunHistory, sequence uint64) (*schemas.Control, error) {
	message, err := r.Core.Get(ctx, bus.ShardStream(schemas.ShardOf(run.Session, r.Core.Shards())), sequence)
	if errors.Is(err, bus.ErrNotFound) {
		return nil, nil //nolint:nilnil // as said above
	}
	control := &schemas.Control{}
	var event schemas.Event
	if err == nil {
		event, err = artifact.DecodeWhole(ctx, r.Core.Artifacts(), message)
	}
	if err == nil && event.Type != schemas.TypeControl {
		return nil, nil //nolint:nilnil // as said above
	}
	if err == nil {
		err = schemas.Unmarshal(event.Data, control)
	}
	if err != nil {
		return nil, fmt.Errorf("a word about run %s: %w", run.ID, err)
	}
	return control, nil
}

// childSession is the session of the runs that a supervisor with a profile begins for a
// task: the effect that the attempts of the task have in common has one of its own.
func childSession(run *workflow.RunHistory, task *workflow.Task, profile string) string {
	work := run.ID
	if run.Message.Upstream != nil && run.Message.Upstream.Effect != "" {
		work = run.Message.Upstream.Effect
	}
	return schemas.SessionID(profile, schemas.EffectID(work, task.ID))
}

// childrenOf finds the runs that supervisors have begun for tasks of a run.
func childrenOf(ctx context.Context, core bus.Core, run *workflow.RunHistory) ([]ChildRun, error) {
	var found []ChildRun
	for _, task := range run.Tasks {
		if task.Attempt == 0 {
			continue
		}
		profile, err := profileOf(ctx, core, task.Agent)
		if err != nil {
			return nil, err
		}
		if profile == "" {
			continue
		}
		child := workflow.SessionHistory{Session: childSession(run, task, profile)}
		for record, err := range history.LoadSession(ctx, core, child.Session) {
			if err == nil {
				err = child.Apply(record.Record)
			}
			if err != nil {
				return nil, fmt.Errorf("the runs of agent %s for run %s: %w", task.Agent, run.ID, err)
			}
		}
		for j := range child.Runs {
			begun := &child.Runs[j]
			found = append(found, ChildRun{Run: begun.ID, Task: task.ID, Agent: task.Agent, Phase: begun.Phase, Status: begun.Status})
		}
	}
	return found, nil
}

// profileOf returns the profile of an agent that is a supervisor; empty of any other.
func profileOf(ctx context.Context, core bus.Core, agent string) (string, error) {
	known, err := registry.Instances(ctx, core, agent)
	for i := range known {
		if known[i].Kind == gateway.Kind {
			return known[i].Profile, nil
		}
	}
	return "", err
}
