package schemas

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// ArgumentsFilled holds the arguments that a task has, beside those that its plan gives it: the
// values themselves, since rules and time zones change and a request that is sent again must not.
type ArgumentsFilled struct {
	Run       int                       `json:"run"`
	Task      string                    `json:"task"`
	Agent     string                    `json:"agent"`              // whose schema they are for
	Values    jsontext.Value            `json:"values"`             // an object
	Sources   map[string]ArgumentSource `json:"sources,omitzero"`   // by path: names with dots between
	Missing   []Need                    `json:"missing,omitzero"`   // what the agent's schema requires all the same
	Refused   []Reason                  `json:"refused,omitzero"`   // what was given and cannot be used
	Answers   int                       `json:"answers,omitzero"`   // to how many inquiries it was filled with
	Extracted bool                      `json:"extracted,omitzero"` // an extractor has had its say
	// Edited says that somebody who has agreed has changed them: they are for whoever does the task.
	Edited bool `json:"edited,omitzero"`
}

// ArgumentSource says whence an argument is.
type ArgumentSource string

// The sources of arguments.
const (
	ArgumentGiven     ArgumentSource = "given"
	ArgumentJSON      ArgumentSource = "json"
	ArgumentRule      ArgumentSource = "rule"
	ArgumentDefault   ArgumentSource = "default"
	ArgumentExtractor ArgumentSource = "extractor"
	ArgumentAnswer    ArgumentSource = "answer"
)

// A WaitingPolicy says how a run waits for what a person is asked.
type WaitingPolicy struct {
	Remind Duration `json:"remind,omitzero"` // after that they are asked once more; 0 is never
	Expire Duration `json:"expire"`          // after that nobody waits any more
	// Asks is how often a task asks its requester for what it lacks.
	Asks int `json:"asks"`
}

// A Person is somebody whom runs may ask. Who they are is read in the profile in force, and not in the one
// that a run is pinned to: whoever is not there any more decides nothing.
type Person struct {
	Mail    string `json:"mail"`    // their address
	Account string `json:"account"` // of the mail section, that writes to them
	// Chat is who they are in a chat; nil is nobody. Where a run comes from there they are asked in its thread.
	Chat *PersonInChat `json:"chat,omitzero"`
}

// A PersonInChat is who somebody is in a chat, as its provider says behind its signature.
type PersonInChat struct {
	Channel string `json:"channel"` // of the chat section
	User    string `json:"user"`    // the provider's id
}

// Is reports whether somebody who has written by a channel is that person.
func (p *PersonInChat) Is(channel string, author *Author) bool {
	return p != nil && author != nil && author.User != "" && p.User == author.User && p.Channel == channel
}

// A PersonPolicy says who does the tasks of an agent that is a person.
type PersonPolicy struct {
	People []string `json:"people"` // names; the word of one of them is enough
	Remind Duration `json:"remind,omitzero"`
	Expire Duration `json:"expire"`
}

// MaxAsks bounds WaitingPolicy.Asks, and MaxInquiries the inquiries of a run.
const (
	MaxAsks      = 5
	MaxInquiries = 64
)

// An ApprovalRule says which tasks wait until somebody agrees, or that answers do. All that it says has to hold. They agree to what the agent
// would be told, and it is told nothing else.
type ApprovalRule struct {
	Agents []string `json:"agents,omitzero"` // whose tasks; none with Delivery
	// Delivery is for what is sent to whoever has begun a run, and for no task.
	Delivery bool `json:"delivery,omitzero"`

	Seconds int `json:"seconds,omitzero"` // from this estimate of the plan on
	Tokens  int `json:"tokens,omitzero"`  // from this estimate of the plan on
	// Tainted is for what stems from what comes from outside, and lets happen what OnTaintedAsk has wait.
	Tainted bool `json:"tainted,omitzero"`
	// If is a JSON Schema of the arguments.
	If jsontext.Value `json:"if,omitzero"`
	// People are who may decide, by name or as ApprovingRequester. Whoever has begun the run decides nothing by their name.
	People []string `json:"people"`
	// Need is how many persons have to agree; 0 is one. One who says no is enough.
	Need   int      `json:"need,omitzero"`
	Remind Duration `json:"remind,omitzero"`
	Expire Duration `json:"expire"` // after that nobody has agreed
	// Sets are arguments of the agents that are true only where somebody has agreed by the rule, and false everywhere else, whoever has written them:
	// names of members, each with true.
	Sets map[string]bool `json:"sets,omitzero"`
}

// A RecoveryWay is what is done about a failure once attempts and fallback are used up.
type RecoveryWay string

// The ways.
const (
	WaySkip        RecoveryWay = "skip"        // the run goes on without the task
	WayHuman       RecoveryWay = "human"       // Escalation.Human is asked
	WayCoordinator RecoveryWay = "coordinator" // Escalation.Coordinator is asked
	WayRequester   RecoveryWay = "requester"   // whoever has begun the run is asked
	WayPlanner     RecoveryWay = "planner"     // the judge of Profile.Replan or of Escalation.Planner is asked, or whoever is upstream is told
	WayFix         RecoveryWay = "fix"         // whoever is responsible mends what was found
	WayBudget      RecoveryWay = "budget"      // people are asked for more, as Profile.Budget says; where an agent has no room Escalation.Coordinator is asked
	WayFail        RecoveryWay = "fail"        // the task has failed
	// WayTable, as RecoveryDefault, is another way for each category (M-45).
	WayTable RecoveryWay = "table"
)

// RecoveryDefault stands in Profile.Recovery for the categories that are not named.
const RecoveryDefault = "default"

// An Escalation says who is asked about failures.
type Escalation struct {
	Planner     *EscalationChannel `json:"planner,omitzero"` // an agent, or whoever is upstream
	Coordinator *EscalationChannel `json:"coordinator,omitzero"`
	Human       *EscalationChannel `json:"human,omitzero"`
}

// An EscalationChannel is people who are asked about failures. The word of one of them is enough.
type EscalationChannel struct {
	People []string `json:"people,omitzero"`
	Remind Duration `json:"remind,omitzero"`
	Expire Duration `json:"expire,omitzero"` // after that the task has failed
	// Upstream has whoever is upstream decide, instead of people: the run ends as blocked, and says why.
	Upstream bool `json:"upstream,omitzero"`
	// Wait, with Upstream, is how long the run waits for their word before it ends so; 0 is not at all.
	Wait Duration `json:"wait,omitzero"`
	// Agent answers requests of KindJudge about failures, instead of people.
	Agent string `json:"agent,omitzero"`
}

// MaxEscalations bounds how often people are asked about the failures of one task, and MaxMendings how often it is mended what one has found.
const (
	MaxEscalations = 5
	MaxMendings    = 3
)

// ApprovingRequester stands in ApprovalRule.People for whoever has begun the run.
const ApprovingRequester = "requester"

// InquiryOpened says that a task waits for a person's word. An attempt that has led to it
// is over, and not spent. Who is asked is told by notices, which are tasks of their own.
type InquiryOpened struct {
	Run     int           `json:"run"`
	Inquiry int           `json:"inquiry"` // the n-th of the run; 1 is the first
	Task    string        `json:"task"`
	Attempt int           `json:"attempt,omitzero"` // 0 when the task was not begun
	After   int           `json:"after,omitzero"`   // the inquiry of the same attempt, or work, whose answer does not fit; 0 is none
	Kind    HumanTaskKind `json:"kind"`
	Needs   []Need        `json:"needs,omitzero"`
	// Question is what the person is told, in the language of the run.
	Question string `json:"question"`
	// People are who is asked, by name; the requester of the run when there are none. To is where they are told,
	// and Account which of the mail accounts tells them.
	People  []string  `json:"people,omitzero"`
	To      []Address `json:"to,omitzero"`
	Account string    `json:"account,omitzero"`
	// InThread says that People are asked in the thread of the run instead of by letters.
	InThread bool `json:"in_thread,omitzero"`
	// Remind and Expire count from the moment that the first notice goes out.
	Remind   Duration  `json:"remind,omitzero"`
	Expire   Duration  `json:"expire"`
	Tokens   int       `json:"tokens,omitzero"` // used by the attempt, as the agent says
	Findings *Findings `json:",embed"`          // of the attempt; in JSON they are members of the fact
	// Told is the hash of what people are told, in a run whose upstream may ask once more. Adopts is there when they
	// were told by an earlier run for the same effect: nobody writes to them again.
	Told   string   `json:"told,omitzero"`
	Adopts *Adopted `json:"adopts,omitzero"`
	// Hash, of an approval, is the SHA-256 (hex) of the agent, all that it would be told and the Operation that it has proposed: an approval is of that
	// alone. Call is what it may do outside, as Action.Call has it, where that is known before.
	Hash      string     `json:"hash,omitzero"`
	Call      string     `json:"call,omitzero"`
	Operation *Operation `json:"operation,omitzero"`
	// Sets are the arguments, by name, that become true when somebody agrees.
	Sets []string `json:"sets,omitzero"`
	Need int      `json:"need,omitzero"` // as ApprovalRule.Need; a task may ask by two inquiries for the same, its requester by one of them
	// Choices are the choices that a reply to kind failure or review may make. Upstream asks the caller of the run, by progress and not by email.
	Choices  []InquiryChoice `json:"choices,omitzero"`
	Upstream bool            `json:"upstream,omitzero"`
	// Usage is what the attempt has used, where the profile has a budget. Shortage is what a HumanTaskBudget is about.
	Usage    *Spent    `json:"usage,omitzero"`
	Shortage *Shortage `json:"shortage,omitzero"`
}

// A Shortage is why a request does not fit a budget.
type Shortage struct {
	Agent string `json:"agent,omitzero"` // whose budget it is; the run's when empty
	Limit Usage  `json:"limit"`          // with all that it was raised by; parts without a limit are 0
	Taken Usage  `json:"taken"`          // used or reserved
	Need  Usage  `json:"need"`           // of the request
	// Offer is by how much the budget is raised when nobody says how much: what is still planned fits then. Parts that are not short are 0.
	Offer Usage `json:"offer"`
	// Day is the day (UTC) whose budget it is, of all runs of the profile together; empty when it is that of the run.
	Day string `json:"day,omitzero"`
}

// A DayClaim is what a request may use of what runs of a profile may use together on one day.
type DayClaim struct {
	Need  Usage `json:"need"`
	Run   Usage `json:"run,omitzero"`   // the limit of all agents together; parts that are 0 have none
	Agent Usage `json:"agent,omitzero"` // that of its agent
	// Raised and AgentRaised are by how much people have raised them for this run on Day.
	Raised      Usage  `json:"raised,omitzero"`
	AgentRaised Usage  `json:"agent_raised,omitzero"`
	Day         string `json:"day,omitzero"`
	// Short is why it is held; nil while that is not known.
	Short *Shortage `json:"short,omitzero"`
	// Alone says that nothing else of the run was under way when it was found short, and Parked that the run waits for the next day because of it.
	Alone  bool `json:"alone,omitzero"`
	Parked bool `json:"parked,omitzero"`
}

// Day is the day (UTC) of a moment, as budgets name it.
func Day(moment time.Time) string { return moment.UTC().Format(time.DateOnly) }

// DayEnd is when a day is over; zero for what is none.
func DayEnd(day string) time.Time {
	begins, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}
	}
	return begins.AddDate(0, 0, 1)
}

// A Budget is what runs may use. What it does not limit it counts.
type Budget struct {
	Run    Usage            `json:"run,omitzero"`    // in one run; parts that are 0 have no limit
	Agents map[string]Usage `json:"agents,omitzero"` // by agent, in one run
	// Day and DayAgents are what all runs of the profile may use together on one day (UTC), and single agents in them.
	Day       Usage            `json:"day,omitzero"`
	DayAgents map[string]Usage `json:"day_agents,omitzero"`
	// Reserve is what a request may use of which no plan says how much it will.
	Reserve Usage `json:"reserve,omitzero"`
	// Price is that of a million tokens, in millionths of the unit of money, where an agent does not say what it costs, and Prices that of agents with
	// another one. Free are agents that use no tokens.
	Price     int64            `json:"price,omitzero"`
	Prices    map[string]int64 `json:"prices,omitzero"`
	Free      []string         `json:"free,omitzero"`
	Exhausted BudgetExhausted  `json:"exhausted,omitzero"` // end when empty
	// People, Remind and Expire are for BudgetAsks: who may raise it, by name or as ApprovingRequester.
	People []string `json:"people,omitzero"`
	Remind Duration `json:"remind,omitzero"`
	Expire Duration `json:"expire,omitzero"`
}

// BudgetExhausted says what becomes of a run when nothing works and what is left does not fit.
type BudgetExhausted string

// What becomes of it.
const (
	BudgetEnds BudgetExhausted = "end" // it ends with the results that it has
	BudgetAsks BudgetExhausted = "ask" // people are asked for more
	// BudgetWaits: the run waits for the next day, when it is the budget of a day; else it ends.
	BudgetWaits BudgetExhausted = "wait"
)

// Adopted says of an inquiry that earlier runs for the same effect have begun it. Its times go on from there.
type Adopted struct {
	Letters []InquiryName `json:"letters"` // by which people may name it, at most MaxLetters; the oldest first
	Asked   time.Time     `json:"asked"`   // when the first notice went out
	Notices int           `json:"notices"` // that were made
	// Uncertain is the one letter by which people may know of it; nil when it is known that one has gone out. Bounced are
	// those of To whom no letter has reached.
	Uncertain *UncertainLetter `json:"uncertain,omitzero"`
	Bounced   []string         `json:"bounced,omitzero"`
}

// An UncertainLetter is a notice that was permitted to one process, of which nobody knows whether it has gone out. Only the answer to its request
// can say that.
type UncertainLetter struct {
	Run     int    `json:"run"`
	Task    string `json:"task"`
	Request string `json:"request"` // the attempt that was permitted
}

// MaxLetters bounds Adopted.Letters.
const MaxLetters = 32

// An InquiryName names an inquiry of a session.
type InquiryName struct {
	Run     int `json:"run"`
	Inquiry int `json:"inquiry"`
}

// InquiryAnswered is a person's word on an inquiry. There is one, but where several have to agree: then the last ends it.
type InquiryAnswered struct {
	Run      int            `json:"run"`
	Inquiry  int            `json:"inquiry"`
	Choice   InquiryChoice  `json:"choice"`
	Actor    Actor          `json:"actor"`
	Sequence uint64         `json:"sequence"` // of the word
	Text     Content        `json:"text"`
	Files    int            `json:"files,omitzero"`  // that came along
	Values   jsontext.Value `json:"values,omitzero"` // what of the needs the words say, by name: an object
	// Lacking is how many more persons have to agree: 0 is that the word decides.
	Lacking int `json:"lacking,omitzero"`
	// Arguments are all that whoever agrees has made of those that were asked about: it ends the inquiry, and the words of others before count no more. Hash
	// and Call are then what they agree to, as InquiryOpened has them. Where others have to agree to it too an inquiry of its own asks them.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	Hash      string         `json:"hash,omitzero"`
	Call      string         `json:"call,omitzero"`
	// Amount is by how much a budget is raised.
	Amount *Usage `json:"amount,omitzero"`
}

// InquiryChoice is what a person says to an inquiry.
type InquiryChoice string

// The choices.
const (
	ChoiceAnswer InquiryChoice = "answer"
	ChoiceReject InquiryChoice = "reject"
	// ChoiceApprove says that it may be done.
	ChoiceApprove InquiryChoice = "approve"
	// What may be said after a failure, beside ChoiceAnswer, whose words are the result of the task.
	ChoiceRetry  InquiryChoice = "retry"  // one more attempt
	ChoiceSkip   InquiryChoice = "skip"   // the run goes on without the task
	ChoiceReplan InquiryChoice = "replan" // the words are what is done instead
	ChoiceEnd    InquiryChoice = "end"    // the run ends
	// ChoiceRaise raises a budget, by InquiryAnswered.Amount.
	ChoiceRaise InquiryChoice = "raise"
)

// OfRequester reports whether the person is asked who has begun the run.
func (o *InquiryOpened) OfRequester() bool { return len(o.People) == 0 && !o.Upstream }

// Takes reports whether something may be said to the inquiry.
func (o *InquiryOpened) Takes(choice InquiryChoice) bool {
	if len(o.Choices) > 0 {
		return slices.Contains(o.Choices, choice)
	}
	return slices.Contains(o.Kind.Choices(), choice)
}

// An Actor is who has said something, as the adapter knows it and nobody else.
type Actor struct {
	Via   ActorVia   `json:"via"`
	ID    string     `json:"id,omitzero"`    // an address, a user, a name; of ViaCLI the operating system's user
	As    string     `json:"as,omitzero"`    // of ViaCLI: the person for whom they speak, as they claim
	Proof ActorProof `json:"proof,omitzero"` // how far it is known that it is them
}

// ActorVia is the way that a word came.
type ActorVia string

// The ways.
const (
	ViaMail ActorVia = "mail"
	ViaChat ActorVia = "chat"
	ViaAPI  ActorVia = "api" // the service's own
	ViaCLI  ActorVia = "cli" // its command line
)

// ActorProof is how far it is known who has said something.
type ActorProof string

// The proofs.
const (
	ProofMail      ActorProof = "mail_authentication" // the receiving server vouches for the sender
	ProofLetter    ActorProof = "letter"              // the mail names the letter that asks, which only its recipients know
	ProofSignature ActorProof = "signature"           // the provider of the chat has signed it
	ProofToken     ActorProof = "token"               // who calls the API or a webhook, with its secret, says who it is
)

// InquiryClosed ends an inquiry without a word.
type InquiryClosed struct {
	Run     int           `json:"run"`
	Inquiry int           `json:"inquiry"`
	Reason  InquiryReason `json:"reason"`
}

// InquiryReason is why an inquiry was closed.
type InquiryReason string

// The reasons.
const (
	InquiryExpired     InquiryReason = "expired"
	InquiryCancelled   InquiryReason = "cancelled"
	InquirySuperseded  InquiryReason = "superseded"
	InquiryWithdrawn   InquiryReason = "withdrawn"   // the run has ended without it
	InquiryUnreachable InquiryReason = "unreachable" // nobody could be asked
)

// Why a word on an inquiry changes nothing, as MessageReceived has it.
const (
	WordNotAsked Rejection = "no_inquiry"      // none of that number is open
	WordDecided  Rejection = "already_decided" // somebody has said something before
	WordExpired  Rejection = "expired"         // its time was over
	WordClosed   Rejection = "inquiry_closed"  // nobody waits for it any more
	WordChoice   Rejection = "unknown_choice"  // it cannot be said to an inquiry of the kind
	WordHash     Rejection = "hash_changed"    // it is about something else than what the inquiry asks

	WordEdit Rejection = "invalid_edit" // what it changes cannot be changed so
	WordPlan Rejection = "invalid_plan" // what it has done instead cannot be carried out

	WordCode    Rejection = "code_of_another" // it quotes the code of another question
	WordUnnamed Rejection = "no_reply"        // it decides, and is no reply to the email that asks

	// WordNotAllowed: the profile of the run is in force no more, so that nobody may say anything for it; or it is of somebody who may not decide an approval.
	WordNotAllowed Rejection = "not_allowed"
)

// MaxExplanations is how many notifications of one inquiry may tell how it is decided.
const MaxExplanations = 2

// InquiryID returns the id of an inquiry of a run, by which people name it.
func InquiryID(run string, inquiry int) string { return run + "." + strconv.Itoa(inquiry) }

var inquiryCode = regexp.MustCompile(`(?i)\bASK-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b`)

// InquiryCode returns the short code by which people recognize an inquiry, such as ASK-7K3M-2XPD. It is no secret: it keeps a reply to one
// question from deciding another.
func InquiryCode(run string, inquiry int) string {
	sum := sha256.Sum256([]byte("code " + InquiryID(run, inquiry)))
	// Crockford's alphabet has no letter that is easily taken for a digit or another letter.
	code := base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").EncodeToString(sum[:5])
	return "ASK-" + code[:4] + "-" + code[4:]
}

// RemoveControls returns a text without control characters but for line breaks and tabs, and without what turns the
// direction of writing: one such character of a requester makes a person who decides read something else.
func RemoveControls(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r >= 0x206A && r <= 0x206F:
			return -1 // the last ones are deprecated, and turn brackets and digits
		}
		return r
	}, text)
}

// InquiryCodes returns the codes that stand in a text, in upper case, in their order.
func InquiryCodes(text string) []string {
	codes := inquiryCode.FindAllString(text, -1)
	for i := range codes {
		codes[i] = strings.ToUpper(codes[i])
	}
	return codes
}
