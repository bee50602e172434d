package embedded

import (
	"strings"

	"podium/bus/jetstream"
)

// What an agent may publish to and listen to.
var (
	AgentPublishes  = agentPublishes
	AgentSubscribes = agentSubscribes
)

// RootFault is how root is kept off the ledger of another user.
var RootFault = rootFault

// InCore returns what a subject of an agent may be in the core account: for one of our
// own agents, and for an external one.
func InCore(subject string) []string {
	if agent, ok := strings.CutPrefix(subject, APIPrefix+strings.TrimSuffix(consumerInfo, "*")); ok {
		return []string{jetStreamAPI + strings.TrimSuffix(consumerInfo, "*") + agent, gateSubject + agent + "." + jetstream.GateConsumer}
	}
	if rest, ok := strings.CutPrefix(subject, APIPrefix); ok {
		return []string{jetStreamAPI + rest}
	}
	if rest, ok := strings.CutPrefix(subject, agentSubject); ok {
		return []string{subject, gateSubject + rest}
	}
	return []string{subject}
}
