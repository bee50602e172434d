package schemas

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Profile is how one kind of session is handled: all policy, no code. A
// run pins the profile that it began with by the SHA-256 of its canonical JSON.
type Profile struct {
	Name     string `json:"name"`
	Language string `json:"language"` // of answers: a tag such as "de", or LanguageOfWriter
	// CheckLanguage has results that are in another language than the answer asked for again (G-27).
	CheckLanguage LanguageCheck `json:"check_language,omitzero"`
	// Stream has whoever writes by chat see the text of an answer while an agent still works on it (O-35).
	Stream     bool             `json:"stream,omitzero"`
	Agents     []AgentUse       `json:"agents"`  // the closed set that may be dispatched to
	Routers    []Router         `json:"routers"` // asked in order; the first that decides wins
	Complexity *ComplexityRules `json:"complexity,omitzero"`
	// Planner says where plans come from. Absent: rules when there is a
	// complexity check and the execution is a sequence, else none.
	Planner      *Planner           `json:"planner,omitzero"`
	Execution    Execution          `json:"execution"`
	Retry        Retry              `json:"retry"`    // of a task
	Delivery     Retry              `json:"delivery"` // of an answer
	Deadlines    Deadlines          `json:"deadlines"`
	Conversation ConversationPolicy `json:"conversation,omitzero"`
	// Replan has an agent judge, as a run goes on, whether its plan still holds. Nobody is asked without it.
	Replan *Replan `json:"replan,omitzero"`
	// Review has what a run has made looked at, and Summary has it told in one text.
	Review  *Review       `json:"review,omitzero"`
	Summary *Summary      `json:"summary,omitzero"`
	Context ContextPolicy `json:"context,omitzero"`
	// Waiting lets runs wait for people. Nobody is asked anything without it.
	Waiting *WaitingPolicy `json:"waiting,omitzero"`
	// People are those who work or decide for the profile, by name.
	People map[string]Person `json:"people,omitzero"`
	// Approval are the rules by which people agree before agents work: for a task the first that matches.
	Approval []ApprovalRule `json:"approval,omitzero"`
	// Recovery says by category of a failure, or as RecoveryDefault, what is done once attempts and fallback are used up, and Escalation who is asked. What
	// neither says is told to whoever has begun the run.
	Recovery   map[string]RecoveryWay `json:"recovery,omitzero"`
	Escalation *Escalation            `json:"escalation,omitzero"`
	// Budget is what runs may use. Nothing is counted, and nothing limited, without it.
	Budget *Budget `json:"budget,omitzero"`
	// Timezone is where days begin and hours are told, by its IANA name; UTC when empty.
	Timezone string `json:"timezone,omitzero"`
	// Languages holds the words for people. They are pinned with the rest, so
	// that a change of wording does not change what an old run is seen to say.
	Languages []Language `json:"languages"`
}

// A LanguageCheck is how a profile finds out in which language a text is: nothing, CheckWords, or the name of a way of judging texts, by which
// everything that agents say to people is judged. A name stands for the same judgement for ever.
type LanguageCheck string

// CheckWords goes by the markers of the profile's languages. Profiles have it as true.
const CheckWords LanguageCheck = "words"

// Texts reports whether texts are judged by more than markers.
func (c LanguageCheck) Texts() bool { return c != "" && c != CheckWords }

// MarshalJSONTo implements json.MarshalerTo.
func (c LanguageCheck) MarshalJSONTo(encoder *jsontext.Encoder) error {
	if c == "" || c == CheckWords {
		return encoder.WriteToken(jsontext.Bool(c == CheckWords))
	}
	return encoder.WriteToken(jsontext.String(string(c)))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *LanguageCheck) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	token, err := decoder.ReadToken()
	switch {
	case err != nil:
		return err
	case token.Kind() == 't':
		*c = CheckWords
	case token.Kind() == 'f':
		*c = ""
	case token.Kind() == '"' && LanguageCheck(token.String()).Texts():
		*c = LanguageCheck(token.String())
	default:
		return fmt.Errorf("check_language is true, false or the name of a way of judging texts, and not %s", token)
	}
	return nil
}

// A ContextPolicy bounds what requests tell of the conversation.
type ContextPolicy struct {
	Messages int `json:"messages,omitzero"` // earlier ones, at most MaxConversationMessages; 0 is none
	Bytes    int `json:"bytes,omitzero"`    // of their words together; the oldest are cut first
}

// MailDelivery is the agent that sends mail.
const MailDelivery = "mail"

// MaxConversationMessages is how many earlier messages a session remembers.
const MaxConversationMessages = 8

// LanguageOfWriter as a profile's language means: answer as the message is written.
const LanguageOfWriter = "user"

// AgentUse is one agent of a profile.
type AgentUse struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"` // what it can do: for planners, model routers and the score
	// Kinds are those of the requests that it answers; none is KindWork. With KindAssess it is asked
	// how well it could do a task; without, its Capabilities say so.
	Kinds        []RequestKind `json:"kinds,omitzero"`
	Capabilities []Capability  `json:"capabilities,omitzero"`

	Work Duration `json:"work,omitzero"` // instead of Deadlines.Work
	// Heartbeat is how often it promises a sign of life while it works. After
	// three that did not come it has crashed (M-47). Zero promises nothing.
	Heartbeat Duration `json:"heartbeat,omitzero"`
	// Async says that it may answer long after it was asked, by a callback: it may suspend its signs of life
	// (ProgressPayload.WaitingUntil), and what it says to an earlier attempt counts for the one under way.
	Async bool `json:"async,omitzero"`
	// Supervisor says that it lets go of a request as soon as it has taken it over: what it waits with, as it says
	// (ProgressPayload.WaitingUntil), takes no place at it, and its silence is no crash meanwhile.
	Supervisor bool `json:"supervisor,omitzero"`

	Fallback string `json:"fallback,omitzero"` // who is asked when its attempts are used up (P-16)
	// Reuse is how long a result of it may answer the same request again
	// (M-29). Zero is never.
	Reuse       Duration  `json:"reuse,omitzero"`
	SideEffects string    `json:"side_effects,omitzero"` // SideEffectsExternal: it asks for a permit first
	OnUnknown   OnUnknown `json:"on_unknown,omitzero"`   // for agents with side effects; resend when empty
	// OnTainted is for agents with side effects; ask when empty. Action says how far it is known what they
	// would do: unless it is, all that they are asked counts as tainted.
	OnTainted OnTainted   `json:"on_tainted,omitzero"`
	Action    ActionKnown `json:"action,omitzero"`
	// InputSchema is that of task.context.arguments (G-14), OutputSchema that of
	// result.data (M-27); JSON Schema 2020-12.
	InputSchema  jsontext.Value `json:"input_schema,omitzero"`
	OutputSchema jsontext.Value `json:"output_schema,omitzero"`
	// Arguments says how the arguments of its tasks are filled from what people write: the Spec of
	// package supervisor/arguments as JSON. Nothing is filled without it.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	// Person, unless nil, says that people do its tasks.
	Person *PersonPolicy `json:"person,omitzero"`
	// Extractor is who is asked for arguments that nothing else has filled: an agent that answers KindExtract.
	Extractor string `json:"extractor,omitzero"`
	// Render tells data without text to a person: a template (Go text/template) over the data.
	// Without it the data is told line by line.
	Render string `json:"render,omitzero"`
	// Verdict, unless nil, says where its data tells that what it has looked at is not right.
	Verdict *Verdict `json:"verdict,omitzero"`
	// Unavailable, unless empty, says why it is not asked now: planners and judges are told, and so is whoever needs it.
	Unavailable string `json:"unavailable,omitzero"`
}

// Declares reports whether an agent is asked for a kind.
func (u *AgentUse) Declares(kind RequestKind) bool {
	return slices.Contains(u.Kinds, kind) || len(u.Kinds) == 0 && kind.IsWork()
}

// SideEffectsExternal marks an agent that reaches people or systems outside.
const SideEffectsExternal = "external"

// OnUnknown says what happens when an effect was permitted and it is not known
// whether it has happened.
type OnUnknown string

// What happens then.
const (
	OnUnknownResend OnUnknown = "resend" // permitted again, under the same effect id
	OnUnknownAsk    OnUnknown = "ask"    // refused: the task fails, and whoever asked for it is told
)

// OnTainted says what becomes of an effect outside that stems from what comes from outside: from the words of people who
// may not say what is done. What stands in the profile itself does not.
type OnTainted string

// What becomes of it.
const (
	OnTaintedAllow  OnTainted = "allow"  // it happens
	OnTaintedAsk    OnTainted = "ask"    // it waits until a person agrees, by an ApprovalRule that is tainted; without one it is refused
	OnTaintedRefuse OnTainted = "refuse" // it never happens
)

// ActionKnown says how it is known what an agent would do outside.
type ActionKnown string

// How it is known. Empty: not at all.
const (
	ActionArguments ActionKnown = "arguments" // it does what its arguments say, and sees nothing else
	ActionNamed     ActionKnown = "named"     // it names it when it asks for its permit, and does nothing outside before
)

// A Language is what Podium itself says to people in one language.
type Language struct {
	Tag     string   `json:"tag"`     // BCP 47 primary tag
	Markers []string `json:"markers"` // frequent small words that give the language away
	// Decimal stands between the whole and the fraction of a number; a point when empty.
	Decimal string `json:"decimal,omitzero"`
	// Withdraw are whole messages by which somebody who is asked takes the request back, without marks.
	Withdraw []string `json:"withdraw,omitzero"`
	// Assent and Decline are what an answer begins with that agrees to what was offered, or does not. Courtesy are words beside these and Withdraw
	// that say nothing; behind one of Closings a name may stand. Without Courtesy a withdrawal is one of its phrases, and nothing else.
	Assent   []string `json:"assent,omitzero"`
	Decline  []string `json:"decline,omitzero"`
	Courtesy []string `json:"courtesy,omitzero"`
	Closings []string `json:"closings,omitzero"`
	// Date is how a day is written, as that of 2 January 2006: 02.01.2006; as in ISO 8601 when empty.
	Date string `json:"date,omitzero"`
	// Approve and Reject are the words that decide what somebody is asked to agree to: one alone, as the first line.
	Approve []string `json:"approve,omitzero"`
	Reject  []string `json:"reject,omitzero"`
	// Choices are the words that decide what is done about a failure, by what they choose.
	Choices map[InquiryChoice][]string `json:"choices,omitzero"`
	// Raise are the words that raise a budget: one alone as the first line, or with a number behind it.
	Raise []string `json:"raise,omitzero"`
	Texts Texts    `json:"texts"`
	// Sentences are the profile's own instead of those of package say, by their keys.
	Sentences map[string]string `json:"sentences,omitzero"`
}

// Texts are the sentences of one language. "{detail}", "{task}" and "{agent}" stand for what the sentence is about.
type Texts struct {
	TaskFailed string `json:"task_failed"` // a step could not be done, and Detail says why
	Timeout    string `json:"timeout"`     // nobody answered in time
	NoRoute    string `json:"no_route"`    // nobody is responsible
	Cancelled  string `json:"cancelled"`   // a person stopped it
	Partial    string `json:"partial"`     // above results that are not everything asked for
	Empty      string `json:"empty"`       // the work is done and has no words of its own
	// UnknownEffect: nobody knows whether it was done; TaskFailed when empty.
	UnknownEffect string `json:"unknown_effect,omitzero"`
	// Unavailable: the agent has failed too often to be asked now; Timeout when empty.
	Unavailable string `json:"unavailable,omitzero"`
	// Undecided: who was to say who is responsible could not be asked; NoRoute when empty.
	Undecided string `json:"undecided,omitzero"`
	// Unserved and UnservedSince: nobody serves the agent that is waited for, last there "{since}". Nothing is said when they are empty.
	Unserved      string `json:"unserved,omitzero"`
	UnservedSince string `json:"unserved_since,omitzero"`
	// What data is told with, and what stands above what agents say beside their results.
	Yes             string `json:"yes,omitzero"`
	No              string `json:"no,omitzero"`
	More            string `json:"more,omitzero"`            // below data of which "{count}" parts are in a file alone
	LeftOut         string `json:"left_out,omitzero"`        // below data of which "{count}" parts are left out
	Recommendations string `json:"recommendations,omitzero"` // above what agents recommend
	Findings        string `json:"findings,omitzero"`        // above what agents have noticed
	CheckFailed     string `json:"check_failed,omitzero"`    // a check of "{validator}" has failed
	// Missing asks for what a task lacks, "{missing}"; Unsure for what can be read in several ways, "{readings}".
	Missing string `json:"missing,omitzero"`
	Unsure  string `json:"unsure,omitzero"`
	// Understood asks whether what was read is meant, "{understood}", and says which word takes all of it; Unsure when empty.
	Understood string `json:"understood,omitzero"`
	// Withdrawn tells somebody who takes their request back that nothing was done; Cancelled when empty.
	Withdrawn string `json:"withdrawn,omitzero"`
	// Unfit tells that what was said, "{said}", is not what is needed; OneOf, Number, Date, AtLeast and AtMost tell what is.
	Unfit   string `json:"unfit,omitzero"`
	OneOf   string `json:"one_of,omitzero"` // "{choices}"
	Number  string `json:"number,omitzero"`
	Date    string `json:"date,omitzero"`
	AtLeast string `json:"at_least,omitzero"` // "{bound}"
	AtMost  string `json:"at_most,omitzero"`  // "{bound}"
	// Reminder stands above a question that is asked once more.
	Reminder string `json:"reminder,omitzero"`
	// Handed stands above work that a person is to do by answering, WrongLanguage above that once more.
	Handed        string `json:"handed,omitzero"`
	WrongLanguage string `json:"wrong_language,omitzero"`
	// Approval asks whether "{agent}" may do "{work}", and says that "{approve}" and "{reject}" decide; Indecisive that what was said
	// decides nothing.
	Approval   string `json:"approval,omitzero"`
	Sending    string `json:"sending,omitzero"`  // asks whether the answer "{work}" may be sent to "{recipients}"; else as Approval
	Together   string `json:"together,omitzero"` // tells that "{need}" persons have to agree
	Editing    string `json:"editing,omitzero"`  // tells how arguments are changed: by "{change}"
	Indecisive string `json:"indecisive,omitzero"`
	// Escalation tells that "{work}" of "{agent}" has failed after so many "{attempts}", why ("{detail}"), and the "{choices}". ChoiceRetry and those behind it
	// tell one of these, by its "{word}".
	Escalation   string `json:"escalation,omitzero"`
	ChoiceRetry  string `json:"choice_retry,omitzero"`
	ChoiceSkip   string `json:"choice_skip,omitzero"`
	ChoiceAnswer string `json:"choice_answer,omitzero"`
	ChoiceReplan string `json:"choice_replan,omitzero"`
	ChoiceEnd    string `json:"choice_end,omitzero"`
	// Budget asks for more of a budget: "{taken}" of "{limit}" are taken, "{work}" of "{agent}" needs "{need}", and
	// "{raise}" grants "{offer}". Tokens and Cost tell an "{amount}".
	Budget string `json:"budget,omitzero"`
	// DayBudget tells the same of the budget of a day; Budget when empty.
	DayBudget string `json:"day_budget,omitzero"`
	Tokens    string `json:"tokens,omitzero"`
	Cost      string `json:"cost,omitzero"`
	// ReviewFailed: what was done is not right; TaskFailed when empty.
	ReviewFailed string `json:"review_failed,omitzero"`
	// Untold stands for what was done, and is told in another language alone; Empty when empty.
	Untold string `json:"untold,omitzero"`
	// Farewell answers who ends the conversation, by the choice FINISH; there is no text when it is empty.
	Farewell string `json:"farewell,omitzero"`
}

// A Router is one way to choose an agent.
type Router struct {
	Kind   RouterKind     `json:"kind"`
	Mode   KeywordOrder   `json:"mode,omitzero"`   // keywords: which group wins
	Groups []KeywordGroup `json:"groups,omitzero"` // keywords
	Agent  string         `json:"agent,omitzero"`  // default: the agent; agent: the one that is asked to route
	// Score: SelfWeight of the agents' assessments of themselves and KeywordWeight of the overlap of words (P-06), both 0–1.
	// An agent that is silent until the deadline, or declares nothing of a task's words, counts as Silent (P-09).
	// An agent that the plan suggests is taken from Floor on (P-08); below Least nobody is.
	SelfWeight    float64  `json:"self_weight,omitzero"`
	KeywordWeight float64  `json:"keyword_weight,omitzero"`
	Silent        float64  `json:"silent,omitzero"`
	Floor         float64  `json:"floor,omitzero"`
	Least         float64  `json:"least,omitzero"`
	Deadline      Duration `json:"deadline,omitzero"` // score and agent: how long answers are waited for (G-31)
}

// RouterKind names a router.
type RouterKind string

// The routers.
const (
	RouterAssigned RouterKind = "assigned" // the plan names the agent
	RouterKeywords RouterKind = "keywords"
	RouterScore    RouterKind = "score" // assessments and words, weighted
	RouterAgent    RouterKind = "agent" // another agent decides
	RouterDefault  RouterKind = "default"
)

// ComplexityRules says when a text becomes a plan of several steps (O-17…O-21).
type ComplexityRules struct {
	Verbs    []Keyword `json:"verbs"`             // action verbs; two distinct ones make a plan
	Patterns []string  `json:"patterns,omitzero"` // RE2, matched on the folded text
	// Separators split the text into steps, besides the verbs: words such as "then".
	Separators []string `json:"separators,omitzero"`
}

// A Planner says where the plan of a run comes from.
type Planner struct {
	Kind PlannerKind `json:"kind"`
	// Agent is asked for the plan, when the kind is agent; only for complex
	// texts when there is a complexity check.
	Agent     string     `json:"agent,omitzero"`
	Templates []Template `json:"templates,omitzero"` // the first that fits is taken
	// MaxTasks, MaxTokens and MaxSeconds bound a plan (M-16); 0 is no bound, but
	// for MaxTasks, where it is DefaultMaxTasks.
	MaxTasks   int `json:"max_tasks,omitzero"`
	MaxTokens  int `json:"max_tokens,omitzero"`  // sum of the estimates
	MaxSeconds int `json:"max_seconds,omitzero"` // critical path of the estimates
	// Otherwise says what happens when no usable plan comes; fail when empty.
	Otherwise PlannerFallback `json:"otherwise,omitzero"`
}

// DefaultMaxTasks bounds the tasks of a plan unless the profile does.
const DefaultMaxTasks = 256

// PlannerKind names a source of plans.
type PlannerKind string

// The sources of plans.
const (
	PlannerNone     PlannerKind = "none"     // one task
	PlannerRules    PlannerKind = "rules"    // the complexity check splits the text
	PlannerTemplate PlannerKind = "template" // a named graph of the profile
	PlannerAgent    PlannerKind = "agent"    // an agent is asked
	PlannerExternal PlannerKind = "external" // the plan comes with the request
)

// PlannerFallback says what a run does without a plan.
type PlannerFallback string

// What it does.
const (
	FallbackFail   PlannerFallback = "fail"   // it ends
	FallbackSingle PlannerFallback = "single" // it goes on with one task
)

// A Template is a named graph of tasks. "{name}" in descriptions and in strings
// of arguments stands for the parameter of that name, "{request}" for the words.
type Template struct {
	Name string `json:"name"`
	// Keywords pick it; none of them means that it fits every text.
	Keywords   []Keyword      `json:"keywords,omitzero"`
	Parameters []Parameter    `json:"parameters,omitzero"`
	Tasks      []TemplateTask `json:"tasks"`
}

// A Parameter is a value that a template takes from the text.
type Parameter struct {
	Name string `json:"name"`
	// Pattern is an RE2 expression on the text as written; the value is its
	// first group, or all of the match when it has none.
	Pattern  string `json:"pattern"`
	Default  string `json:"default,omitzero"`
	Required bool   `json:"required,omitzero"` // without a value the template does not fit
}

// A TemplateTask is one task of a template.
type TemplateTask struct {
	Task         string         `json:"task"`
	Description  string         `json:"description"`
	Agent        string         `json:"agent,omitzero"` // absent: it is routed
	Dependencies []string       `json:"dependencies,omitzero"`
	Priority     Priority       `json:"priority,omitzero"`
	Optional     bool           `json:"optional,omitzero"`
	Seconds      int            `json:"seconds,omitzero"` // estimate
	Tokens       int            `json:"tokens,omitzero"`  // estimate
	Resources    []string       `json:"resources,omitzero"`
	Arguments    jsontext.Value `json:"arguments,omitzero"` // an object
}

// Execution says how the tasks of a run are done.
type Execution struct {
	Mode ExecutionMode `json:"mode"`
	// MaxSteps bounds the steps of a plan by rules; the rest of the text stays with the last.
	MaxSteps int `json:"max_steps,omitzero"`
	// Steps bounds the steps of a run with a judge, see Profile.StepLimit.
	Steps int `json:"steps,omitzero"`
	// Schedule is ready when empty.
	Schedule Schedule `json:"schedule,omitzero"`
	// OnFailure says what becomes of the tasks behind one that failed for good; skip when empty.
	OnFailure OnFailure `json:"on_failure,omitzero"`
	// AllowedChains are the sequences of agents that mode single allows besides
	// one agent alone (G-04).
	AllowedChains [][]string `json:"allowed_chains,omitzero"`
	// ContextLimit bounds the bytes of other tasks' results in a request (P-11); 0 is DefaultContextLimit.
	ContextLimit int `json:"context_limit,omitzero"`
	Estimate     ETA `json:"eta,omitzero"` // critical_path when empty
}

// DefaultContextLimit bounds, in bytes, the results that a request carries.
const DefaultContextLimit = 1 << 20

// ExecutionMode is the shape of a run.
type ExecutionMode string

// The execution modes.
const (
	ExecutionSingle   ExecutionMode = "single"   // one task
	ExecutionSequence ExecutionMode = "sequence" // one after the other
	ExecutionDAG      ExecutionMode = "dag"      // as the dependencies allow
)

// Schedule says when a task of a graph may begin (M-24).
type Schedule string

// The schedules.
const (
	ScheduleReady  Schedule = "ready"  // when all that it depends on has ended
	ScheduleLevels Schedule = "levels" // when all of the level before has ended
)

// OnFailure says what a failed task means for the others.
type OnFailure string

// What it means.
const (
	FailureSkips     OnFailure = "skip"     // those that depend on it are skipped
	FailureContinues OnFailure = "continue" // they work with what is there
	FailureAborts    OnFailure = "abort"    // the run ends
)

// ETA says how the end of a run is foreseen (M-35).
type ETA string

// The ways to foresee it.
const (
	ETACriticalPath ETA = "critical_path" // longest remaining path times the slowdown so far
	ETASum          ETA = "sum"           // all remaining estimates times the slowdown so far
)

// ConversationPolicy says what a message means that comes while a run is under way, and
// what a session remembers.
type ConversationPolicy struct {
	WhileRunning WhileRunning `json:"while_running,omitzero"` // queue when empty
	// RepliesPerHour bounds the answers by mail to one correspondent of a session; 0 is
	// DefaultRepliesPerHour, and it is at most MaxRepliesPerHour.
	RepliesPerHour int `json:"replies_per_hour,omitzero"`
	// Answer says whose mail is answered; AnswerEverybody when empty.
	Answer AnswerPolicy `json:"answer,omitzero"`
	// Entities are kept for the session, handed to every agent, and checked
	// in what they answer (G-29, G-30).
	Entities []Entity `json:"entities,omitzero"`
	// Urgent are keywords of which one in the words of whoever is asked makes them no
	// answer, but a message that takes the place of the run that asks.
	Urgent []Keyword `json:"urgent,omitzero"`
}

// The bounds of ConversationPolicy.RepliesPerHour. Programs that answer programs do so
// without an end, and not all of them say what they are (RFC 3834).
const (
	DefaultRepliesPerHour = 3
	MaxRepliesPerHour     = 60
)

// AnswerPolicy says whose mail is answered, by what is known of its origin. An answer may
// carry words of the mail, and goes to whom that names.
type AnswerPolicy string

// Whose mail is answered. Mail whose origin nobody checks always is.
const (
	// AnswerProven: mail that somebody trusted vouches for. What nobody vouches for is
	// worked on, and its answer is withheld; what is refuted is not worked on.
	AnswerProven AnswerPolicy = "proven"
	// AnswerUnrefuted: all but what is refuted, which is not worked on.
	AnswerUnrefuted AnswerPolicy = "unrefuted"
	// AnswerEverybody: all mail.
	AnswerEverybody AnswerPolicy = "everybody"
)

// Withheld returns why mail of an origin is not answered; empty when it is.
func (a AnswerPolicy) Withheld(origin MailOrigin) WithheldReason {
	switch {
	case origin == OriginRefuted && (a == AnswerProven || a == AnswerUnrefuted):
		return WithheldRefuted
	case origin == OriginUnproven && a == AnswerProven:
		return WithheldUnproven
	}
	return ""
}

// WhileRunning says what becomes of a message that comes while a run is under way.
type WhileRunning string

// What becomes of it.
const (
	WhileRunningQueue     WhileRunning = "queue"     // it is a run of its own, after this one
	WhileRunningMerge     WhileRunning = "merge"     // all that wait become one run
	WhileRunningSupersede WhileRunning = "supersede" // it ends the run under way and takes its place
)

// An Entity is something that a session is about, such as a customer's number.
type Entity struct {
	Name    string `json:"name"`    // its name in requests, and in the data of results
	Pattern string `json:"pattern"` // RE2 on the text as written; the first group, or the match
}

// Retry says what happens when an attempt fails (G-32).
type Retry struct {
	Attempts int      `json:"attempts"` // 1 means no retry
	Wait     Duration `json:"wait"`     // before the second attempt; doubles each time, up to MaxRetryWait
	// TimeoutGrowth multiplies the work deadline with each attempt of a task
	// (M-26); 0 is 1.
	TimeoutGrowth float64 `json:"timeout_growth,omitzero"`
	// OnUnknown is for the delivery: what happens when nobody knows whether an
	// answer was delivered; resend when empty.
	OnUnknown OnUnknown `json:"on_unknown,omitzero"`
	// OnTainted is for the delivery of answers to what comes from outside; allow when empty.
	OnTainted OnTainted `json:"on_tainted,omitzero"`
}

// MaxRetryWait bounds the doubling of a retry's wait.
const MaxRetryWait = Duration(5 * time.Minute)

// Redelivery is how long the bus waits for a sign of life of whoever works on a request before it hands it to somebody else. Deciding stands on it.
const Redelivery = 15 * time.Second

// Deadlines bounds the waits of a task.
type Deadlines struct {
	Queue Duration `json:"queue"`         // until an agent begins
	Work  Duration `json:"work"`          // from then until it answers; at least three times the task's estimate
	Run   Duration `json:"run,omitzero"`  // for all of a run's work; 0 is no bound
	Plan  Duration `json:"plan,omitzero"` // until a planner has answered; 0 is Work
}
