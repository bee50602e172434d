package embedded

import "strings"

// What an agent may publish to and listen to.
var (
	AgentPublishes  = agentPublishes
	AgentSubscribes = agentSubscribes
)

// InCore returns what a subject of an agent is in the core account.
func InCore(subject string) string {
	if rest, ok := strings.CutPrefix(subject, APIPrefix); ok {
		return jetStreamAPI + rest
	}
	return subject
}
