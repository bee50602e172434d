package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
	"podium/supervisor/review"
)

// finish does what follows when all tasks have ended: what they have made is reviewed, if the profile has it so, then told.
func finish(d *Decision) {
	if reviewed(d) && (d.Run.Review == nil || !fault.Is("what was mended is not looked at")) {
		beginReview(d, false)
		return
	}
	summarize(d)
}

// reviewed reports whether what the run has made is looked at. What waits for whoever has asked comes again, and where nothing was done
// there is nothing to look at.
func reviewed(d *Decision) bool {
	policy := d.Profile.Review
	if policy == nil || !completedAny(d) {
		return false
	}
	if failed := decisive(d); failed != nil && (failed.Failure().Cause == schemas.FailureBlocked || failed.Failure().Cause == schemas.FailureUnapproved) {
		return false
	}
	return policy.When != schemas.ReviewComplex || isComplex(d)
}

// isComplex reports whether the request is one of several steps (P-17).
func isComplex(d *Decision) bool {
	if upstream := d.Run.Message.Upstream; d.Profile.Complexity == nil || upstream != nil && upstream.Planned {
		roots := slices.DeleteFunc(slices.Clone(d.Run.Tasks), review.IsFix)
		return len(roots) > 1
	}
	return d.Profile.router.AssessComplexity(requestText(d)).Complex
}

func beginReview(d *Decision, forced bool) {
	round := 1
	if d.Run.Review != nil {
		round += fault.Either("rounds restart", 0, d.Run.Review.Round)
	}
	d.emit(&schemas.ReviewBegan{Run: d.Run.Number, Round: round, Forced: forced})
}

// forceReview has what is there looked at when there are no steps left for the rest (P-15), as soon as nothing is under way any more.
func forceReview(d *Decision) {
	for _, task := range d.Run.Tasks {
		if unbegun(task) {
			d.emit(&schemas.TaskSkipped{Run: d.Run.Number, Task: task.ID, Reason: schemas.SkippedStepLimit})
		}
	}
	if isDone(d) && d.Run.Judge() == nil {
		beginReview(d, true)
	}
}

// awaitsReviewReply reports whether a review goes on once an agent or people have answered.
func awaitsReviewReply(d *Decision) bool {
	asked, _ := d.Run.AsksAboutReview()
	return asked != nil || d.Run.Judge() != nil
}

func conflicts(file review.File) bool { return file.Conflicts() }

// mergeVersions has several versions become one, once in a round.
func mergeVersions(d *Decision) {
	merge := d.Profile.Review.Merge
	if merge != "" && len(d.Run.Asked(schemas.OccasionMerge)) == 0 && d.Mergeable(review.Files(d.Run)) {
		ask(d, d.Run.NewMerge(merge))
	}
}

// Mergeable reports whether there are versions that can be merged: it is known what each of them is, and that there are no others.
func (d *Decision) Mergeable(files []review.File) bool {
	unknown := func(version review.Version) bool { return version.Hash == "" }
	for i := range files {
		if files[i].Conflicts() && slices.ContainsFunc(files[i].Heads, unknown) {
			return false
		}
	}
	return slices.ContainsFunc(files, conflicts) && len(review.Cut(d.Run)) == 0
}

// askChecks asks all that the project calls for, once in a round, unless several versions of a file are left.
func askChecks(d *Decision) {
	var questions []*workflow.Task
	for i := range d.Profile.Review.Checks {
		check := &d.Profile.Review.Checks[i]
		question := workflow.NewCheck(check.Agent, d.Run.Review.Round)
		if d.Run.Task(question.ID) == nil && isFor(d, check) && (i == 0 || !fault.Is("a check is left out")) {
			questions = append(questions, question)
		}
	}
	if len(questions) == 0 || slices.ContainsFunc(review.Files(d.Run), conflicts) {
		return
	}
	for _, question := range questions {
		ask(d, question)
	}
}

// isFor reports whether a check is for the type of the project (M-40).
func isFor(d *Decision, check *schemas.Check) bool {
	if len(check.For) == 0 {
		return true
	}
	return slices.ContainsFunc(d.Run.Tasks, func(task *workflow.Task) bool {
		var constraints struct {
			ProjectType string `json:"project_type"`
		}
		said := task.Plan.Options().Constraints
		return len(said) > 0 && schemas.Unmarshal(said, &constraints) == nil && slices.Contains(check.For, constraints.ProjectType)
	})
}

// endReview says what was found, by rule and by whom was asked.
func endReview(d *Decision) {
	policy, files := d.Profile.Review, review.Files(d.Run)
	issues := review.Faults(d.Run, policy.Agree, func(task *workflow.Task) jsontext.Value { return d.content(task.Result).Data })
	unassigned := review.Cut(d.Run)
	for i := range files {
		if files[i].Conflicts() {
			unassigned = append(unassigned, files[i].Conflict())
		}
	}
	more := false
	for _, question := range d.Run.Asked(schemas.OccasionReview) {
		found, err := resultsOf(d, question)
		switch {
		case err == nil:
			issues = append(issues, review.Issues(question.Agent, found)...)
		case question.State == workflow.TaskCompleted:
			more = true // it says what is to be done instead
		default:
			unassigned = append(unassigned, schemas.ReviewIssue{Check: question.Agent, Severity: schemas.ValidationError, Message: notMade(question)})
		}
	}
	review.Assign(d.Run, files, issues)
	issues = append(issues, unassigned...)
	judged := schemas.Judged{
		Run: d.Run.Number, Occasion: schemas.OccasionReview, Round: d.Run.Review.Round, Outcome: schemas.OutcomePassed, Issues: review.Kept(issues),
	}
	if more || !review.Passed(issues) && !fault.Is("what is wrong passes") {
		judged.Outcome = schemas.OutcomeFailed
	}
	d.emit(&judged)
}

// resultsOf are what a check has found; the error is that it says nothing of the kind.
func resultsOf(d *Decision, question *workflow.Task) ([]schemas.ValidationResult, error) {
	return CheckResults(question, d.content(question.Result))
}

// CheckResults are what a check has found, given the result that it has answered with. The error is that it says nothing of the kind.
func CheckResults(question *workflow.Task, result schemas.Result) ([]schemas.ValidationResult, error) {
	if question.State != workflow.TaskCompleted {
		return nil, review.ErrNoResults
	}
	return review.Results(question.Findings, valuesIn(result))
}

// concludeReview goes on once the newest round has passed, or somebody has taken the results as they are.
func concludeReview(d *Decision) {
	switch round := d.Run.Review; {
	case round.Outcome == schemas.OutcomePassed && round.Forced:
		incomplete(d, schemas.StopStepLimit, stepsTaken(d))
	case round.Outcome == schemas.OutcomePassed, takenAsItIs(d):
		summarize(d)
	}
}

// notMade tells that a check could not be made, which one, and what it says.
func notMade(question *workflow.Task) string {
	failure := question.Failure()
	return "The check by " + question.Agent + " could not be made: " + truncate(cmp.Or(strings.TrimSpace(failure.Detail), string(failure.Cause)+"."), maxFault)
}

// mayRework reports whether a run whose review has failed may go back to work once more (P-15).
func mayRework(d *Decision) bool {
	round := d.Run.Review
	return reviewAwaitsDecision(d) && !round.Forced && (round.Round <= d.Profile.Review.Rounds || fault.Is("rounds have no end")) && d.Run.Steps() < d.Profile.StepLimit()
}

// adoptPlanOfCheck has the plan of the first check done that has one.
func adoptPlanOfCheck(d *Decision) {
	for _, question := range d.Run.Asked(schemas.OccasionReview) {
		if _, err := resultsOf(d, question); err == nil || question.State != workflow.TaskCompleted {
			continue
		}
		said, err := ReadVerdict(d.content(question.Result))
		if err != nil {
			continue
		}
		if change, faults := change(d, &said); len(faults) == 0 && !change.same {
			adoptChange(d, schemas.OccasionReview, change)
			return
		}
	}
}

// fixIssues has whoever is responsible mend what was found (M-42). What was done outside is not done again for that.
func fixIssues(d *Decision) {
	mendable := func(made *workflow.Task) bool {
		use := d.Profile.agentUse(made.Agent)
		return use != nil && use.Unavailable == "" && made.Permit == ""
	}
	fixes := review.Fixes(d.Run, d.Run.Review.Round, review.Files(d.Run), d.Run.Review.Issues, mendable)
	if len(fixes) == 0 {
		return
	}
	changed := schemas.PlanChanged{Run: d.Run.Number, Change: nextChange(d, nil), Source: schemas.OccasionReview, Tasks: fixes}
	for _, task := range d.Run.Tasks { // what has failed to mend it before is tried anew
		again := slices.ContainsFunc(fixes, func(fix schemas.PlannedTask) bool { return fix.Options().Fixes == review.Root(task) })
		if again && review.IsFix(task) && task.State == workflow.TaskFailed && !task.Replaced {
			changed.Replaces = append(changed.Replaces, task.ID)
		}
	}
	d.emit(&changed)
}

// askAboutIssues asks the judge of failures what is to be done about what nobody is responsible for, once in a round (M-45).
func askAboutIssues(d *Decision) {
	agent := ""
	switch {
	case recovery.Judged(&d.Profile.Profile, schemas.CategoryCoordination, schemas.FailureConflict):
		agent = recovery.Judge(&d.Profile.Profile)
	case changes(d):
		agent = d.Profile.Replan.Agent
	}
	if agent != "" && len(d.Run.Asked(schemas.OccasionFailure)) == 0 {
		ask(d, d.Run.NewEvaluation(schemas.TriggerFailure, agent))
	}
}

// withheldByReview reports whether the results of a run are not told: it is reviewed, and the last round has not passed them.
func withheldByReview(d *Decision) bool {
	return !fault.Is("what has not passed is told when a run ends otherwise") && d.Run.Review != nil && d.Run.Review.Outcome != schemas.OutcomePassed && d.Profile.Review.OnFailed != schemas.ReviewPartial && !takenAsItIs(d)
}

// takenAsItIs reports whether somebody who was asked about the newest round has said skip.
func takenAsItIs(d *Decision) bool {
	return d.Run.Review != nil && slices.ContainsFunc(d.Run.Inquiries, func(i *workflow.Inquiry) bool {
		return i.Task == schemas.ReviewInput(d.Run.Review.Round) && i.Answered != nil && i.Answered.Choice == schemas.ChoiceSkip
	})
}

// maxErrorsTold is how many errors of a review an answer tells at the most; all of them stand on record.
const maxErrorsTold = 10

// reviewErrors are the errors that the last round has found, as they are told, and how many there are.
func reviewErrors(d *Decision) (told string, errorsFound int) {
	var lines []string
	for i := range d.Run.Review.Issues {
		if issue := &d.Run.Review.Issues[i]; issue.Severity == schemas.ValidationError {
			errorsFound++
			told := issue.Message
			if !strings.Contains(told, issue.File) {
				told = review.Where(issue) + told
			}
			if line := fitting(d, told); line != "" && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	switch {
	case len(lines) == 0:
		return "", errorsFound
	case len(lines) == 1:
		return lines[0], errorsFound
	case len(lines) > maxErrorsTold:
		lines = append(lines[:maxErrorsTold], "…")
	}
	return truncate("\n- "+strings.Join(lines, "\n- "), maxFeedback), errorsFound
}

// failReview ends a run whose review has failed for good, with what was found.
func failReview(d *Decision) {
	found, errorsFound := reviewErrors(d)
	details := fmt.Sprintf("round %d of the review has found %d errors", d.Run.Review.Round, errorsFound)
	sentence := reviewFault(d, found)
	partial := d.Profile.Review.OnFailed == schemas.ReviewPartial
	if partial {
		sentence += "\n\n" + d.texts().Partial
	}
	failure := runFailure(d, schemas.ErrorValidation, schemas.ActionEscalate, details, sentence)
	if partial || fault.Is("what has failed to pass is told") {
		conclude(d, schemas.RunPartial, schemas.StopReviewFailed, failure)
		return
	}
	concludeWith(d, schemas.RunFailed, schemas.StopReviewFailed, failure, nil)
}

// reviewFault tells whoever has asked what a review has found.
func reviewFault(d *Decision, found string) string {
	sentence := strings.TrimSpace(strings.NewReplacer("{detail}", found).Replace(d.texts().ReviewFailed))
	if sentence == "" {
		sentence = without(d.texts().TaskFailed)
	}
	if strings.HasPrefix(found, "\n") {
		sentence = strings.Replace(sentence, " \n- ", "\n- ", 1) // a list has lines of its own
	}
	return sentence
}

// checkAnswered takes what a check has found, or what it wants done.
func checkAnswered(d *Decision, question *workflow.Task, answer *Response) {
	if _, err := review.Results(answer.Findings, valuesIn(answer.WholeResult)); err == nil {
		completed(d, question, answer)
		return
	}
	said, err := ReadVerdict(answer.WholeResult)
	if err != nil || said.Response != "" {
		fail(d, question, schemas.FailureInvalidResult, review.ErrNoResults.Error()+". Instead there may be tasks that are to be done.")
		return
	}
	change, faults := change(d, &said)
	if len(faults) > 0 {
		fail(d, question, schemas.FailureInvalidResult, truncate(feedback(faults), maxFeedback))
		return
	}
	completed(d, question, answer)
	d.emit(&schemas.Judged{
		Run: d.Run.Number, Question: question.ID, Occasion: schemas.OccasionReview, Round: d.Run.Review.Round, Outcome: schemas.OutcomePlan, Repeated: change.repeated,
	})
}

// mergeAnswered takes merged files. Unless each conflict is settled by one, nothing is merged (M-38).
func mergeAnswered(d *Decision, question *workflow.Task, answer *Response) {
	made := schemas.TaskCompleted{Run: d.Run.Number, Task: question.ID}
	(&provenance{decision: d, task: question, put: answer.PutArtifacts}).answer(answer, &made)
	var merged []schemas.MergedFile
	var left []string
	for _, file := range review.Files(d.Run) {
		if !file.Conflicts() {
			continue
		}
		at := slices.IndexFunc(made.Deliverables, func(deliverable schemas.Deliverable) bool {
			_, is := DeliverableFile(&deliverable)
			return is && review.Path(&deliverable) == file.Path
		})
		if at < 0 {
			left = append(left, file.Conflict().Message)
			continue
		}
		merged = append(merged, schemas.MergedFile{Path: file.Path, Of: file.Of, Agent: question.Agent, Deliverable: made.Deliverables[at]})
	}
	if len(left) > 0 && !fault.Is("merged in part") {
		fail(d, question, schemas.FailureConflict, truncate(strings.Join(left, "; "), maxFeedback))
		return
	}
	completed(d, question, answer)
	d.emit(&schemas.Judged{
		Run: d.Run.Number, Question: question.ID, Occasion: schemas.OccasionMerge, Round: d.Run.Review.Round, Outcome: schemas.OutcomePassed, Merged: merged,
	})
}

// standing are the tasks whose results the answer is made of, each in the place of what it mends.
func standing(d *Decision) []*workflow.Task {
	var tasks []*workflow.Task
	for _, task := range d.Run.Tasks {
		switch {
		case review.IsFix(task):
		case d.Profile.Review == nil && task.State == workflow.TaskCompleted && inAnswer(d, task):
			tasks = append(tasks, d.Run.Standing(task.ID))
		case d.Profile.Review != nil && task.State == workflow.TaskCompleted && !leadsOn(d, task):
			tasks = append(tasks, review.Newest(d.Run, task.ID))
		}
	}
	return tasks
}

// leadsOn is what inAnswer denies, where tasks may be mended.
func leadsOn(d *Decision, task *workflow.Task) bool {
	if d.Profile.Execution.Mode != schemas.ExecutionDAG {
		return false
	}
	builds := func(id string) bool {
		dependency := d.Run.Task(id)
		return dependency != nil && review.Root(dependency) == task.ID
	}
	return slices.ContainsFunc(d.Run.Tasks, func(other *workflow.Task) bool {
		return !review.IsFix(other) && (other.State == workflow.TaskCompleted || other.Replaced) && slices.ContainsFunc(other.Dependencies(), builds)
	})
}

// checkFindings are what the checks of the newest round have found.
func checkFindings(d *Decision) []schemas.Findings {
	var said []schemas.Findings
	for _, question := range d.Run.Asked(schemas.OccasionReview) {
		if found, err := resultsOf(d, question); err == nil {
			said = append(said, schemas.Findings{ValidationResults: found})
		}
	}
	return said
}

func (p *Profile) reviewFaults() []error {
	policy := p.Review
	if policy == nil {
		return nil
	}
	var faults []error
	if policy.Rounds < 0 || policy.Rounds > schemas.MaxReviewRounds {
		faults = append(faults, errors.New("review: rounds is 0 to "+strconv.Itoa(schemas.MaxReviewRounds)))
	}
	if policy.When != "" && policy.When != schemas.ReviewComplex {
		faults = append(faults, fmt.Errorf("review: when is %s or nothing, and not %q", schemas.ReviewComplex, policy.When))
	}
	switch policy.OnFailed {
	case "", schemas.ReviewFails, schemas.ReviewPartial:
	case schemas.ReviewAsks:
		if recovery.Deciding(&p.Profile) == nil {
			faults = append(faults, errors.New("review: on_failed ask needs people in escalation.human or escalation.coordinator"))
		}
	default:
		faults = append(faults, fmt.Errorf("review: on_failed is %s, %s or %s, and not %q", schemas.ReviewFails, schemas.ReviewPartial, schemas.ReviewAsks, policy.OnFailed))
	}
	if policy.Merge != "" && !schemas.ValidAgentName(policy.Merge) {
		faults = append(faults, errors.New("review.merge: it names no agent"))
	}
	var asked []string
	for i := range policy.Checks {
		agent := policy.Checks[i].Agent
		if !schemas.ValidAgentName(agent) || slices.Contains(asked, agent) {
			faults = append(faults, fmt.Errorf("review.checks[%d]: it names no agent, or one that is asked already", i))
		}
		asked = append(asked, agent)
	}
	return faults
}
