package schemas

// A RouteDecision says which agent does a task, and why no other (O-11, O-16).
type RouteDecision struct {
	NextAgent  string      `json:"next_agent"`         // RouteRespond and RouteFinish are not agents
	Reasoning  string      `json:"reasoning"`          // English, for the log
	Response   string      `json:"response,omitzero"`  // only with RouteRespond
	Router     string      `json:"router"`             // the router that decided
	Degraded   bool        `json:"degraded,omitzero"`  // a default stood in for a router that did not answer
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
