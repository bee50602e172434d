package registry

import (
	"strings"

	"podium/bus"
	"podium/schemas"
)

// What AgentBucket holds of agents, by how its keys begin. No agent's name and no id of an instance holds a
// dot, so that no agent can write another key than its own.
const (
	instancePrefix   = "instance."   // instance.<agent>.<id>: a schemas.Agent
	policyPrefix     = "policy."     // policy.<agent>: a Policy
	revocationPrefix = "revocation." // revocation.<agent>: a schemas.Revocation
	breakerPrefix    = "breaker."    // breaker.<agent>: a schemas.Breaker
)

// InstanceKey is the key in AgentBucket of one process of an agent.
func InstanceKey(agent, id string) string { return instancePrefix + agent + "." + id }

// instanceOf returns whose entry a key holds; false when it is none.
func instanceOf(key string) (agent, id string, ok bool) {
	rest, is := strings.CutPrefix(key, instancePrefix)
	agent, id, dotted := strings.Cut(rest, ".")
	return agent, id, is && dotted && schemas.ValidAgentName(agent) && schemas.ValidInstanceID(id)
}

// BreakerKey is the key in AgentBucket of an agent's circuit breaker, which is a
// schemas.Breaker (M-28).
func BreakerKey(agent string) string { return breakerPrefix + agent }

// BreakerAgent returns the agent whose breaker a key of AgentBucket holds; false
// when it is another key.
func BreakerAgent(key string) (agent string, ok bool) {
	agent, ok = strings.CutPrefix(key, breakerPrefix)
	return agent, ok && schemas.ValidAgentName(agent)
}

// below reads all values of a kind, by the name of their agent.
func below[T any](values map[string][]byte, prefix string) (map[string]T, error) {
	found := make(map[string]T, len(values))
	for key, value := range values {
		agent, ok := strings.CutPrefix(key, prefix)
		if !ok || !schemas.ValidAgentName(agent) {
			continue // somebody else's
		}
		var read T
		if err := schemas.Unmarshal(value, &read); err != nil {
			return nil, &bus.MalformedError{Detail: "the registry's " + key, Err: err}
		}
		found[agent] = read
	}
	return found, nil
}
