package installation

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/jetstream"
	"podium/schemas"
)

// The verbs by which a running instance is asked to change who takes part. Nobody but the core account reaches them.
const (
	VerbAdd    = "add"
	VerbRevoke = "revoke"
)

// AdministrationSubject is where a running instance is asked to do something.
func AdministrationSubject(verb string) string { return "podium.administration." + verb }

// A MemberRequest names the agent that is to be taken in, or revoked.
type MemberRequest struct {
	Agent string `json:"agent"`
}

// A Member is an external agent that was taken in, or revoked.
type Member struct {
	Agent  string `json:"agent"`
	Seed   string `json:"seed,omitzero"`   // file of its key
	Public string `json:"public,omitzero"` // half of its key
	// Profiles name it, and are in force as podium.yaml has them now. Waiting name it, and another agent that is not taken in yet.
	Profiles []string `json:"profiles,omitzero"`
	Waiting  []string `json:"waiting,omitzero"`
	// Accounts is the file with the accounts that a NATS server of one's own has to be told of; empty where there is none.
	Accounts string `json:"accounts,omitzero"`
}

// administrationWait bounds the wait for a running instance.
const administrationWait = 30 * time.Second

// AskInstance has the instance that runs on a data directory take in an agent, or revoke it.
func AskInstance(ctx context.Context, data, verb, agent string, log zerolog.Logger) (Member, error) {
	var done Member
	instance, running, err := FindInstance(data)
	if err != nil {
		return done, err
	}
	if !running {
		return done, fmt.Errorf("%w on %s; agents of kind external in podium.yaml are taken in when it starts", ErrNotRunning, data)
	}
	core, err := jetstream.Connect(ctx, jetstream.Config{URL: instance.NATS, SeedFile: instance.Core, Name: "command line", Existing: true, Logger: log})
	if err != nil {
		return done, err
	}
	defer core.Close()
	body, err := schemas.Marshal(MemberRequest{Agent: agent})
	if err != nil {
		return done, err
	}
	ctx, stop := context.WithTimeout(ctx, administrationWait)
	defer stop()
	answer, err := core.Ask(ctx, AdministrationSubject(verb), body)
	if bus.Temporary(err) {
		return done, fmt.Errorf("the running instance (process %d) does not answer: %w", instance.PID, err)
	}
	if err == nil {
		err = schemas.Unmarshal(answer, &done)
	}
	return done, err
}
