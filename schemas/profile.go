package schemas

import "time"

// A Profile is how one kind of conversation is handled: all policy, no code. A
// run pins the profile that it began with by the SHA-256 of its canonical JSON.
type Profile struct {
	Name       string        `json:"name"`
	Language   string        `json:"language"` // of answers: a tag such as "de", or LanguageOfWriter
	Agents     []AgentUse    `json:"agents"`   // the closed set that may be dispatched to
	Routers    []Router      `json:"routers"`  // asked in order; the first that decides wins
	Complexity *Complexities `json:"complexity,omitzero"`
	Execution  Execution     `json:"execution"`
	Retry      Retry         `json:"retry"`    // of a task
	Delivery   Retry         `json:"delivery"` // of an answer
	Deadlines  Deadlines     `json:"deadlines"`
	// Languages holds the words for people. They are pinned with the rest, so
	// that a change of wording does not change what an old run is seen to say.
	Languages []Language `json:"languages"`
}

// LanguageOfWriter as a profile's language means: answer as the message is written.
const LanguageOfWriter = "user"

// AgentUse is one agent of a profile.
type AgentUse struct {
	Name string   `json:"name"`
	Work Duration `json:"work,omitzero"` // instead of Deadlines.Work
}

// A Language is what Podium itself says to people in one language.
type Language struct {
	Tag     string   `json:"tag"`     // BCP 47 primary tag
	Markers []string `json:"markers"` // frequent small words that give the language away
	Texts   Texts    `json:"texts"`
}

// Texts are the sentences of one language. "{detail}", "{task}" and "{agent}"
// stand for what the sentence is about.
type Texts struct {
	TaskFailed string `json:"task_failed"` // a step could not be done, and Detail says why
	Timeout    string `json:"timeout"`     // nobody answered in time
	NoRoute    string `json:"no_route"`    // nobody is responsible
	Cancelled  string `json:"cancelled"`   // a person stopped it
	Partial    string `json:"partial"`     // above results that are not everything asked for
	Empty      string `json:"empty"`       // the work is done and has no words of its own
}

// A Router is one way to choose an agent.
type Router struct {
	Kind   RouterKind     `json:"kind"`
	Mode   KeywordOrder   `json:"mode,omitzero"`   // keywords: which group wins
	Groups []KeywordGroup `json:"groups,omitzero"` // keywords
	Agent  string         `json:"agent,omitzero"`  // default: the agent
}

// RouterKind names a router.
type RouterKind string

// The routers.
const (
	RouterAssigned RouterKind = "assigned" // the plan names the agent
	RouterKeywords RouterKind = "keywords"
	RouterDefault  RouterKind = "default"
)

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
}

// A Keyword is words to look for. Case, Unicode form and umlaut spelling
// ("ü", "ue") make no difference.
type Keyword struct {
	Word string      `json:"word"`
	Mode KeywordMode `json:"mode"`
	// Except lists words, folded alike, in which the keyword does not count.
	Except []string `json:"except,omitzero"`
	// Shared marks a word that also belongs to another group: alone it does not
	// decide against a group that hit a word of its own (G-24).
	Shared bool `json:"shared,omitzero"`
}

// KeywordMode says where in a word a keyword counts (O-08, O-09, G-25).
type KeywordMode string

// The keyword modes.
const (
	ModeWord   KeywordMode = "word"   // a whole word
	ModePrefix KeywordMode = "prefix" // the beginning of a word: stems
)

// Complexities says when a text becomes a plan of several steps (O-17…O-21).
type Complexities struct {
	Verbs    []Keyword `json:"verbs"`             // action verbs; two distinct ones make a plan
	Patterns []string  `json:"patterns,omitzero"` // RE2, matched on the folded text
	// Separators split the text into steps, besides the verbs: words such as "then".
	Separators []string `json:"separators,omitzero"`
}

// Execution says how the tasks of a run are done.
type Execution struct {
	Mode ExecutionMode `json:"mode"`
	// MaxSteps bounds the steps of a plan; the rest of the text stays with the last.
	MaxSteps int `json:"max_steps,omitzero"`
}

// ExecutionMode is the shape of a run.
type ExecutionMode string

// The execution modes.
const (
	ExecutionSingle   ExecutionMode = "single"   // one task
	ExecutionSequence ExecutionMode = "sequence" // one after the other
)

// Retry says what happens when an attempt fails (G-32).
type Retry struct {
	Attempts int      `json:"attempts"` // 1 means no retry
	Wait     Duration `json:"wait"`     // before the second attempt; doubles each time, up to MaxRetryWait
}

// MaxRetryWait bounds the doubling of a retry's wait.
const MaxRetryWait = Duration(5 * time.Minute)

// Deadlines bounds the waits of a task.
type Deadlines struct {
	Queue Duration `json:"queue"` // until an agent begins
	Work  Duration `json:"work"`  // from then until it answers
}
