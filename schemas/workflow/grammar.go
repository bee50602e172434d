package workflow

import (
	"errors"
	"fmt"
	"slices"

	"podium/schemas"
)

// ErrGrammar reports a record or a fact that may not follow what stands before
// it. The ledger holds no such record unless it was tampered with or written by
// a newer version.
var ErrGrammar = errors.New("against the grammar of sessions")

// Check says why a fact about the run may not follow those before it; nil is that it may.
func (r *Run) Check(f schemas.Fact) error {
	switch f := f.(type) {
	case *schemas.ResponseLate, *schemas.PermitRefused, *schemas.DeliveryBounced:
		return nil // at any time
	case *schemas.ResendRequested:
		return checkEnded(r)
	case *schemas.DeliveryReopened:
		return checkReopened(r, f)
	default:
		if r.Phase == PhaseComplete {
			return errors.New("the run has ended")
		}
		return checkOpen(r, f)
	}
}

// checkOpen is Check while the run has not ended.
func checkOpen(r *Run, f schemas.Fact) error {
	switch f := f.(type) {
	case *schemas.ComplexityAssessed:
		if r.Phase != PhaseDecomposing {
			return errors.New("it is too late for it")
		}
		return nil
	case *schemas.PlanCreated:
		return checkPlan(r, f)
	case *schemas.PlanRefused:
		return checkRefusal(r)
	case *schemas.Judged:
		return checkJudged(r, f)
	case *schemas.PlanChanged:
		return checkChange(r, f)
	case *schemas.ReviewBegan:
		return checkReview(r, f)
	case *schemas.TaskRouted:
		return checkRoute(r, f)
	case *schemas.TaskReady:
		return checkReady(r, f)
	case *schemas.TaskDispatched:
		return checkDispatch(r, f)
	case *schemas.ArgumentsFilled:
		return checkFilled(r, f)
	case *schemas.InquiryOpened:
		return checkInquiry(r, f)
	case *schemas.InquiryAnswered:
		return checkWord(r, f.Inquiry)
	case *schemas.InquiryClosed:
		return checkWord(r, f.Inquiry)
	case *schemas.RunSettled:
		return checkSettlement(r)
	case *schemas.ReplyWithheld:
		if !r.Settled() {
			return errNotSettled
		}
		if r.Delivery != nil {
			return errors.New("its answer is being delivered, or withheld already")
		}
		return nil
	case *schemas.AnswerDelayed:
		return checkDelayed(r, f)
	case *schemas.RunEnded:
		if !r.Settled() {
			return errNotSettled
		}
		if r.Delivery != nil && !r.Delivery.State.Ended() {
			return errors.New("its answer is being delivered")
		}
		return nil
	default:
		return checkTask(r, f)
	}
}

var (
	errSettled    = errors.New("the run is settled")
	errNotSettled = errors.New("the run is not settled")
)

// checkDelayed allows the delay of an answer that no agent was asked to deliver, and that does not wait for an approval.
func checkDelayed(r *Run, f *schemas.AnswerDelayed) error {
	switch {
	case !r.Settled():
		return errNotSettled
	case r.Delivery != nil && !r.AnswerDelayed() && r.Delivery.State != TaskDue:
		return errors.New("its answer is being delivered, or waits for people")
	case f.Until.IsZero():
		return errors.New("its answer waits for no moment")
	}
	return nil
}

func checkEnded(r *Run) error {
	if r.Phase != PhaseComplete {
		return errors.New("the run has not ended")
	}
	return nil
}

func checkReopened(r *Run, f *schemas.DeliveryReopened) error {
	if err := checkEnded(r); err != nil || f.Attempt == 0 {
		return err
	}
	if r.Delivery == nil || r.Delivery.Attempt != f.Attempt || !r.Delivery.State.Ended() {
		return errors.New("its attempts are others")
	}
	return nil
}

func checkPlan(r *Run, f *schemas.PlanCreated) error {
	if r.Phase != PhaseDecomposing {
		return errors.New("the run has a plan")
	}
	return checkTasks(r, f.Tasks)
}

// checkTasks holds new tasks to ids that nothing in the run has, and to dependencies on other tasks of its plan.
func checkTasks(r *Run, tasks []schemas.PlannedTask) error {
	known := map[string]bool{schemas.DeliveryTask: true, "": true} // and whether nothing can depend on it
	for i := range r.TaskCount() {
		task := r.TaskAt(i)
		known[task.ID] = task.Plan == nil
	}
	for i := range tasks {
		id := tasks[i].Task
		if _, twice := known[id]; twice {
			return fmt.Errorf("task %q is there twice or has no proper id", id)
		}
		known[id] = false
	}
	for i := range tasks {
		for _, dependency := range tasks[i].Dependencies {
			if apart, there := known[dependency]; !there || apart || dependency == tasks[i].Task {
				return fmt.Errorf("task %q cannot depend on %q", tasks[i].Task, dependency)
			}
		}
	}
	return nil
}

// checkRefusal lets a plan be taken back of which nothing has been dispatched.
func checkRefusal(r *Run) error {
	if r.Settled() {
		return errSettled
	}
	for i := range r.Tasks {
		if r.Tasks[i].Attempt > 0 {
			return fmt.Errorf("task %q has been dispatched", r.Tasks[i].ID)
		}
	}
	return nil
}

// checkJudged lets a judge say once, by the answer to its question, how a run goes on.
func checkJudged(r *Run, f *schemas.Judged) error {
	if f.Question == "" {
		return checkReviewed(r, f)
	}
	question := r.Task(f.Question)
	switch {
	case question == nil || !question.Kind.AsksEvaluator():
		return fmt.Errorf("%q is no question to a judge", f.Question)
	case r.Settled():
		return errSettled
	case question.State != TaskCompleted:
		return fmt.Errorf("%q is %s", f.Question, question.State)
	}
	return nil
}

// checkChange lets a plan change while it is carried out: no id comes twice, and what was begun stays.
func checkChange(r *Run, f *schemas.PlanChanged) error {
	mends := r.Phase == PhaseRouting && f.Source == schemas.OccasionFix
	if r.Phase != PhaseExecuting && r.Phase != PhaseReviewing && !mends || f.Change <= r.Changes {
		return fmt.Errorf("change %d follows change %d in phase %s", f.Change, r.Changes, r.Phase)
	}
	if err := checkTasks(r, f.Tasks); err != nil {
		return err
	}
	for _, id := range f.Replaces {
		if task := r.Task(id); task == nil || task.Plan == nil || task.State != TaskFailed {
			return fmt.Errorf("task %q has not failed", id)
		}
	}
	return nil
}

func checkRoute(r *Run, f *schemas.TaskRouted) error {
	task := r.Task(f.Task)
	if task == nil || task.Plan == nil {
		return notPlanned(f.Task)
	}
	if r.Settled() || task.State.UnderWay() || task.State.Ended() {
		return fmt.Errorf("task %q is %s", f.Task, task.State)
	}
	return nil
}

func notPlanned(task string) error { return fmt.Errorf("task %q is not in the plan", task) }

// checkPlace finds the task that is to begin: one of the plan, or one outside of it, which is
// nil when this is the first that is heard of it.
func checkPlace(r *Run, id string, kind schemas.TaskKind, about *schemas.TaskAbout) (*Task, error) {
	task := r.Task(id)
	if task != nil {
		about = task.About
	}
	switch {
	case id == schemas.DeliveryTask && !r.Settled():
		return nil, errNotSettled
	case id != schemas.DeliveryTask && r.Settled() && !tellsOfAnswer(r, about):
		return nil, fmt.Errorf("task %q: %w", id, errSettled)
	case id != schemas.DeliveryTask && kind == "" && task == nil:
		return nil, notPlanned(id)
	case kind == schemas.TaskKindNotify && about == nil:
		return nil, fmt.Errorf("task %q notifies people, and does not say of what", id)
	}
	if task == nil {
		return nil, nil //nolint:nilnil // as said
	}
	for _, dependency := range task.Dependencies() {
		if !r.Task(dependency).State.Ended() {
			return nil, fmt.Errorf("task %q depends on a task that has not ended", id)
		}
	}
	if task.State.UnderWay() || task.State.Ended() || task.State == TaskWaitingApproval || task.State == TaskBlocked && !task.Mending() {
		return nil, fmt.Errorf("task %q is %s", id, task.State)
	}
	return task, nil
}

func checkReady(r *Run, f *schemas.TaskReady) error {
	_, err := checkPlace(r, f.Task, f.Kind, f.About)
	return err
}

func checkDispatch(r *Run, f *schemas.TaskDispatched) error {
	task, err := checkPlace(r, f.Task, f.Kind, f.About)
	if err != nil {
		return err
	}
	if task == nil {
		task = &Task{}
	}
	switch {
	case task.State == TaskBlocked:
		return fmt.Errorf("task %q is %s", f.Task, task.State)
	case task.Plan != nil && !task.Routed:
		return fmt.Errorf("task %q is not routed", f.Task)
	case f.Attempt != task.Attempt+1:
		return fmt.Errorf("task %q: attempt %d follows attempt %d", f.Task, f.Attempt, task.Attempt)
	case f.Permitted && task.Permit != "":
		return fmt.Errorf("task %q: its effect was permitted before", f.Task)
	case f.Approval != 0 && !isApprovedBy(r, f.Approval, f.Task), f.Task == schemas.DeliveryTask && r.AnswerHeld():
		return fmt.Errorf("task %q: nobody has agreed by inquiry %d", f.Task, f.Approval)
	}
	return nil
}

// isApprovedBy reports whether an inquiry about a task was answered with an approval.
func isApprovedBy(r *Run, inquiry int, task string) bool {
	asked := r.Inquiry(inquiry)
	return asked != nil && asked.Task == task && asked.Approved()
}

func checkSettlement(r *Run) error {
	if r.Settled() {
		return errSettled
	}
	for i := range r.Tasks {
		if r.Tasks[i].State.UnderWay() {
			return fmt.Errorf("task %q is %s", r.Tasks[i].ID, r.Tasks[i].State)
		}
	}
	if r.WaitsForPeople() {
		return errors.New("a person is asked")
	}
	return nil
}

// checkFilled lets arguments be filled while nobody works with others.
func checkFilled(r *Run, f *schemas.ArgumentsFilled) error {
	task := r.Task(f.Task)
	switch {
	case task == nil || task.Plan == nil:
		return notPlanned(f.Task)
	case r.Settled():
		return errSettled
	case task.State.UnderWay() || task.State.Ended():
		return fmt.Errorf("task %q is %s", f.Task, task.State)
	}
	return nil
}

// checkAskedAgain lets a task wait once more for what the answer to an inquiry of the same attempt does not say as it is needed.
func checkAskedAgain(r *Run, task *Task, f *schemas.InquiryOpened) error {
	before := r.Inquiry(f.After)
	if before == nil || before.Answered == nil || before.Task != f.Task || before.Attempt != f.Attempt || f.Attempt == 0 || task.State != TaskDue {
		return fmt.Errorf("inquiry %d does not follow the answer to inquiry %d", f.Inquiry, f.After)
	}
	return nil
}

// saysWrongly reports whether work is asked for once more after an answer by which it is not done.
func saysWrongly(r *Run, f *schemas.InquiryOpened) bool {
	before := r.Inquiry(f.After)
	return before != nil && before.Answered != nil && before.Answered.Choice == schemas.ChoiceAnswer && before.Task == f.Task && before.Kind == f.Kind && f.Attempt == 0
}

// checkInquiry returns why a human task may not be opened: its number, what it continues of earlier runs, or the rule of its kind.
func checkInquiry(r *Run, f *schemas.InquiryOpened) error {
	task := r.Task(f.Task)
	later := func(letter schemas.InquiryName) bool { return letter.Run >= r.Number }
	switch {
	case f.Inquiry != len(r.Inquiries)+1:
		return fmt.Errorf("inquiry %d follows inquiry %d", f.Inquiry, len(r.Inquiries))
	case f.Adopts != nil && (f.Attempt > 0 || slices.ContainsFunc(f.Adopts.Letters, later)):
		return fmt.Errorf("inquiry %d adopts what no earlier run has left", f.Inquiry)
	}
	return ruleOf(f.Kind).check(r, task, f)
}

// checkHeld lets people be asked whether an answer may be sent, before it is and one question at a time.
func checkHeld(r *Run, f *schemas.InquiryOpened) error {
	open := func(other *Inquiry) bool { return other.Open() && other.Task == f.Task }
	switch {
	case r.Phase != PhaseAssembling:
		return errNotSettled
	case f.Task != schemas.DeliveryTask || f.Attempt > 0 || f.After > 0 || f.Operation != nil:
		return fmt.Errorf("inquiry %d asks for nothing that an answer waits for", f.Inquiry)
	case r.Delivery != nil && r.Delivery.State != TaskWaitingApproval || slices.ContainsFunc(r.Inquiries, open):
		return errors.New("its answer is being delivered, or people are asked about it")
	}
	return nil
}

// checkOfReview lets people be asked about a review that has failed, one question at a time.
func checkOfReview(r *Run, f *schemas.InquiryOpened) error {
	open, _ := r.AsksAboutReview()
	if r.Phase != PhaseReviewing || r.Review.Outcome != schemas.OutcomeFailed || f.Task != schemas.ReviewInput(r.Review.Round) || f.Attempt > 0 || f.After > 0 || open != nil {
		return errors.New("no review has failed, or somebody is asked about it")
	}
	return nil
}

// checkEscalation lets people be asked about a failure, one question at a time.
func checkEscalation(r *Run, task *Task, f *schemas.InquiryOpened) error {
	open := func(other *Inquiry) bool { return other.Open() && other.Task == f.Task }
	if task.State != TaskBlocked || f.Attempt > 0 || f.After > 0 || f.Upstream && r.Message.Upstream == nil || slices.ContainsFunc(r.Inquiries, open) {
		return fmt.Errorf("task %q is %s, or somebody is asked about it", f.Task, task.State)
	}
	return nil
}

// checkShortage lets people be asked for more of what a task waits for, by one inquiry at a time.
func checkShortage(r *Run, task *Task, f *schemas.InquiryOpened) error {
	switch {
	case r.Settled():
		return errSettled
	case task == nil || task.State != TaskReady || !task.Held || f.Attempt > 0 || f.Shortage == nil:
		return fmt.Errorf("task %q does not wait for the budget", f.Task)
	case r.AsksForBudget() != nil:
		return errors.New("people are asked for more already")
	}
	return nil
}

// asksBeside reports whether the requester, people by mail and people in the thread are asked for the same at once, and no person twice.
func asksBeside(r *Run, f *schemas.InquiryOpened) bool {
	asked := func(name string) bool { return slices.Contains(f.People, name) }
	return !slices.ContainsFunc(r.Inquiries, func(other *Inquiry) bool {
		same := len(other.People) == 0 && len(f.People) == 0 || slices.ContainsFunc(other.People, asked)
		people := len(other.People) > 0 && len(f.People) > 0
		return other.Open() && other.Task == f.Task && (other.Kind != f.Kind || other.Hash != f.Hash || other.Need != f.Need || same || people && other.InThread == f.InThread)
	})
}

// checkWord lets an inquiry end once.
func checkWord(r *Run, number int) error {
	if inquiry := r.Inquiry(number); inquiry == nil || !inquiry.Open() {
		return fmt.Errorf("inquiry %d is not open", number)
	}
	return nil
}

// checkTask is Check for what is said of one task.
func checkTask(r *Run, f schemas.Fact) error {
	id := schemas.TaskOf(f)
	task := r.Task(id)
	switch {
	case task == nil:
		return notPlanned(id)
	case r.Settled() && id != schemas.DeliveryTask && !tellsOfAnswer(r, task.About):
		return fmt.Errorf("task %q: %w", id, errSettled)
	case schemas.As[*schemas.EntityMismatched](f) != nil:
		return nil
	case task.State.Ended() && !task.mayForgo(f):
		return fmt.Errorf("task %q is %s", id, task.State)
	}
	if completed := schemas.As[*schemas.TaskCompleted](f); completed != nil && completed.Brought > 0 && (completed.Brought >= r.Number || task.Attempt > 0) {
		return fmt.Errorf("task %q: no run before has completed it, or it was begun", id)
	}
	if err := task.check(f); err != nil {
		return fmt.Errorf("task %q: %w", id, err)
	}
	return nil
}

// mayForgo reports whether a run may go on without a task that has failed, as a judge has said who was told so.
func (t *Task) mayForgo(f schemas.Fact) bool {
	skipped := schemas.As[*schemas.TaskSkipped](f)
	return skipped != nil && skipped.Reason == schemas.SkippedForgone && t.State == TaskFailed && t.Judged
}

// check says why a fact about a task that has not ended may not follow.
func (t *Task) check(f schemas.Fact) error {
	switch f := f.(type) {
	case *schemas.TaskUnserved:
		if t.State == TaskRunning {
			return t.isIt()
		}
		return nil
	case *schemas.TaskStarted:
		if t.State == TaskRunning {
			return t.isIt()
		}
		return t.current(f.Attempt)
	case *schemas.TaskProgressed:
		if f.Percentage < 0 || f.Percentage > 100 {
			return fmt.Errorf("%d percent", f.Percentage)
		}
		return t.current(f.Attempt)
	case *schemas.TaskHeartbeat:
		return t.current(f.Attempt)
	case *schemas.TaskDelayed:
		return t.current(f.Attempt)
	case *schemas.PermitGranted:
		return t.checkPermit(f)
	case *schemas.TaskCompleted: // one that no agent was asked for has no attempt
		if t.State == TaskBlocked && f.Attempt > 0 {
			return t.isIt()
		}
		if t.State != TaskWaitingInput && t.State != TaskBlocked && (f.Attempt > 0 || t.Attempt > 0 || t.State.UnderWay()) {
			return t.current(f.Attempt)
		}
		return nil
	case *schemas.TaskFailed: // one that nobody can be asked for fails before its first attempt
		if t.State.UnderWay() {
			return t.current(f.Attempt)
		}
		if f.Attempt != t.Attempt {
			return fmt.Errorf("attempt %d fails after attempt %d", f.Attempt, t.Attempt)
		}
		return nil
	case *schemas.TaskSkipped:
		if t.State.UnderWay() {
			return t.isIt()
		}
		return nil
	case *schemas.TaskCancelled:
		if f.Attempt != 0 && f.Attempt != t.Attempt {
			return t.other(f.Attempt)
		}
		return nil
	default:
		return errors.New("nothing of this kind is known about tasks")
	}
}

func (t *Task) isIt() error { return fmt.Errorf("it is %s", t.State) }

func (t *Task) other(attempt int) error {
	return fmt.Errorf("attempt %d while attempt %d is under way", attempt, t.Attempt)
}

// current refuses what does not concern the attempt that is under way.
func (t *Task) current(attempt int) error {
	switch {
	case !t.State.UnderWay():
		return t.isIt()
	case attempt != t.Attempt:
		return t.other(attempt)
	}
	return nil
}

// checkPermit holds an effect to one permit: another one says that it is again.
func (t *Task) checkPermit(f *schemas.PermitGranted) error {
	if err := t.current(f.Attempt); err != nil {
		return err
	}
	switch {
	case t.Permit != "" && !f.Again:
		return fmt.Errorf("permit %s: the effect was permitted before", f.Permit)
	case f.Again && t.Permit == "":
		return fmt.Errorf("permit %s: the effect was not permitted before", f.Permit)
	}
	return nil
}
