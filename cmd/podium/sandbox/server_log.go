package sandbox

import (
	"encoding/json"
	"strings"
	"sync"
)

// serverLog reads what the server logs of the agent.
type serverLog struct {
	agent string

	mu    sync.Mutex
	tried []string
}

// Write implements io.Writer for lines of zerolog.
func (n *serverLog) Write(line []byte) (int, error) {
	var said struct{ Agent, Subject, Message string }
	if json.Unmarshal(line, &said) != nil || said.Agent != n.agent {
		return len(line), nil
	}
	var tried string
	switch {
	case strings.HasPrefix(said.Message, "Publish Violation"):
		tried = "it publishes to " + said.Subject + ", which it is not permitted"
	case strings.HasPrefix(said.Message, "Subscription Violation"):
		tried = "it subscribes to " + said.Subject + ", which it is not permitted"
	default:
		return len(line), nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tried = append(n.tried, tried)
	return len(line), nil
}

func (n *serverLog) violations() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.tried...)
}
