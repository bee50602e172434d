// Package echo is the reference agent: it returns what it was given. An agent
// needs no more than this.
package echo

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
)

// An Agent returns the words and the arguments of its request. It is safe for
// use by several goroutines at once.
type Agent struct{}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent. It never fails.
func New() (*Agent, error) { return &Agent{}, nil }

// Description is the agent's entry in the registry, but for its name.
func (*Agent) Description() schemas.Agent {
	return schemas.Agent{
		Kind:        "echo",
		Description: "Returns the words and the arguments of its request.",
		InputSchema: jsontext.Value(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`),
	}
}

// Handle implements agent.Handler. The text is the person's words, or the task's
// description when there are none; the data is the arguments, unchanged.
func (*Agent) Handle(_ context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
	report(100, "")
	task := request.Task()
	return agent.Outcome{Result: schemas.Result{Text: cmp.Or(task.Context.Request, task.Description), Data: task.Context.Arguments}}, nil
}
