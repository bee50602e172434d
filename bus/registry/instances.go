package registry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"podium/bus"
	"podium/schemas"
)

const (
	// announceLimit is the size in bytes of the largest announcement.
	announceLimit = 64 << 10
	// aliveLimit is the size in bytes of the largest sign of life.
	aliveLimit = 16 << 10
	// maxInstances is how many processes of one agent are known at a time: as many as may be connected.
	maxInstances = 64
	// forgetAfter is how long a process that is silent is remembered once another one announces itself.
	forgetAfter = time.Hour

	maxProblem      = 300 // bytes of what a process says of its health
	maxCapabilities = 256
	maxExamples     = 64
	maxShort        = 256 // bytes of kind and version
)

// open brings what the ledger knows of the agents to mind. Entries of versions that kept one for each agent go: no
// process announces itself there any more.
func (r registry) open(ctx context.Context) error {
	keys, err := r.store.Keys(ctx)
	if err != nil {
		return fmt.Errorf("read the registry: %w", err)
	}
	for _, key := range keys {
		if schemas.ValidAgentName(key) {
			if err = r.store.Delete(ctx, key); err != nil {
				return fmt.Errorf("read the registry: %w", err)
			}
		}
	}
	return r.standing.load(ctx, r.store)
}

func (r registry) announce(ctx context.Context, agent string, body []byte) ([]byte, error) {
	if err := r.quota.Heartbeat(agent); err != nil {
		return nil, err
	}
	if len(body) > announceLimit {
		return nil, fmt.Errorf("the announcement of %s: %w", agent, bus.ErrTooLarge)
	}
	var entry schemas.Agent
	if err := schemas.Unmarshal(body, &entry); err != nil {
		return nil, fmt.Errorf("the announcement of %s is not a description of an agent", agent)
	}
	if schemas.Deep(body) {
		return nil, fmt.Errorf("the announcement of %s is nested deeper than %d: nobody could be shown it among others", agent, schemas.MaxDepth)
	}
	if err := r.refuses(agent, entry.Instance); err != nil {
		return nil, err
	}
	if entry.ID == "" {
		entry.ID = schemas.DefaultInstanceID
	}
	if err := checkEntry(agent, &entry); err != nil {
		return nil, err
	}
	if err := r.makeRoom(ctx, agent, entry.ID); err != nil {
		return nil, err
	}
	entry.Instance = "" // it stays a secret
	now := r.clock().UTC()
	entry.Name, entry.Announced, entry.LastSeen = agent, now, now
	entry.Breaker = nil // not the agent's to say
	if entry.Health != nil {
		entry.Health = healthOf(nil, &schemas.Alive{Problem: entry.Health.Problem, Answers: entry.Health.Answers}, now)
	}
	return nil, r.keep(ctx, &entry, func(key string, kept []byte) error {
		_, err := r.store.Put(ctx, key, kept)
		return err
	})
}

// checkEntry bounds what an agent may say of itself.
func checkEntry(agent string, entry *schemas.Agent) error {
	switch {
	case !schemas.ValidInstanceID(entry.ID):
		return fmt.Errorf("the announcement of %s: its id has to be 1 to 64 letters, digits, _ and -", agent)
	case len(entry.Kind) > maxShort || len(entry.Version) > maxShort:
		return fmt.Errorf("the announcement of %s: kind and version have %d bytes at most", agent, maxShort)
	case len(entry.Capabilities) > maxCapabilities || len(entry.Examples) > maxExamples:
		return fmt.Errorf("the announcement of %s: it has %d capabilities and %d examples at most", agent, maxCapabilities, maxExamples)
	}
	return nil
}

// keep stores an entry, and brings it to mind.
func (r registry) keep(_ context.Context, entry *schemas.Agent, store func(key string, kept []byte) error) error {
	kept, err := schemas.Marshal(entry)
	if err == nil {
		err = store(InstanceKey(entry.Name, entry.ID), kept)
	}
	if err == nil {
		r.standing.seen(entry)
	}
	return err
}

func (r registry) alive(ctx context.Context, agent string, body []byte) ([]byte, error) {
	if err := r.quota.Heartbeat(agent); err != nil {
		return nil, err
	}
	if len(body) > aliveLimit {
		return nil, fmt.Errorf("the sign of life of %s: %w", agent, bus.ErrTooLarge)
	}
	said, err := readAlive(agent, body)
	if err != nil {
		return nil, err
	}
	if err = r.refuses(agent, said.Instance); err != nil {
		return nil, err
	}
	key := InstanceKey(agent, said.ID)
	kept, revision, err := r.store.Get(ctx, key)
	entry := schemas.Agent{Name: agent, ID: said.ID}
	switch {
	case err == nil:
		err = schemas.Unmarshal(kept, &entry)
	case errors.Is(err, bus.ErrNotFound) && said.Problem != "":
		err = r.makeRoom(ctx, agent, said.ID) // it announces itself when it is well
	default:
		err = fmt.Errorf("agent %s has not announced itself: %w", agent, err)
	}
	if err != nil {
		return nil, err
	}
	if said.Leaving {
		return nil, r.leave(ctx, agent, said.ID)
	}
	now := r.clock().UTC()
	entry.LastSeen, entry.Health = now, healthOf(entry.Health, &said, now)
	err = r.keep(ctx, &entry, func(key string, kept []byte) error {
		_, err := r.store.Update(ctx, key, kept, revision)
		if errors.Is(err, bus.ErrConflict) { // it was seen just now, by another question
			return nil
		}
		return err
	})
	return nil, err
}

// readAlive reads a sign of life. Before instances had entries of their own, it was the secret alone.
func readAlive(agent string, body []byte) (schemas.Alive, error) {
	said := schemas.Alive{Instance: string(body)}
	if bytes.HasPrefix(body, []byte("{")) {
		said = schemas.Alive{}
		if err := schemas.Unmarshal(body, &said); err != nil {
			return said, fmt.Errorf("the sign of life of %s cannot be read", agent)
		}
	}
	if said.ID == "" {
		said.ID = schemas.DefaultInstanceID
	}
	if !schemas.ValidInstanceID(said.ID) {
		return said, fmt.Errorf("the sign of life of %s: its id has to be 1 to 64 letters, digits, _ and -", agent)
	}
	return said, nil
}

// healthOf returns the health of a process that has given a sign of life.
func healthOf(before *schemas.AgentHealth, said *schemas.Alive, now time.Time) *schemas.AgentHealth {
	if said.Problem == "" {
		return nil
	}
	health := schemas.AgentHealth{Problem: oneLine(said.Problem), Since: now, Answers: said.Answers}
	if before != nil {
		health.Since = before.Since
	}
	return &health
}

// oneLine makes what a stranger says fit to be shown.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxProblem)], "")
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, text)
}

// leave forgets a process that ends, unless it is the only one: then it is known since when the agent is gone.
func (r registry) leave(ctx context.Context, agent, id string) error {
	if len(r.standing.processes(agent)) <= 1 {
		return nil
	}
	return r.forget(ctx, agent, id)
}

func (r registry) forget(ctx context.Context, agent, id string) error {
	if err := r.store.Delete(ctx, InstanceKey(agent, id)); err != nil {
		return err
	}
	r.standing.gone(agent, id)
	return nil
}

// Instances returns the processes of an agent, in order of their ids.
func Instances(ctx context.Context, core bus.Core, agent string) ([]schemas.Agent, error) {
	return instances(ctx, core.KeyValue(bus.AgentBucket), agent)
}

func instances(ctx context.Context, store bus.KeyValue, agent string) ([]schemas.Agent, error) {
	values, err := store.Below(ctx, instancePrefix+agent+".")
	if err != nil {
		return nil, fmt.Errorf("read the processes of agent %s: %w", agent, err)
	}
	known, err := readInstances(values)
	return known[agent], err
}

// makeRoom forgets processes that are silent for long, so that there is room for one that may be new. It goes by what is in mind:
// an agent may announce 64 processes by 64 KiB each, 20 times a second.
func (r registry) makeRoom(ctx context.Context, agent, id string) error {
	known := slices.DeleteFunc(r.standing.processes(agent), func(one process) bool { return one.id == id })
	slices.SortFunc(known, func(a, b process) int { return cmp.Or(a.seen.Compare(b.seen), strings.Compare(a.id, b.id)) })
	for now := r.clock(); len(known) > 0; known = known[1:] {
		silent := now.Sub(known[0].seen)
		if silent <= AliveWithin || silent <= forgetAfter && len(known) < maxInstances {
			break
		}
		if err := r.forget(ctx, agent, known[0].id); err != nil {
			return err
		}
	}
	if len(known) >= maxInstances {
		return &bus.TemporaryError{Op: "announce", Err: fmt.Errorf("agent %s has %d processes already", agent, maxInstances)}
	}
	return nil
}

// readInstances reads the entries of processes, by agent and in order of their ids.
func readInstances(values map[string][]byte) (map[string][]schemas.Agent, error) {
	known := map[string][]schemas.Agent{}
	for key, value := range values {
		agent, id, ok := instanceOf(key)
		if !ok {
			continue
		}
		var entry schemas.Agent
		if err := schemas.Unmarshal(value, &entry); err != nil {
			return nil, &bus.MalformedError{Detail: "the registry's " + key, Err: err}
		}
		entry.Name, entry.ID = agent, id
		known[agent] = append(known[agent], entry)
	}
	for _, entries := range known {
		slices.SortFunc(entries, func(a, b schemas.Agent) int { return strings.Compare(a.ID, b.ID) })
	}
	return known, nil
}
