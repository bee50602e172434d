package schemas

// A RouteDecision says which agent does a task, and why no other (O-11, O-16).
type RouteDecision struct {
	NextAgent  string      `json:"next_agent"`         // RouteRespond and RouteFinish are not agents
	Reasoning  string      `json:"reasoning"`          // English, for the log
	Response   string      `json:"response,omitzero"`  // only with RouteRespond
	Router     string      `json:"router"`             // the router that decided
	Degraded   bool        `json:"degraded,omitzero"`  // a router that was asked gave no answer of use (G-31)
	Ambiguous  bool        `json:"ambiguous,omitzero"` // another candidate hit the same words (G-24)
	Candidates []Candidate `json:"candidates,omitzero"`
}

// The values of NextAgent that name no agent (O-13).
const (
	RouteRespond = "RESPOND"
	RouteFinish  = "FINISH"
)

// A Candidate is one agent that a router looked at.
type Candidate struct {
	Agent   string  `json:"agent"`
	Router  string  `json:"router"`
	Group   string  `json:"group,omitzero"`
	Score   float64 `json:"score"`
	Rank    int     `json:"rank,omitzero"` // the configured priority or order; 1 is first
	Matches []Match `json:"matches,omitzero"`
	Lost    string  `json:"lost,omitzero"` // why it was not chosen; empty for the winner
	// Said is why, in the words of the agent that was asked to route, at most
	// SaidLimit bytes. It may repeat the person's words: it is not for logs.
	Said string `json:"said,omitzero"`
}

// SaidLimit bounds Candidate.Said.
const SaidLimit = 1 << 10

// An Assessment is how well an agent says that it could do a task (P-06).
type Assessment struct {
	Agent    string  `json:"agent"`
	Score    float64 `json:"score"`    // 0–1
	Answered bool    `json:"answered"` // false: it was silent until the deadline, or its answer is of no use
}

// A Match is one keyword found in the text.
type Match struct {
	Keyword string `json:"keyword"`
	Text    string `json:"text"`  // the words as written
	Start   int    `json:"start"` // byte offsets into the text as received
	End     int    `json:"end"`
}

// A Complexity is what the complexity check found (O-17…O-21).
type Complexity struct {
	Complex bool    `json:"complex"`
	Reason  string  `json:"reason"` // English, for the log
	Verbs   []Match `json:"verbs,omitzero"`
	Pattern string  `json:"pattern,omitzero"` // the first multi-step pattern that matched
}
