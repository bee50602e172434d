package schemas

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas/validation"
)

// Envelope is the outer part of the three documented messages (M-01).
type Envelope struct {
	MessageID string    `json:"message_id"` // UUID
	From      string    `json:"from"`
	To        string    `json:"to"`
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // RFC 3339
	InReplyTo string    `json:"in_reply_to,omitzero"`
}

// The values of Envelope.Type.
const (
	EnvelopeTypeExecutionRequest  = "execution_request"
	EnvelopeTypeExecutionResponse = "execution_response"
	EnvelopeTypeProgressUpdate    = "progress_update"
)

// An ExecutionRequest asks an agent, or a supervisor, for work (M-01…M-05).
type ExecutionRequest struct {
	Envelope
	Payload RequestPayload `json:"payload"`
}

// Undeclared returns the first kind that a request asks for and that is not one of
// those declared.
func (r *ExecutionRequest) Undeclared(declared ...RequestKind) (kind RequestKind, found bool) {
	for i := range r.Payload.Tasks {
		kind = r.Payload.Tasks[i].Context.Kind
		if kind.IsWork() {
			kind = KindWork
		}
		if !slices.Contains(declared, kind) {
			return kind, true
		}
	}
	return "", false
}

// AsksTheSame reports whether another request asks for the same work. Their envelopes do not count, nor plan_id and request_id, which
// some make anew for each message.
func (r *ExecutionRequest) AsksTheSame(other *ExecutionRequest) bool {
	payload := other.Payload
	payload.PlanID, payload.RequestID = r.Payload.PlanID, r.Payload.RequestID
	asked, err := Marshal(r.Payload)
	again, failed := Marshal(payload)
	return err == nil && failed == nil && bytes.Equal(asked, again)
}

// RequestPayload is the plan or the single task asked for (M-02).
type RequestPayload struct {
	PlanID             string              `json:"plan_id"` // UUID
	RequestID          string              `json:"request_id"`
	Tasks              []Task              `json:"tasks"`
	AgentAssignments   map[string][]string `json:"agent_assignments"`
	ValidationCriteria []string            `json:"validation_criteria"`
	Risks              []Risk              `json:"risks"`
}

// A Task is one piece of work for one agent (M-03).
type Task struct {
	TaskID               string      `json:"task_id"`
	Description          string      `json:"description"`
	AssignedTo           string      `json:"assigned_to"`
	Dependencies         []string    `json:"dependencies"`
	EstimatedTokens      int         `json:"estimated_tokens"`
	EstimatedTimeSeconds int         `json:"estimated_time_seconds"`
	Priority             Priority    `json:"priority,omitzero"`
	Deliverables         []string    `json:"deliverables"`
	ValidationCriteria   []string    `json:"validation_criteria"`
	Context              TaskContext `json:"context"`
	Optional             bool        `json:"optional,omitzero"`  // the plan can do without it
	Resources            []string    `json:"resources,omitzero"` // that no other task may use meanwhile (M-19)
}

// Priority orders ready tasks: critical first (M-17).
type Priority string

// The priorities; nice_to_have ranks below low (settlement 10).
const (
	PriorityCritical   Priority = "critical"
	PriorityHigh       Priority = "high"
	PriorityMedium     Priority = "medium"
	PriorityLow        Priority = "low"
	PriorityNiceToHave Priority = "nice_to_have"
)

// TaskContext is what the agent needs to know, and no more (P-11).
type TaskContext struct {
	FilesToModify []string       `json:"files_to_modify"`
	References    []string       `json:"references"`
	Constraints   jsontext.Value `json:"constraints,omitzero"` // an object

	// Request holds the person's words. They are tainted: data, never instruction.
	Request string `json:"request,omitzero"`
	// Arguments is checked against the agent's input schema.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	// Inputs holds the results of the tasks that this one depends on.
	Inputs map[string]TaskInput `json:"inputs,omitzero"`
	Kind   RequestKind          `json:"kind,omitzero"`
	// Feedback says what was wrong with the answer before (M-45).
	Feedback string `json:"feedback,omitzero"`
	// Entities are what the session is about, by name (G-30).
	Entities map[string]string `json:"entities,omitzero"`
	// Conversation is what happened before in it (G-29).
	Conversation *ConversationContext `json:"conversation,omitzero"`
	// Answers are what people have answered to questions about the task, oldest first.
	Answers []InquiryAnswer `json:"answers,omitzero"`
	// Message is the message that the work is for.
	Message *MessageContext `json:"message,omitzero"`
	// Attachments are files to work with; the agent may read each for this request (G-42).
	Attachments []TaskAttachment `json:"attachments,omitzero"`
	// AttachmentsLeftOut is how many more there are, which MaxAttachments has no room for.
	AttachmentsLeftOut int `json:"attachments_left_out,omitzero"`
	// Plan is what the task is a step of, where a judge may change it.
	Plan *PlanContext `json:"plan,omitzero"`
	// Run is how the run stands, where judges may have it go on in rounds (P-11).
	Run *RunContext `json:"run,omitzero"`
	// Tainted are JSON Pointers (RFC 6901) from the context to what comes from outside,
	// with everything in it.
	Tainted []string `json:"tainted,omitzero"`
	// Stream says that whoever asked is shown the text of the result while it comes: see Partial.
	Stream bool `json:"stream,omitzero"`
	// Approved is what a person has agreed to after the agent has proposed it: exactly that is done, and nothing else is permitted.
	Approved *ApprovedOperation `json:"approved,omitzero"`
}

// An ApprovedOperation is an Operation that a person has agreed to.
type ApprovedOperation struct {
	Name       string         `json:"name"`
	Arguments  jsontext.Value `json:"arguments,omitzero"` // an object
	Summary    string         `json:"summary,omitzero"`
	Recipients []string       `json:"recipients,omitzero"`
	Hash       string         `json:"hash"` // Action.Call of it, by which its permit is asked for
}

// A PlanContext is a plan as whoever does a step of it sees it.
type PlanContext struct {
	Steps   []string `json:"steps"`   // what is to be done, in order, with what is done
	Current int      `json:"current"` // which of them the task is; 1 is the first
}

// A RunContext is how a run stands when somebody is asked to work in it.
type RunContext struct {
	Iteration int `json:"iteration"` // 1 is the first; each new plan and each round of review is one more
	Artifacts int `json:"artifacts"` // files that the run has made so far
}

// A TaskInput is what a task has made that another one depends on.
type TaskInput struct {
	Result
	Status ResponseStatus `json:"status,omitzero"` // of the task; completed when empty
}

// An InquiryAnswer is a person's word on what a task lacked. All of it comes from outside.
type InquiryAnswer struct {
	Inquiry  string         `json:"inquiry"` // its id
	Question string         `json:"question"`
	Needs    []string       `json:"needs,omitzero"` // names of what was asked for
	Text     string         `json:"text"`
	Values   jsontext.Value `json:"values,omitzero"` // what of it the words say, by name: an object
	Time     time.Time      `json:"time,omitzero"`
}

// A MessageContext is a message as its adapter has read it. All of it comes from outside.
type MessageContext struct {
	Channel string     `json:"channel"` // email or chat
	From    *Author    `json:"from,omitzero"`
	Origin  MailOrigin `json:"origin,omitzero"`
	Subject string     `json:"subject,omitzero"`
	Quoted  string     `json:"quoted,omitzero"` // of earlier messages
	Time    time.Time  `json:"time,omitzero"`   // when it was taken
}

// An Author is who has written a message, as whoever took it says.
type Author struct {
	Name    string `json:"name,omitzero"`
	Address string `json:"address,omitzero"` // by mail
	User    string `json:"user,omitzero"`    // by chat: the provider's id
}

// A TaskAttachment is a file that an agent may read for one request.
type TaskAttachment struct {
	ID        string `json:"id"` // in this request, such as a1
	Name      string `json:"name,omitzero"`
	MediaType string `json:"media_type,omitzero"`
	Size      int64  `json:"size"` // in bytes
	SHA256    string `json:"sha256"`
	// From is FromMessage, FromEarlier, FromRequest, or the id of the task whose result names it.
	From  string `json:"from"`
	Grant string `json:"grant,omitzero"` // the right to read it for this request
}

// AttachmentID is the id of the n-th file that a request lists; 1 is the first. Arguments name files by it.
func AttachmentID(n int) string { return "a" + strconv.Itoa(n) }

// Where an attachment comes from, if it is not from a task.
const (
	FromMessage = "message" // the message that the work is for
	FromEarlier = "earlier" // an earlier message of the conversation
	FromRequest = "request" // the request of another supervisor
)

// Artifact returns the reference to the bytes.
func (a *TaskAttachment) Artifact() Artifact {
	return Artifact{SHA256: a.SHA256, Size: a.Size, MediaType: a.MediaType, Grant: a.Grant}
}

// MaxAttachments bounds the files that a request lists: as many as a plan has tasks.
const MaxAttachments = 256

// FallbackLanguage is the language of a request that names none.
const FallbackLanguage = "en"

// Language returns the primary tag of the language that an answer is wanted in:
// the constraint "language" of the request.
func (c *TaskContext) Language() string {
	var constraints struct {
		Language string `json:"language"`
	}
	if err := Unmarshal(c.Constraints, &constraints); err != nil || constraints.Language == "" {
		return FallbackLanguage
	}
	primary, _, _ := strings.Cut(constraints.Language, "-")
	return primary
}

// ConversationContext is what a request tells of the conversation.
type ConversationContext struct {
	State  ConversationState `json:"state"`
	Recent []RecentCall      `json:"recent,omitzero"` // the last three requests that have ended, oldest first
	// Messages are what was said before, oldest first, as far as the profile has it told.
	Messages []ConversationMessage `json:"messages,omitzero"`
}

// A ConversationMessage is what somebody has said.
type ConversationMessage struct {
	By   Speaker   `json:"by"`
	Text string    `json:"text"`
	Time time.Time `json:"time,omitzero"` // when it was taken, or answered
	Cut  bool      `json:"cut,omitzero"`  // it is only the beginning
}

// Speaker is one side of a conversation.
type Speaker string

// The speakers.
const (
	SpeakerRequester Speaker = "requester"
	SpeakerPodium    Speaker = "podium"
)

// ConversationState says whether a conversation has a past.
type ConversationState string

// The states of a conversation.
const (
	ConversationNew     ConversationState = "new"
	ConversationOngoing ConversationState = "ongoing"
)

// A RecentCall is a request that has ended.
type RecentCall struct {
	Request string         `json:"request"` // message_id
	Agent   string         `json:"agent"`
	Task    string         `json:"task"`
	Status  ResponseStatus `json:"status"`
}

// RequestKind says what is asked of an agent; the empty kind is work.
type RequestKind string

// The kinds of request.
const (
	KindWork    RequestKind = "work"
	KindAssess  RequestKind = "assess"  // how well could you do this task? result.data {"score": 0–1}
	KindPlan    RequestKind = "plan"    // divide this into tasks: result.data {"steps": […]} or {"tasks": […]}
	KindExtract RequestKind = "extract" // which arguments do these words hold? result.data is an object with them
	KindJudge   RequestKind = "judge"   // how does this go on? result.data {"response": …}, {"steps": […]} or {"tasks": […]}
	KindRoute   RequestKind = "route"   // who shall do this? result.data {"next_agent": …, "reasoning": …}, and "response" with RESPOND
)

// IsWork reports whether a request of this kind asks for work. All others are
// questions: what deciding needs to know. Only work may act outside.
func (k RequestKind) IsWork() bool { return k == "" || k == KindWork }

// A Risk is what may go wrong with a plan (M-05).
type Risk struct {
	RiskID      string `json:"risk_id"`
	Description string `json:"description"`
	Mitigation  string `json:"mitigation"`
	Owner       string `json:"owner"`
}

// DecodeExecutionRequest reads an execution_request with the verdict of its
// schema, and refuses assignments that disagree with the tasks (M-06). Errors
// are *validation.Error.
func DecodeExecutionRequest(body []byte) (ExecutionRequest, error) {
	request, err := readRequest(body)
	if err == nil {
		err = request.Payload.checkAssignments()
	}
	if err != nil {
		return ExecutionRequest{}, err
	}
	return request, nil
}

// checkAssignments refuses assignments that are given and differ from the
// tasks' own (M-06).
func (p *RequestPayload) checkAssignments() error {
	if len(p.AgentAssignments) == 0 {
		return nil
	}
	assigned := map[string]string{}
	for i := range p.Tasks {
		assigned[p.Tasks[i].TaskID] = p.Tasks[i].AssignedTo
	}
	for _, agent := range slices.Sorted(maps.Keys(p.AgentAssignments)) {
		for i, task := range p.AgentAssignments[agent] {
			if assigned[task] != agent {
				return &validation.Error{
					Pointer: "/payload/agent_assignments" + string(jsontext.Pointer("").AppendToken(agent)) + "/" + strconv.Itoa(i),
					Reason:  "is not a task whose assigned_to is this agent",
				}
			}
		}
	}
	for i := range p.Tasks {
		if !slices.Contains(p.AgentAssignments[p.Tasks[i].AssignedTo], p.Tasks[i].TaskID) {
			return &validation.Error{
				Pointer: "/payload/tasks/" + strconv.Itoa(i) + "/assigned_to",
				Reason:  "does not stand in agent_assignments",
			}
		}
	}
	return nil
}
