package supervisor

import (
	"testing"

	"podium/schemas"
)

// TestNobodyAsksForAnAgentThatIsThere: conversations that wanted to know since when an
// agent is away are not kept for it once it is back, or once nothing waits for it.
func TestNobodyAsksForAnAgentThatIsThere(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(o *Owner, p *pool){
		"it is back":           func(o *Owner, p *pool) { o.present("worker", p) },
		"nothing waits for it": func(o *Owner, _ *pool) { o.lookAround(t.Context()) },
	} {
		p := &pool{agent: watchedAgent{absent: &schemas.Absence{Agent: "worker"}, asking: []*conversation{{}}}}
		o := &Owner{pools: map[string]*pool{"worker": p}, absentees: 1, lookDue: true}
		if happens(o, p); len(p.agent.asking) > 0 {
			t.Errorf("%s: a conversation is kept", name)
		}
	}
}
