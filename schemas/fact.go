package schemas

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Fact is one thing decided: a pointer to one of the types that newFact makes, and
// nothing else. Facts are never changed, only added to. A switch over the types of facts has a
// case for each, or a default that says what becomes of the others: the linter refuses it
// otherwise.
//
//sumtype:decl
type Fact interface {
	// Name is the fact's name on the ledger.
	Name() string
	// about returns the number of the run and the id of the task that the fact is about.
	about() (run int, task string)
}

// Facts are what one decision decided, in order. In JSON each is an object with one member,
// the fact under its name.
type Facts []Fact

// RunOf returns the number of the run that a fact is about; 0 is none.
func RunOf(f Fact) int {
	run, _ := f.about()
	return run
}

// As returns the fact when it is of that type, else nil.
func As[T Fact](f Fact) T {
	as, _ := f.(T)
	return as
}

// TaskOf returns the id of the task that a fact is about, or "".
func TaskOf(f Fact) string {
	_, task := f.about()
	return task
}

// errUnknownFact reports a fact of a name that this version does not know.
var errUnknownFact = errors.New("unknown fact; a newer podium has written it")

// newFact returns an empty fact of that name, or nil for one that this version does not know.
func newFact(name string) Fact {
	switch name {
	case "message_received":
		return new(MessageReceived)
	case "run_started":
		return new(RunStarted)
	case "complexity_assessed":
		return new(ComplexityAssessed)
	case "plan_created":
		return new(PlanCreated)
	case "plan_refused":
		return new(PlanRefused)
	case "judged":
		return new(Judged)
	case "review_began":
		return new(ReviewBegan)
	case "plan_changed":
		return new(PlanChanged)
	case "task_routed":
		return new(TaskRouted)
	case "task_ready":
		return new(TaskReady)
	case "task_dispatched":
		return new(TaskDispatched)
	case "task_unserved":
		return new(TaskUnserved)
	case "task_started":
		return new(TaskStarted)
	case "task_progressed":
		return new(TaskProgressed)
	case "task_heartbeat":
		return new(TaskHeartbeat)
	case "task_delayed":
		return new(TaskDelayed)
	case "task_completed":
		return new(TaskCompleted)
	case "task_failed":
		return new(TaskFailed)
	case "task_skipped":
		return new(TaskSkipped)
	case "task_cancelled":
		return new(TaskCancelled)
	case "response_late":
		return new(ResponseLate)
	case "entity_mismatched":
		return new(EntityMismatched)
	case "permit_granted":
		return new(PermitGranted)
	case "permit_refused":
		return new(PermitRefused)
	case "reply_withheld":
		return new(ReplyWithheld)
	case "answer_delayed":
		return new(AnswerDelayed)
	case "delivery_bounced":
		return new(DeliveryBounced)
	case "resend_requested":
		return new(ResendRequested)
	case "delivery_reopened":
		return new(DeliveryReopened)
	case "arguments_filled":
		return new(ArgumentsFilled)
	case "inquiry_opened":
		return new(InquiryOpened)
	case "inquiry_answered":
		return new(InquiryAnswered)
	case "inquiry_closed":
		return new(InquiryClosed)
	case "run_settled":
		return new(RunSettled)
	case "run_ended":
		return new(RunEnded)
	}
	return nil
}

// Name implements Fact.
func (f *MessageReceived) Name() string { return "message_received" }

// Name implements Fact.
func (f *RunStarted) Name() string { return "run_started" }

// Name implements Fact.
func (f *ComplexityAssessed) Name() string { return "complexity_assessed" }

// Name implements Fact.
func (f *PlanCreated) Name() string { return "plan_created" }

// Name implements Fact.
func (f *PlanRefused) Name() string { return "plan_refused" }

// Name implements Fact.
func (f *Judged) Name() string { return "judged" }

// Name implements Fact.
func (f *ReviewBegan) Name() string { return "review_began" }

// Name implements Fact.
func (f *PlanChanged) Name() string { return "plan_changed" }

// Name implements Fact.
func (f *TaskRouted) Name() string { return "task_routed" }

// Name implements Fact.
func (f *TaskReady) Name() string { return "task_ready" }

// Name implements Fact.
func (f *TaskDispatched) Name() string { return "task_dispatched" }

// Name implements Fact.
func (f *TaskUnserved) Name() string { return "task_unserved" }

// Name implements Fact.
func (f *TaskStarted) Name() string { return "task_started" }

// Name implements Fact.
func (f *TaskProgressed) Name() string { return "task_progressed" }

// Name implements Fact.
func (f *TaskHeartbeat) Name() string { return "task_heartbeat" }

// Name implements Fact.
func (f *TaskDelayed) Name() string { return "task_delayed" }

// Name implements Fact.
func (f *TaskCompleted) Name() string { return "task_completed" }

// Name implements Fact.
func (f *TaskFailed) Name() string { return "task_failed" }

// Name implements Fact.
func (f *TaskSkipped) Name() string { return "task_skipped" }

// Name implements Fact.
func (f *TaskCancelled) Name() string { return "task_cancelled" }

// Name implements Fact.
func (f *ResponseLate) Name() string { return "response_late" }

// Name implements Fact.
func (f *EntityMismatched) Name() string { return "entity_mismatched" }

// Name implements Fact.
func (f *PermitGranted) Name() string { return "permit_granted" }

// Name implements Fact.
func (f *PermitRefused) Name() string { return "permit_refused" }

// Name implements Fact.
func (f *ReplyWithheld) Name() string { return "reply_withheld" }

// Name implements Fact.
func (f *AnswerDelayed) Name() string { return "answer_delayed" }

// Name implements Fact.
func (f *DeliveryBounced) Name() string { return "delivery_bounced" }

// Name implements Fact.
func (f *ResendRequested) Name() string { return "resend_requested" }

// Name implements Fact.
func (f *DeliveryReopened) Name() string { return "delivery_reopened" }

// Name implements Fact.
func (f *ArgumentsFilled) Name() string { return "arguments_filled" }

// Name implements Fact.
func (f *InquiryOpened) Name() string { return "inquiry_opened" }

// Name implements Fact.
func (f *InquiryAnswered) Name() string { return "inquiry_answered" }

// Name implements Fact.
func (f *InquiryClosed) Name() string { return "inquiry_closed" }

// Name implements Fact.
func (f *RunSettled) Name() string { return "run_settled" }

// Name implements Fact.
func (f *RunEnded) Name() string { return "run_ended" }

func (f *MessageReceived) about() (int, string)    { return f.Run, "" }
func (f *RunStarted) about() (int, string)         { return f.Run, "" }
func (f *ComplexityAssessed) about() (int, string) { return f.Run, "" }
func (f *PlanCreated) about() (int, string)        { return f.Run, "" }
func (f *PlanRefused) about() (int, string)        { return f.Run, "" }
func (f *Judged) about() (int, string)             { return f.Run, "" }
func (f *ReviewBegan) about() (int, string)        { return f.Run, "" }
func (f *PlanChanged) about() (int, string)        { return f.Run, "" }
func (f *TaskRouted) about() (int, string)         { return f.Run, f.Task }
func (f *TaskReady) about() (int, string)          { return f.Run, f.Task }
func (f *TaskDispatched) about() (int, string)     { return f.Run, f.Task }
func (f *TaskUnserved) about() (int, string)       { return f.Run, f.Task }
func (f *TaskStarted) about() (int, string)        { return f.Run, f.Task }
func (f *TaskProgressed) about() (int, string)     { return f.Run, f.Task }
func (f *TaskHeartbeat) about() (int, string)      { return f.Run, f.Task }
func (f *TaskDelayed) about() (int, string)        { return f.Run, f.Task }
func (f *TaskCompleted) about() (int, string)      { return f.Run, f.Task }
func (f *TaskFailed) about() (int, string)         { return f.Run, f.Task }
func (f *TaskSkipped) about() (int, string)        { return f.Run, f.Task }
func (f *TaskCancelled) about() (int, string)      { return f.Run, f.Task }
func (f *ResponseLate) about() (int, string)       { return f.Run, f.Task }
func (f *EntityMismatched) about() (int, string)   { return f.Run, f.Task }
func (f *PermitGranted) about() (int, string)      { return f.Run, f.Task }
func (f *PermitRefused) about() (int, string)      { return f.Run, f.Task }
func (f *ReplyWithheld) about() (int, string)      { return f.Run, "" }
func (f *AnswerDelayed) about() (int, string)      { return f.Run, "" }
func (f *DeliveryBounced) about() (int, string)    { return f.Run, "" }
func (f *ResendRequested) about() (int, string)    { return f.Run, "" }
func (f *DeliveryReopened) about() (int, string)   { return f.Run, "" }
func (f *ArgumentsFilled) about() (int, string)    { return f.Run, f.Task }
func (f *InquiryOpened) about() (int, string)      { return f.Run, f.Task }
func (f *InquiryAnswered) about() (int, string)    { return f.Run, "" }
func (f *InquiryClosed) about() (int, string)      { return f.Run, "" }
func (f *RunSettled) about() (int, string)         { return f.Run, "" }
func (f *RunEnded) about() (int, string)           { return f.Run, "" }

// MarshalJSONTo writes an array of objects, each of which has one member: the fact under
// its name.
func (f Facts) MarshalJSONTo(to *jsontext.Encoder) error {
	if err := to.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, fact := range f {
		if err := writeFact(to, fact); err != nil {
			return err
		}
	}
	return to.WriteToken(jsontext.EndArray)
}

func writeFact(to *jsontext.Encoder, fact Fact) error {
	if err := to.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	if err := to.WriteToken(jsontext.String(fact.Name())); err != nil {
		return err
	}
	if err := json.MarshalEncode(to, fact); err != nil {
		return err
	}
	return to.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom reads what MarshalJSONTo has written. It fails on a fact that this
// version does not know: whoever folded the others without it would be wrong.
func (f *Facts) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	*f = Facts{}
	if token, err := from.ReadToken(); err != nil || token.Kind() != '[' {
		return errors.Join(err, wrongToken(token, "an array of facts"))
	}
	for from.PeekKind() != ']' {
		fact, err := readFact(from)
		if err != nil {
			return err
		}
		*f = append(*f, fact)
	}
	_, err := from.ReadToken()
	return err
}

func readFact(from *jsontext.Decoder) (Fact, error) {
	if token, err := from.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, errors.Join(err, wrongToken(token, "an object with one fact"))
	}
	name, err := from.ReadToken()
	if err != nil || name.Kind() != '"' {
		return nil, errors.Join(err, wrongToken(name, "the name of a fact"))
	}
	fact := newFact(name.String())
	if fact == nil {
		return nil, fmt.Errorf("%w: %q", errUnknownFact, name.String())
	}
	if err = json.UnmarshalDecode(from, fact); err != nil {
		return nil, err
	}
	if token, err := from.ReadToken(); err != nil || token.Kind() != '}' {
		return nil, errors.Join(err, wrongToken(token, "the end of the fact"))
	}
	return fact, nil
}

func wrongToken(token jsontext.Token, want string) error {
	return fmt.Errorf("want %s, not %s", want, token)
}
