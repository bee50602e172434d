package schemas

// A RouteDecision says which agent does a task, and why no other (O-11, O-16).
type RouteDecision struct {
	NextAgent  string      `json:"next_agent"`         // RouteRespond and RouteFinish are not agents
	Reasons    []Reason    `json:"reasons,omitzero"`   // what was tried, and why it was decided so
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
	// Lost is why it was not chosen; empty for the winner.
	Lost []Reason `json:"lost,omitzero"`
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
	Complex bool     `json:"complex"`
	Reasons []Reason `json:"reasons,omitzero"`
	Verbs   []Match  `json:"verbs,omitzero"`
	Pattern string   `json:"pattern,omitzero"` // the first multi-step pattern that matched
}

// KeywordOrder says which group wins when several hit (O-16, G-24).
type KeywordOrder string

// The keyword orders.
const (
	OrderConfigured KeywordOrder = "order"    // the first group that hits
	OrderPriority   KeywordOrder = "priority" // the group with the smallest Priority
	OrderScore      KeywordOrder = "score"    // the group with most distinct keywords hit, then order
)

// A KeywordGroup sends texts to an agent.
type KeywordGroup struct {
	Name     string    `json:"name"`
	Agent    string    `json:"agent"`
	Priority int       `json:"priority,omitzero"` // 1 wins over 2
	Keywords []Keyword `json:"keywords"`
	// SourceBonus weighs where the message of the run comes from (ChannelEmail, …), once the group is hit (G-26): in OrderScore it counts as so many
	// more keywords, in OrderPriority it is taken from the Priority.
	SourceBonus map[string]int `json:"source_bonus,omitzero"`
}

// MaxSourceBonus bounds KeywordGroup.SourceBonus.
const MaxSourceBonus = 1000

// A Keyword is words to look for. Case, Unicode form and umlaut spelling
// ("ü", "ue") make no difference.
type Keyword struct {
	Word string      `json:"word"` // in mode regex: an RE2 expression
	Mode KeywordMode `json:"mode"`
	// Except lists words, folded alike, in which the keyword does not count.
	Except []string `json:"except,omitzero"`
	// Shared marks a word that also belongs to another group: alone it does not
	// decide against a group that hit a word of its own (G-24).
	Shared bool `json:"shared,omitzero"`
}

// Written returns the keyword as a configuration file has it: "cation*", "~invoices", "/rechnung \d+/". A word of mode compound
// has no mark.
func (k Keyword) Written() string {
	switch k.Mode {
	case ModePrefix:
		return k.Word + "*"
	case ModeSuffix:
		return "*" + k.Word
	case ModeSubstring:
		return "*" + k.Word + "*"
	case ModeNear:
		return "~" + k.Word
	case ModeRegex:
		return "/" + k.Word + "/"
	case ModeWord, ModeCompound:
	}
	return k.Word
}

// KeywordMode says where in a word a keyword counts (O-08, O-09, G-25).
type KeywordMode string

// The keyword modes.
const (
	ModeWord      KeywordMode = "word"      // a whole word
	ModePrefix    KeywordMode = "prefix"    // the beginning of a word: stems
	ModeSuffix    KeywordMode = "suffix"    // the end of a word
	ModeCompound  KeywordMode = "compound"  // a part of a compound: its end, or its beginning before another word
	ModeSubstring KeywordMode = "substring" // anywhere
	ModeNear      KeywordMode = "near"      // the beginning of a word, but for one slip of whoever has written it
	ModeRegex     KeywordMode = "regex"     // an RE2 expression on the folded text
)
