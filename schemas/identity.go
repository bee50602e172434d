package schemas

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // UUIDv5 is made of it
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// namespace is the UUIDv5 namespace of every id that Podium derives:
// 6d1f0f0e-3f0b-5e0e-9a53-7c2f4f0d1c55.
func namespace() uuid.UUID {
	return uuid.UUID{0x6d, 0x1f, 0x0f, 0x0e, 0x3f, 0x0b, 0x5e, 0x0e, 0x9a, 0x53, 0x7c, 0x2f, 0x4f, 0x0d, 0x1c, 0x55}
}

// ErrInvalidID reports an id that Podium cannot have made.
var ErrInvalidID = errors.New("not an id of a run")

// SessionID returns the id of the session that a message belongs to. It is
// a pure function of the message, so that no adapter needs to look anything up.
func SessionID(profile, partitionKey string) string {
	return derive("session", profile, partitionKey)
}

// ShardOf returns the shard that owns a session: FNV-1a-32 of its id modulo shards.
func ShardOf(session string, shards int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(session))
	return int(h.Sum32() % uint32(shards)) //nolint:gosec // shards is between 1 and 65535
}

// RunID returns the id of the n-th run of a session.
func RunID(session string, n int) string { return session + "-" + strconv.Itoa(n) }

// ParseRunID returns the session and the number that a run's id is made of. An
// id has one spelling; any other is ErrInvalidID.
func ParseRunID(run string) (session string, n int, err error) {
	cut := strings.LastIndexByte(run, '-')
	if cut < 0 {
		return "", 0, fmt.Errorf("%w: %q", ErrInvalidID, run)
	}
	if session = run[:cut]; !isSessionID(session) {
		return "", 0, fmt.Errorf("%w: %q", ErrInvalidID, run)
	}
	if n, err = strconv.Atoi(run[cut+1:]); err != nil || n < 1 || RunID(session, n) != run {
		return "", 0, fmt.Errorf("%w: %q", ErrInvalidID, run)
	}
	return session, n, nil
}

// isSessionID reports the one spelling of a session's id.
func isSessionID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// RequestID returns the message_id of the request for one attempt of a task. It
// is a UUIDv8 (RFC 9562, section 5.8) that begins with the shard, so that an
// answer which names nothing but the request still finds its way. Behind it stand the
// low 32 bits of the epoch of the record that dispatched the attempt: after a loss of power a
// shard goes on from an earlier moment, and asks anew what it has forgotten that it asked.
func RequestID(shard int, epoch uint64, run, task string, attempt int) string {
	sum := sha256.Sum256([]byte("request\x00" + run + "\x00" + task + "\x00" + strconv.Itoa(attempt)))
	var id uuid.UUID
	copy(id[:], sum[:])
	binary.BigEndian.PutUint16(id[:2], uint16(shard))  //nolint:gosec // a ledger has at most 65535 shards
	binary.BigEndian.PutUint32(id[2:6], uint32(epoch)) //nolint:gosec // its low bits: two pasts have epochs that are near
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// AttemptKey returns what the requests for one attempt of a task have in common, whichever
// epoch has dispatched it: the RequestID of epoch 0, which no request has. Any other id is
// returned as it is.
func AttemptKey(request string) string {
	if len(request) != len(uuid.Nil.String()) || request[8] != '-' || request[14] != '8' {
		return request
	}
	return request[:4] + "0000-0000" + request[13:]
}

// ShardOfRequest returns the shard named by a request id. It reports false for
// an id that RequestID cannot have made.
func ShardOfRequest(request string) (int, bool) {
	id, err := uuid.Parse(request)
	if err != nil || id.Version() != 8 {
		return 0, false
	}
	return int(binary.BigEndian.Uint16(id[:2])), true
}

// EffectID returns what every attempt of a task has in common; whoever acts
// outside derives its own ids from it (a mail's Message-ID, for example).
func EffectID(run, task string) string { return derive("effect", run, task) }

// EffectOfMessageID returns the id of the effect that a Message-ID begins with.
func EffectOfMessageID(messageID string) string {
	effect, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(messageID), "<"), "@")
	if named, _, more := strings.Cut(effect, "."); more {
		effect = strings.ToLower(named) // ids without more were never known in another case
	}
	return effect
}

// PlanID returns the plan_id of a run.
func PlanID(run string) string { return derive("plan", run) }

// ResponseID returns the message_id of the answer to a request.
func ResponseID(request string) string { return derive("response", request) }

// RefusalID returns the message_id of the answer to a request that is not worked on because its message_id is that of another one; body is what it says.
func RefusalID(request string, body []byte) string {
	sum := sha256.Sum256(body)
	return derive("refusal", request, string(sum[:]))
}

// derive returns the UUIDv5 (RFC 9562, section 5.5) of a kind and its parts. Each
// message of a run carries several: the name is hashed where it is put together.
func derive(kind string, parts ...string) string {
	space := namespace()
	var room [256]byte
	name := append(append(room[:0], space[:]...), kind...)
	for _, part := range parts {
		name = append(append(name, 0), part...)
	}
	sum := sha1.Sum(name) //nolint:gosec // as the RFC has it; nothing secret
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// HasSignedUser reports whether a message came by a chat whose provider signs who has written it. A webhook's
// caller claims any user.
func (m *Incoming) HasSignedUser() bool {
	return m.Channel == ChannelChat && m.Author != nil && m.Author.User != "" &&
		m.Reply != nil && m.Reply.Provider != string(ProviderWebhook)
}

// RequesterKey returns an opaque key of who has begun the run, as far as that is proven: a mailbox that a mail
// server confirms, a user that a chat has signed, or the supervisor that has asked. All mail of an account without
// that proof has one key, and so has a chat channel.
func (m *Incoming) RequesterKey() string {
	reply := cmp.Or(m.Reply, &Reply{})
	var named []string
	switch {
	case m.Upstream != nil:
		named = []string{"supervisor", m.Upstream.From}
	case m.HasSignedUser():
		named = []string{"user", reply.Provider, reply.Tenant, m.Author.User}
	case m.Channel == ChannelChat:
		named = []string{"channel", reply.Channel}
	case m.Origin == OriginProven && !m.HasUnknownRequester():
		named = []string{"mailbox", Mailbox(m.Author.Address)}
	default:
		named = []string{"account", reply.Account}
	}
	sum := sha256.Sum256([]byte("requester\x00" + strings.Join(named, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// TaskKind is what a task of a run is for.
type TaskKind string

// The kinds of task.
const (
	TaskKindWork      TaskKind = ""          // a task of the plan
	TaskKindPlan      TaskKind = "plan"      // a question: into which tasks is the request divided?
	TaskKindAssess    TaskKind = "assess"    // how well could an agent do a task of the plan?
	TaskKindRoute     TaskKind = "route"     // who is to do a task of the plan?
	TaskKindExtract   TaskKind = "extract"   // which arguments of a task of the plan do the words hold?
	TaskKindEvaluate  TaskKind = "evaluate"  // a step has ended, or a task has failed: how does the run go on?
	TaskKindCheck     TaskKind = "check"     // all is done: is it right?
	TaskKindMerge     TaskKind = "merge"     // how do several versions of a file become one?
	TaskKindSummarize TaskKind = "summarize" // how are the results told in one text?
	TaskKindNotify    TaskKind = "notify"    // a person is told what they are asked
	TaskKindDeliver   TaskKind = "deliver"   // the answer goes out
)

// RequestKind is the kind of the requests for a task of this kind.
func (k TaskKind) RequestKind() RequestKind {
	switch k {
	case TaskKindPlan:
		return KindPlan
	case TaskKindAssess:
		return KindAssess
	case TaskKindRoute:
		return KindRoute
	case TaskKindExtract:
		return KindExtract
	case TaskKindEvaluate, TaskKindCheck, TaskKindMerge, TaskKindSummarize:
		return KindJudge
	case TaskKindWork, TaskKindNotify, TaskKindDeliver:
	}
	return ""
}

// MayActOutside reports whether a task of this kind may act outside: it is none of the questions whose answers deciding needs.
func (k TaskKind) MayActOutside() bool { return k.RequestKind().IsWork() }

// AsksEvaluator reports whether a task of this kind asks an agent about what a run has done.
func (k TaskKind) AsksEvaluator() bool { return k.RequestKind() == KindJudge }

// NotifiesPeople reports whether a task of this kind tells people something: the answer, or what they are asked.
func (k TaskKind) NotifiesPeople() bool { return k == TaskKindNotify || k == TaskKindDeliver }

// EvaluationTrigger is why an evaluator is asked how a run goes on.
type EvaluationTrigger string

// The triggers.
const (
	TriggerStep    EvaluationTrigger = "step"    // a step has ended
	TriggerFailure EvaluationTrigger = "failure" // a task has failed for good
)

// TaskAbout says what a task is about that is none of a plan: what deciding has to know of it, so that it reads no id of a task. The kind of the
// task says which members are there.
type TaskAbout struct {
	Task         string            `json:"task,omitzero"`         // assess, route and extract: the task of the plan
	Trigger      EvaluationTrigger `json:"trigger,omitzero"`      // evaluate
	HumanTask    int               `json:"human_task,omitzero"`   // notify: the number of what people are asked
	Notification NotificationKind  `json:"notification,omitzero"` // notify
}

// NotificationKind is what a person is told of a human task.
type NotificationKind string

// The kinds of notification.
const (
	NotificationQuestion    NotificationKind = "question"
	NotificationReminder    NotificationKind = "reminder"
	NotificationExplanation NotificationKind = "explanation" // of how it is decided
)

// The ids of tasks that a run has once.
const (
	// DeliveryTask is the id of the task that delivers a run's answer. It is not part of the plan.
	DeliveryTask = "reply"
	// PlanTask is the id of the question to a planner.
	PlanTask = "plan"
	// SummarizeTask is the id of the question by which the results are told in one text.
	SummarizeTask = judgeTask + "summary" + idSeparator + "1"
)

const (
	assessTask  = "assess:"
	routeTask   = "route:"
	extractTask = "extract:"
	judgeTask   = "judge:"
	checkTask   = "check:"
	noticeTask  = "ask:"
	reviewInput = "review:"
	idSeparator = ":"
)

// AssessTask is the id of the question how well an agent could do a task of the plan.
func AssessTask(task, agent string) string { return assessTask + task + idSeparator + agent }

// RouteTask is the id of the question to an agent who is to do a task of the plan.
func RouteTask(task, agent string) string { return routeTask + task + idSeparator + agent }

// ExtractTask is the id of the question to an extractor for the arguments of a task of the plan.
func ExtractTask(task, agent string) string { return extractTask + task + idSeparator + agent }

// EvaluateTask is the id of the n-th question to an evaluator after a step or a failure; 1 is the first.
func EvaluateTask(trigger EvaluationTrigger, n int) string {
	return judgeTask + string(trigger) + idSeparator + strconv.Itoa(n)
}

// MergeTask is the id of the n-th question to merge versions of files; 1 is the first.
func MergeTask(n int) string { return judgeTask + "merge" + idSeparator + strconv.Itoa(n) }

// CheckTask is the id of the question to a check in a round of review.
func CheckTask(agent string, round int) string {
	return checkTask + agent + idSeparator + strconv.Itoa(round)
}

// NoticeTask is the id of the n-th notification of an inquiry; 1 is the question itself.
func NoticeTask(inquiry, n int) string {
	return noticeTask + strconv.Itoa(inquiry) + idSeparator + strconv.Itoa(n)
}

// ExplanationTask is the id of the n-th notification that tells how an inquiry is decided.
func ExplanationTask(inquiry, n int) string {
	return noticeTask + strconv.Itoa(inquiry) + ":how:" + strconv.Itoa(n)
}

// ReviewInput is the name of the input that tells whoever mends it what a round of review has found.
func ReviewInput(round int) string { return reviewInput + strconv.Itoa(round) }

// MaxTaskIDPrefix is the length of the longest prefix of an id that is made of that of another task, in bytes.
const MaxTaskIDPrefix = len(extractTask)

// HasQuestionID reports whether an id is, or may be, that of a question to a planner or a router, or of the delivery. A plan may not use it.
func HasQuestionID(id string) bool {
	return id == DeliveryTask || id == PlanTask || strings.HasPrefix(id, assessTask) || strings.HasPrefix(id, routeTask)
}

// HasHumanTaskID reports whether an id may be that of a notification, or of a question to an extractor.
func HasHumanTaskID(id string) bool {
	return strings.HasPrefix(id, extractTask) || notificationID.MatchString(id)
}

// HasNotificationID reports whether an id may be that of a notification, for whoever has a fact and not the task.
func HasNotificationID(id string) bool { return notificationID.MatchString(id) }

// HasEvaluationID reports whether an id may be that of a question to an evaluator or a check.
func HasEvaluationID(id string) bool {
	return strings.HasPrefix(id, judgeTask) || strings.HasPrefix(id, checkTask)
}

// HasReviewInputID reports whether an id may be that of an input that tells what a review has found.
func HasReviewInputID(id string) bool { return strings.HasPrefix(id, reviewInput) }

// HasChangeID reports whether an id is one that only changes of a plan make.
func HasChangeID(id string) bool { return changeID.MatchString(id) }

var (
	notificationID = regexp.MustCompile(`^ask:0*[1-9][0-9]*(:|$)`)
	changeID       = regexp.MustCompile(`^(c|fix)[0-9]+\.`)
)

// ChangeTask is the id of a task that a change of the plan adds; name is unique in the change.
func ChangeTask(change int, name string) string { return "c" + strconv.Itoa(change) + "." + name }

// FixTask is the id of a task that does the work of another one anew in a round of review.
func FixTask(round int, task string) string { return "fix" + strconv.Itoa(round) + "." + task }

// TaskSubject is the subject of events about a task of a run.
func TaskSubject(run, task string) string { return run + "/" + task }

// ParseTaskSubject returns the run and the task that the subject of an event names. The task is empty where it names a run alone.
func ParseTaskSubject(subject string) (run, task string) {
	run, task, _ = strings.Cut(subject, "/")
	return run, task
}
