package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/bus/agent/conformance"
	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/validation"
)

// ErrNoCommand reports a command that cannot be started.
var ErrNoCommand = errors.New("the agent cannot be started")

// Names are those of the checks, in their order.
func Names() []string {
	names := []string{connects().Name}
	for _, check := range conformance.Checks(conformance.Programs) {
		names = append(names, check.Name)
	}
	return names
}

// Check holds an agent to every check, one after the other, and tells each result when it is there. After one that has
// failed, or that has left a request under way, an agent that was started here is started anew on another
// ledger: what one check meets is not the next one's doing.
func Check(ctx context.Context, config Config, tell func(Result)) ([]Result, error) {
	r := &rehearsal{config: config, tell: tell}
	defer r.close()
	if err := r.open(ctx); err != nil || r.place == nil {
		return r.results, err
	}
	for _, check := range conformance.Checks(conformance.Programs) {
		if len(config.Only) > 0 && !slices.Contains(config.Only, check.Name) {
			continue
		}
		if r.place == nil {
			if err := r.open(ctx); err != nil {
				return r.results, err
			}
		}
		if r.place == nil {
			return r.results, nil // it cannot be started any more, and that was told
		}
		began := time.Now()
		err := check.Run(ctx, r.stage)
		if ctx.Err() != nil {
			return r.results, context.Cause(ctx)
		}
		r.note(check, err, time.Since(began))
		if len(config.Command) > 0 && !r.settled(ctx, err) {
			r.close()
		}
	}
	return r.results, nil
}

// A rehearsal is one agent at its checks.
type rehearsal struct {
	config  Config
	tell    func(Result)
	results []Result
	place   *place
	stage   *conformance.Stage
	known   bool // what the agent is was found out
}

// connects is what has to hold before anything can be checked.
func connects() conformance.Check {
	return conformance.Check{
		Name: "connects", Asks: "It logs in with its key, and asks for requests.",
		Mend: "Read the address of the server from instance.json in the directory PODIUM_DATA and the key from credentials/agent-NAME.nk there (PODIUM_NATS and PODIUM_SEED have them, too), " +
			"and pull from PODIUM_WORK, consumer NAME, with the inbox prefix _INBOX_NAME and the API prefix CORE.API.",
	}
}

// open starts the agent on a new ledger. It leaves place nil when that did not work, which is told.
func (r *rehearsal) open(ctx context.Context) error {
	began := time.Now()
	place, err := openPlace(ctx, r.config)
	if err != nil {
		return err
	}
	r.place = place
	if err := place.begin(ctx); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, ErrNoCommand) {
			return err
		}
		r.note(connects(), err, time.Since(began))
		r.close()
		return nil
	}
	if r.stage, err = r.newStage(ctx); err != nil {
		return err
	}
	if !r.known {
		r.note(connects(), nil, time.Since(began))
	}
	r.known = true
	return nil
}

// newStage joins what the agent announces with what is known of it.
func (r *rehearsal) newStage(ctx context.Context) (*conformance.Stage, error) {
	about, err := r.announced(ctx)
	if err != nil {
		return nil, err
	}
	program := &conformance.Program{
		Process: r.place, Concurrency: r.place.pool, Heartbeat: r.config.Heartbeat, AckWait: ackWait, Patience: r.config.Patience,
		External: r.config.External || about.SideEffects == "external",
	}
	if about.Concurrency > 0 {
		program.Concurrency = min(about.Concurrency, r.place.pool)
	}
	input, output := []byte(about.InputSchema), []byte(about.OutputSchema)
	if len(r.config.InputSchema) > 0 {
		input = r.config.InputSchema
	}
	if len(r.config.OutputSchema) > 0 {
		output = r.config.OutputSchema
	}
	if len(output) > 0 {
		if program.Output, err = validation.Compile(output); err != nil {
			return nil, fmt.Errorf("the output_schema of agent %s: %w", r.config.Agent, err)
		}
	}
	arguments := r.config.Arguments
	if len(arguments) == 0 && len(input) > 0 {
		if arguments, err = examplesOf(input); err != nil {
			return nil, err
		}
	}
	kinds := about.Kinds
	if len(r.config.Kinds) > 0 {
		kinds = r.config.Kinds
	}
	if len(kinds) == 0 {
		kinds = []schemas.RequestKind{schemas.KindWork}
	}
	if r.config.SlowWords != "" {
		program.Slow = tasks(r.config.SlowWords, arguments, kinds[0])
	}
	return &conformance.Stage{
		Core: r.place.core, Agent: r.config.Agent, Kinds: kinds, Program: program, Task: tasks(r.config.Words, arguments, kinds[0]),
	}, nil
}

// announceWithin is how long an agent that takes requests may take to announce itself. It need not.
const announceWithin = time.Second

func (r *rehearsal) announced(ctx context.Context) (schemas.Agent, error) {
	for end := time.Now().Add(announceWithin); ; {
		agents, err := registry.Agents(ctx, r.place.core)
		if err != nil {
			return schemas.Agent{}, err
		}
		for i := range agents {
			if agents[i].Name == r.config.Agent {
				return agents[i], nil
			}
		}
		if time.Now().After(end) {
			return schemas.Agent{}, nil
		}
		if err := pause(ctx, lookEvery); err != nil {
			return schemas.Agent{}, err
		}
	}
}

// tasks makes tasks of words, with arguments in turn.
func tasks(words string, arguments [][]byte, kind schemas.RequestKind) func(n int) schemas.Task {
	return func(n int) schemas.Task {
		task := schemas.Task{
			TaskID: "t1", Description: words, Dependencies: []string{}, Priority: schemas.PriorityMedium,
			Deliverables: []string{}, ValidationCriteria: []string{},
			Context: schemas.TaskContext{
				FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{"language":"en"}`), Request: words, Tainted: []string{"/request"},
			},
		}
		if len(arguments) > 0 {
			task.Context.Arguments = arguments[n%len(arguments)]
		}
		if kind != schemas.KindWork {
			task.Context.Kind = kind
		}
		return task
	}
}

// note keeps and tells what came of a check.
func (r *rehearsal) note(check conformance.Check, err error, took time.Duration) {
	result := Result{Check: check.Name, Result: Passed, Asks: check.Asks, Seconds: took.Round(time.Millisecond).Seconds()}
	var open *conformance.NotChecked
	switch {
	case errors.As(err, &open):
		result.Result, result.Why = NotChecked, open.Reason
	case err != nil:
		result.Result, result.Why, result.Do, result.Says = Failed, err.Error(), strings.ReplaceAll(check.Mend, "NAME", r.config.Agent), r.place.lastWords()
	}
	r.results = append(r.results, result)
	r.tell(result)
}

// settledWithin is how long a request that was answered may take to be acknowledged before the agent is started anew.
const settledWithin = time.Second

// settled reports whether the next check may go on with the same process.
func (r *rehearsal) settled(ctx context.Context, outcome error) bool {
	if open := new(conformance.NotChecked); outcome != nil && !errors.As(outcome, &open) {
		return false
	}
	for end := time.Now().Add(settledWithin); time.Now().Before(end); {
		state, err := r.place.core.PoolState(ctx, r.config.Agent)
		if err != nil {
			return false
		}
		if state.Working == 0 {
			return true
		}
		if pause(ctx, lookEvery) != nil {
			return false
		}
	}
	return false
}

func (r *rehearsal) close() {
	if r.place != nil {
		r.place.close()
	}
	r.place, r.stage = nil, nil
}

// lookEvery is how often it is looked whether something holds.
const lookEvery = 50 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
