package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// A Subject is what people agree to, and all of it.
type Subject struct {
	Agent     string             `json:"agent"`
	Told      string             `json:"told"`             // hash of what the agent is told
	Answers   []string           `json:"answers,omitzero"` // of people, to the task
	Operation *schemas.Operation `json:"operation,omitzero"`
}

// Hash is SHA-256 (hex) of the subject. Otherwise stands for one that cannot be written, and is to be like nothing else.
func (s *Subject) Hash(otherwise string) string {
	body, err := schemas.Marshal(s)
	if err != nil {
		body = []byte(otherwise)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Given is the inquiry by which somebody has agreed to exactly what would be done of a task now; 0 is none. Hash is that of what an agent has proposed, and of the
// task where it has proposed nothing. It is for every attempt, unless one of them may have done it: that is for people to look at once more.
func Given(run *workflow.Run, task *workflow.Task, hash func(*schemas.Operation) string) int {
	for _, inquiry := range slices.Backward(run.Inquiries) {
		spent := spent(task, inquiry)
		if inquiry.Task == task.ID && inquiry.Approved() && !spent && (inquiry.AgreedHash() == hash(inquiry.AgreedOperation()) || fault.Is("hash not compared")) {
			return inquiry.Inquiry
		}
	}
	return 0
}

// spent reports whether a task may have been done by what was agreed to in an inquiry.
func spent(task *workflow.Task, inquiry *workflow.Inquiry) bool {
	return task.Permit != "" && inquiry.Inquiry <= int(task.Approval) || inquiry.Inquiry < int(task.Retried)
}

// Persons are distinct persons. Each may go by several names: whoever speaks at the command line for somebody is both the user there and that person.
type Persons struct {
	Count int
	names []string
}

// Add counts one more person, unless one of their names is known.
func (p *Persons) Add(names ...string) {
	if p.Has(names...) {
		return
	}
	p.Count++
	p.names = append(p.names, names...)
}

// Has reports whether a person is counted under one of some names.
func (p *Persons) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(p.names, name) })
}

// Agreed are those who have agreed to a hash for a task, each once, as far as they still may: whatever way their words came, and by whichever of its inquiries.
func Agreed(run *workflow.Run, task *workflow.Task, hash string, may func(person string) bool) Persons {
	var persons Persons
	for _, inquiry := range run.Inquiries {
		if spent(task, inquiry) || inquiry.Task != task.ID || !inquiry.Kind.IsApproval() {
			continue
		}
		for _, word := range inquiry.Agreements() {
			if cmp.Or(word.Hash, inquiry.Hash) != hash {
				continue
			}
			names := Names(inquiry, word.Actor)
			if !slices.ContainsFunc(names, func(name string) bool { return !may(name) }) {
				persons.Add(names...)
			}
		}
	}
	return persons
}

// The persons who have no name in a profile.
const (
	Operator  = "/operator"  // of the service itself: whoever may write to it
	Requester = "/requester" // who has begun the run
)

// user is what a user of the operating system is called by, who speaks at the command line.
const user = "/user:"

// IsOperator reports whether a name is that of somebody who may write to the service itself.
func IsOperator(name string) bool { return name == Operator || strings.HasPrefix(name, user) }

// Names are those of who has said something to an approval: of a person, or of one of those who have none. No address is one. A user of the operating system is one
// person, whomever they speak for.
func Names(inquiry *workflow.Inquiry, actor schemas.Actor) []string {
	switch {
	case actor.Via == schemas.ViaCLI && actor.As != "":
		return []string{user + actor.ID, actor.As}
	case actor.Via == schemas.ViaCLI:
		return []string{user + actor.ID}
	case actor.Via == schemas.ViaAPI:
		return []string{Operator}
	case len(inquiry.People) == 0:
		return []string{Requester}
	}
	return []string{actor.ID}
}

// Refused reports whether somebody has said no to the same in this run.
func Refused(run *workflow.Run, hash string) bool {
	return slices.ContainsFunc(run.Inquiries, func(before *workflow.Inquiry) bool { return before.Disapproved() && before.Hash == hash })
}

// Call names the action that some arguments are; empty when they are none.
func Call(arguments jsontext.Value) string {
	action := schemas.Action{Data: arguments}
	call, err := action.Call()
	if err != nil {
		return ""
	}
	return call
}
