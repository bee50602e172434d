package registry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/schemas"
)

// A Policy is what the configuration says of an agent.
type Policy struct {
	schemas.Agent

	// External says that somebody else runs it, whose program may say something else of itself.
	External bool `json:"external,omitzero"`
	// Required says that the installation is not well without it.
	Required bool `json:"required,omitzero"`
}

// Configure puts what the configuration says of its agents into the registry, in place of what stood there. What is known of agents that it
// does not name is forgotten, but for revocations: who comes back has been revoked.
func Configure(ctx context.Context, core bus.Core, policies []Policy) error {
	store := core.KeyValue(bus.AgentBucket)
	before, err := store.Below(ctx, policyPrefix)
	if err != nil {
		return fmt.Errorf("configure the agents: %w", err)
	}
	for i := range policies {
		key := policyPrefix + policies[i].Name
		kept, err := schemas.Marshal(policies[i])
		if err == nil && !bytes.Equal(kept, before[key]) {
			_, err = store.Put(ctx, key, kept)
		}
		if err != nil {
			return fmt.Errorf("configure agent %s: %w", policies[i].Name, err)
		}
		delete(before, key)
	}
	gone := slices.Collect(maps.Keys(before))
	for _, prefix := range [...]string{instancePrefix, breakerPrefix} {
		known, err := store.Below(ctx, prefix)
		if err != nil {
			return fmt.Errorf("configure the agents: %w", err)
		}
		for key := range known {
			name, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), ".")
			if !slices.ContainsFunc(policies, func(policy Policy) bool { return policy.Name == name }) {
				gone = append(gone, key)
			}
		}
	}
	slices.Sort(gone)
	for _, key := range gone {
		if err = store.Delete(ctx, key); err != nil {
			return fmt.Errorf("configure the agents: %w", err)
		}
	}
	return nil
}

// An Entry is all that the registry knows of an agent.
type Entry struct {
	// Agent is what holds: what the configuration says, and for the rest what the process says that has
	// announced itself last. Its breaker always says its state.
	schemas.Agent

	State      schemas.AgentState  `json:"state"`
	Configured bool                `json:"configured"`
	Required   bool                `json:"required,omitzero"`
	Revoked    *schemas.Revocation `json:"revoked,omitzero"`
	// Instances are its processes, in order of their ids.
	Instances []schemas.Agent `json:"instances,omitzero"`
	// Drift names what a process says of itself otherwise than the configuration does.
	Drift []string `json:"drift,omitzero"`
	// Pool is what the bus knows of its requests; nil when nobody can wait for any.
	Pool *bus.PoolState `json:"-"`

	judged bool // there is a breaker of it
}

// List returns all agents, in order of name: those of the configuration, and those that have announced themselves, or have a breaker, since
// that was read. An agent of the configuration that is not there any more stays listed.
func List(ctx context.Context, core bus.Core, now time.Time) ([]Entry, error) {
	entries, err := read(ctx, core)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		pool, err := core.PoolState(ctx, entries[i].Name)
		switch {
		case err == nil:
			entries[i].Pool = &pool
		case !errors.Is(err, bus.ErrNotFound):
			return nil, err
		}
		entries[i].State = entries[i].state(now)
	}
	return entries, nil
}

// Agents returns, in order of name, the agents that have announced themselves, and
// those that have a breaker although they never have: of these nothing but name
// and breaker is known. Every breaker says its state.
func Agents(ctx context.Context, core bus.Core) ([]schemas.Agent, error) {
	entries, err := read(ctx, core)
	agents := make([]schemas.Agent, 0, len(entries))
	for i := range entries {
		if entry := &entries[i]; len(entry.Instances) > 0 || entry.judged {
			agents = append(agents, entry.Agent)
		}
	}
	return agents, err
}

// read returns the entries without what only the bus knows.
func read(ctx context.Context, core bus.Core) ([]Entry, error) {
	values, err := everything(ctx, core)
	if err != nil {
		return nil, err
	}
	instances, err := readInstances(values)
	if err != nil {
		return nil, err
	}
	policies, err := below[Policy](values, policyPrefix)
	if err != nil {
		return nil, err
	}
	breakers, err := below[schemas.Breaker](values, breakerPrefix)
	if err != nil {
		return nil, err
	}
	revoked, err := below[schemas.Revocation](values, revocationPrefix)
	if err != nil {
		return nil, err
	}
	names := slices.Collect(maps.Keys(instances))
	names = slices.AppendSeq(names, maps.Keys(policies))
	names = slices.AppendSeq(names, maps.Keys(breakers))
	slices.Sort(names)
	names = slices.Compact(names)
	entries := make([]Entry, len(names))
	for i, name := range names {
		entry := Entry{Agent: schemas.Agent{Name: name}, Instances: instances[name]}
		entry.merge()
		if policy, is := policies[name]; is {
			entry.hold(&policy)
		}
		breaker, judged := breakers[name]
		entry.judged = judged
		breaker.State = cmp.Or(breaker.State, schemas.BreakerClosed)
		entry.Breaker = &breaker
		if revocation, is := revoked[name]; is {
			entry.Revoked = &revocation
		}
		entries[i] = entry
	}
	return entries, nil
}

// everything reads all that the registry keeps, kind by kind.
func everything(ctx context.Context, core bus.Core) (map[string][]byte, error) {
	store, values := core.KeyValue(bus.AgentBucket), map[string][]byte{}
	for _, prefix := range [...]string{instancePrefix, policyPrefix, breakerPrefix, revocationPrefix} {
		found, err := store.Below(ctx, prefix)
		if err != nil {
			return nil, fmt.Errorf("list the agents: %w", err)
		}
		maps.Copy(values, found)
	}
	return values, nil
}

// merge has the process speak for the agent that has announced itself last, and all of them of when one was seen last.
func (e *Entry) merge() {
	for i := range e.Instances {
		one, seen := e.Instances[i], e.LastSeen
		if i == 0 || one.Announced.After(e.Announced) {
			e.Agent = one
			e.ID, e.Health = "", nil // of the process
		}
		if seen.After(e.LastSeen) {
			e.LastSeen = seen
		} else if one.LastSeen.After(e.LastSeen) {
			e.LastSeen = one.LastSeen
		}
	}
}

// hold has the configuration hold over what the processes say.
func (e *Entry) hold(policy *Policy) {
	for i := range e.Instances {
		if policy.External && !e.Instances[i].Announced.IsZero() {
			for _, field := range drift(&policy.Agent, &e.Instances[i]) {
				if !slices.Contains(e.Drift, field) {
					e.Drift = append(e.Drift, field)
				}
			}
		}
	}
	e.Configured, e.Required = true, policy.Required
	e.Kind = cmp.Or(e.Kind, policy.Kind)
	e.Description = cmp.Or(policy.Description, e.Description)
	e.Input = cmp.Or(policy.Input, e.Input)
	e.Profile = cmp.Or(policy.Profile, e.Profile)
	if e.Concurrency == 0 || policy.Concurrency > 0 && e.Concurrency > policy.Concurrency {
		e.Concurrency = policy.Concurrency
	}
	if policy.External {
		e.SideEffects = policy.SideEffects
	}
	for _, list := range []struct{ mine, held *jsontext.Value }{
		{&e.InputSchema, &policy.InputSchema}, {&e.OutputSchema, &policy.OutputSchema},
	} {
		if len(*list.held) > 0 {
			*list.mine = *list.held
		}
	}
	if len(policy.Kinds) > 0 {
		e.Kinds = policy.Kinds
	}
	if len(policy.Capabilities) > 0 {
		e.Capabilities = policy.Capabilities
	}
	if len(policy.Egress) > 0 {
		e.Egress = policy.Egress
	}
}

// drift names what a process says otherwise than the configuration. What only one of them says is no
// difference, but for side effects: an agent that says nothing of them asks for no permit.
func drift(policy, said *schemas.Agent) (fields []string) {
	note := func(name string, differs bool) {
		if differs {
			fields = append(fields, name)
		}
	}
	note("kinds", !sameSet(kindsOf(policy), kindsOf(said)))
	note("capabilities", len(policy.Capabilities) > 0 && len(said.Capabilities) > 0 && !sameJSON(policy.Capabilities, said.Capabilities))
	note("input_schema", len(policy.InputSchema) > 0 && len(said.InputSchema) > 0 && !sameJSON(policy.InputSchema, said.InputSchema))
	note("output_schema", len(policy.OutputSchema) > 0 && len(said.OutputSchema) > 0 && !sameJSON(policy.OutputSchema, said.OutputSchema))
	note("input", policy.Input != "" && said.Input != "" && policy.Input != said.Input)
	note("egress", len(policy.Egress) > 0 && len(said.Egress) > 0 && !sameSet(policy.Egress, said.Egress))
	note("side_effects", policy.SideEffects != said.SideEffects)
	return fields
}

func kindsOf(agent *schemas.Agent) []schemas.RequestKind {
	if len(agent.Kinds) == 0 {
		return []schemas.RequestKind{schemas.KindWork}
	}
	return agent.Kinds
}

func sameSet[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// sameJSON compares two values by their canonical form.
func sameJSON(a, b any) bool {
	one, err := canonical(a)
	other, failed := canonical(b)
	return err == nil && failed == nil && bytes.Equal(one, other)
}

func canonical(value any) ([]byte, error) {
	body, err := schemas.Marshal(value)
	written := jsontext.Value(body)
	return written, cmp.Or(err, written.Canonicalize())
}

// state says how an agent is, of which the bus has been asked.
func (e *Entry) state(now time.Time) schemas.AgentState {
	served, well, waiting := false, false, e.Pool != nil && (e.Pool.Waiting > 0 || alive(e.Pool.Last, now))
	for i := range e.Instances {
		if alive(e.Instances[i].LastSeen, now) {
			served, well = true, well || e.Instances[i].Health == nil
		}
	}
	switch {
	case e.Revoked != nil:
		return schemas.AgentRevoked
	case e.Breaker.At(now) != schemas.BreakerClosed:
		return schemas.AgentFailing
	case served && !well:
		return schemas.AgentDegraded
	case served || waiting:
		return schemas.AgentOK
	case len(e.Instances) == 0 && !e.Pool.HasWorked():
		return schemas.AgentNever
	}
	return schemas.AgentLate
}
