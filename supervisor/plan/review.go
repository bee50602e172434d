package plan

import (
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
	"podium/supervisor/say"
)

// finish does what follows when all tasks have ended: what they have made is reviewed, if the profile has it so, then told.
func finish(v *View) events {
	if reviewed(v) && (v.Run.Review == nil || !fault.Is("what was mended is not looked at")) {
		return events{beginReview(v, false)}
	}
	return summarize(v)
}

// reviewed reports whether what the run has made is looked at. What waits for whoever has asked comes again, and where nothing was done
// there is nothing to look at.
func reviewed(v *View) bool {
	policy := v.Profile.Review
	if policy == nil || !completedAny(v) {
		return false
	}
	if failed := decisive(v); failed != nil && (failed.Failure().Cause == schemas.FailureBlocked || failed.Failure().Cause == schemas.FailureUnapproved) {
		return false
	}
	return policy.When != schemas.ReviewComplex || isComplex(v)
}

// isComplex reports whether the request is one of several steps (P-17).
func isComplex(v *View) bool {
	if upstream := v.Run.Message.Upstream; v.Profile.Complexity == nil || upstream != nil && upstream.Planned {
		roots := slices.DeleteFunc(slices.Clone(v.Run.Tasks), review.IsFix)
		return len(roots) > 1
	}
	return v.Profile.router.AssessComplexity(requestText(v)).Complex
}

func beginReview(v *View, forced bool) *schemas.ReviewBegan {
	round := 1
	if v.Run.Review != nil {
		round += fault.Either("rounds restart", 0, v.Run.Review.Round)
	}
	return &schemas.ReviewBegan{Run: v.Run.Number, Round: round, Forced: forced}
}

// forceReview has what is there looked at when there are no steps left for the rest (P-15), as soon as nothing is under way any more.
func forceReview(v *View) events {
	var done events
	ended := true
	for _, task := range v.Run.Tasks {
		if unbegun(task) {
			done = append(done, &schemas.TaskSkipped{Run: v.Run.Number, Task: task.ID, Reason: schemas.SkippedStepLimit})
		} else if !task.State.Ended() {
			ended = false
		}
	}
	if ended && v.Run.Judge() == nil {
		done = append(done, beginReview(v, true))
	}
	return done
}

// awaitsReviewReply reports whether a review goes on once an agent or people have answered.
func awaitsReviewReply(v *View) bool {
	asked, _ := v.Run.AsksAboutReview()
	return asked != nil || v.Run.Judge() != nil
}

func conflicts(file review.File) bool { return file.Conflicts() }

// mergeVersions has several versions become one, once in a round.
func mergeVersions(v *View) events {
	merge := v.Profile.Review.Merge
	if merge != "" && len(v.Run.Asked(schemas.OccasionMerge)) == 0 && v.Mergeable(review.Files(v.Run)) {
		return ask(v, v.Run.NewMerge(merge))
	}
	return nil
}

// Mergeable reports whether there are versions that can be merged: it is known what each of them is, and that there are no others.
func (v *View) Mergeable(files []review.File) bool {
	unknown := func(version review.Version) bool { return version.Hash == "" }
	for i := range files {
		if files[i].Conflicts() && slices.ContainsFunc(files[i].Heads, unknown) {
			return false
		}
	}
	return slices.ContainsFunc(files, conflicts) && len(review.Cut(v.Run)) == 0
}

// askChecks asks all that the project calls for, once in a round, unless several versions of a file are left.
func askChecks(v *View) events {
	var questions []*workflow.Task
	for i := range v.Profile.Review.Checks {
		check := &v.Profile.Review.Checks[i]
		asked := v.Run.Task(schemas.CheckTask(check.Agent, v.Run.Review.Round)) != nil
		if !asked && isFor(v, check) && (i == 0 || !fault.Is("a check is left out")) {
			questions = append(questions, workflow.NewCheck(check.Agent, v.Run.Review.Round))
		}
	}
	if len(questions) == 0 || slices.ContainsFunc(review.Files(v.Run), conflicts) {
		return nil
	}
	return askAll(v, questions)
}

// isFor reports whether a check is for the type of the project (M-40).
func isFor(v *View, check *schemas.Check) bool {
	if len(check.For) == 0 {
		return true
	}
	return slices.ContainsFunc(v.Run.Tasks, func(task *workflow.Task) bool {
		var constraints struct {
			ProjectType string `json:"project_type"`
		}
		said := task.Plan.Options().Constraints
		return len(said) > 0 && schemas.Unmarshal(said, &constraints) == nil && slices.Contains(check.For, constraints.ProjectType)
	})
}

// endReview says what was found, by rule and by whom was asked.
func endReview(v *View) events {
	policy, files := v.Profile.Review, review.Files(v.Run)
	issues := review.Faults(v.Run, policy.Agree, func(task *workflow.Task) jsontext.Value { return v.content(task.Result).Data })
	unassigned := review.Cut(v.Run)
	for i := range files {
		if files[i].Conflicts() {
			unassigned = append(unassigned, files[i].Conflict())
		}
	}
	more := false
	for _, question := range v.Run.Asked(schemas.OccasionReview) {
		found, err := resultsOf(v, question)
		switch {
		case err == nil:
			issues = append(issues, review.Issues(question.Agent, found)...)
		case question.State == workflow.TaskCompleted:
			more = true // it says what is to be done instead
		default:
			unassigned = append(unassigned, issueOfCheck(question))
		}
	}
	review.Assign(v.Run, files, issues)
	issues = append(issues, unassigned...)
	judged := schemas.Judged{
		Run: v.Run.Number, Occasion: schemas.OccasionReview, Round: v.Run.Review.Round, Outcome: schemas.OutcomePassed, Issues: review.Kept(issues),
	}
	if more || !review.Passed(issues) && !fault.Is("what is wrong passes") {
		judged.Outcome = schemas.OutcomeFailed
	}
	return events{&judged}
}

// resultsOf are what a check has found; the error is that it says nothing of the kind.
func resultsOf(v *View, question *workflow.Task) ([]schemas.ValidationResult, error) {
	return CheckResults(question, v.content(question.Result))
}

// CheckResults are what a check has found, given the result that it has answered with. The error is that it says nothing of the kind.
func CheckResults(question *workflow.Task, result schemas.Result) ([]schemas.ValidationResult, error) {
	if question.State != workflow.TaskCompleted {
		return nil, review.ErrNoResults
	}
	return review.Results(question.Findings, valuesIn(result))
}

// concludeReview goes on once the newest round has passed, or somebody has taken the results as they are.
func concludeReview(v *View) events {
	switch round := v.Run.Review; {
	case round.Outcome == schemas.OutcomePassed && round.Forced:
		return incomplete(v, schemas.StopStepLimit, stepsTaken(v))
	case round.Outcome == schemas.OutcomePassed, takenAsItIs(v):
		return summarize(v)
	}
	return nil
}

// issueOfCheck says that a check could not be made, which one, and what its agent says.
func issueOfCheck(question *workflow.Task) schemas.ReviewIssue {
	failure := question.Failure()
	issue := schemas.ReviewIssue{Check: question.Agent, Severity: schemas.ValidationError, Message: truncate(strings.TrimSpace(failure.Detail), maxRepeatedWords)}
	issue.Reasons = append(issue.Reasons, schemas.Because(schemas.CheckNotMade, "agent", question.Agent))
	if issue.Message == "" && len(failure.Reasons) == 0 {
		issue.Reasons = append(issue.Reasons, schemas.Because(schemas.FailureCause, "cause", string(failure.Cause)))
	}
	issue.Reasons = append(issue.Reasons, failure.Reasons...)
	return issue
}

// mayRework reports whether a run whose review has failed may go back to work once more (P-15).
func mayRework(v *View) bool {
	round := v.Run.Review
	return reviewAwaitsDecision(v) && !round.Forced && (round.Round <= v.Profile.Review.Rounds || fault.Is("rounds have no end")) && v.Run.Steps() < v.Profile.StepLimit()
}

// adoptPlanOfCheck has the plan of the first check done that has one.
func adoptPlanOfCheck(v *View) events {
	for _, question := range v.Run.Asked(schemas.OccasionReview) {
		if _, err := resultsOf(v, question); err == nil || question.State != workflow.TaskCompleted {
			continue
		}
		said, err := ReadVerdict(v.content(question.Result))
		if err != nil {
			continue
		}
		if change, faults := change(v, &said); len(faults) == 0 && !change.same {
			return adoptChange(v, schemas.OccasionReview, change)
		}
	}
	return nil
}

// fixIssues has whoever is responsible mend what was found (M-42). What was done outside is not done again for that.
func fixIssues(v *View) events {
	mendable := func(made *workflow.Task) bool {
		use := v.Profile.agentUse(made.Agent)
		return use != nil && use.Unavailable == "" && made.Permit == ""
	}
	fixes := review.Fixes(v.Run, v.Run.Review.Round, review.Files(v.Run), v.Run.Review.Issues, mendable)
	if len(fixes) == 0 {
		return nil
	}
	changed := schemas.PlanChanged{Run: v.Run.Number, Change: nextChange(v, nil), Source: schemas.OccasionReview, Tasks: fixes}
	for _, task := range v.Run.Tasks { // what has failed to mend it before is tried anew
		again := slices.ContainsFunc(fixes, func(fix schemas.PlannedTask) bool { return fix.Options().Fixes == review.Root(task) })
		if again && review.IsFix(task) && task.State == workflow.TaskFailed && !task.Replaced {
			changed.Replaces = append(changed.Replaces, task.ID)
		}
	}
	return events{&changed}
}

// askAboutIssues asks the judge of failures what is to be done about what nobody is responsible for, once in a round (M-45).
func askAboutIssues(v *View) events {
	agent := ""
	switch {
	case recovery.Judged(&v.Profile.Profile, schemas.CategoryCoordination, schemas.FailureConflict):
		agent = recovery.Judge(&v.Profile.Profile)
	case changes(v):
		agent = v.Profile.Replan.Agent
	}
	if agent != "" && len(v.Run.Asked(schemas.OccasionFailure)) == 0 {
		return ask(v, v.Run.NewEvaluation(schemas.TriggerFailure, agent))
	}
	return nil
}

// withheldByReview reports whether the results of a run are not told: it is reviewed, and the last round has not passed them.
func withheldByReview(v *View) bool {
	return !fault.Is("what has not passed is told when a run ends otherwise") && v.Run.Review != nil && v.Run.Review.Outcome != schemas.OutcomePassed && v.Profile.Review.OnFailed != schemas.ReviewPartial && !takenAsItIs(v)
}

// takenAsItIs reports whether somebody who was asked about the newest round has said skip.
func takenAsItIs(v *View) bool {
	return v.Run.Review != nil && slices.ContainsFunc(v.Run.Inquiries, func(i *workflow.Inquiry) bool {
		return i.Task == schemas.ReviewInput(v.Run.Review.Round) && i.Answered != nil && i.Answered.Choice == schemas.ChoiceSkip
	})
}

// maxErrorsTold is how many errors of a review an answer tells at the most; all of them stand on record.
const maxErrorsTold = 10

// reviewErrors are the errors that the last round has found, as they are told, and how many there are.
func reviewErrors(v *View) (told string, errorsFound int) {
	var lines []string
	for i := range v.Run.Review.Issues {
		if issue := &v.Run.Review.Issues[i]; issue.Severity == schemas.ValidationError {
			errorsFound++
			told := *issue
			told.Message = fitting(v, issue.Message)
			told.Reasons, _ = filterForPerson(v, issue.Reasons)
			if len(told.Reasons) > 0 && told.Reasons[0].Code == schemas.CheckNotMade {
				told.Reasons = told.Reasons[:1] // the others speak of schemas, and not to a person
			}
			line := strings.ReplaceAll(say.Issue(v.language(), &told), "\n", " ")
			if line != "" && !strings.Contains(line, issue.File) {
				line = review.Where(issue) + line
			}
			if line != "" && !slices.Contains(lines, line) {
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
func failReview(v *View) events {
	found, errorsFound := reviewErrors(v)
	why := schemas.Because(schemas.RunReviewFailed, "round", strconv.Itoa(v.Run.Review.Round), "errors", strconv.Itoa(errorsFound))
	sentence := reviewFault(v, found)
	partial := v.Profile.Review.OnFailed == schemas.ReviewPartial
	if partial {
		sentence += "\n\n" + v.texts().Partial
	}
	failure := runFailure(v, schemas.ErrorValidation, schemas.ActionEscalate, sentence, why)
	if partial || fault.Is("what has failed to pass is told") {
		return append(closeBudgetTask(v), conclude(v, schemas.RunPartial, schemas.StopReviewFailed, failure))
	}
	return append(closeBudgetTask(v), concludeWith(v, schemas.RunFailed, schemas.StopReviewFailed, failure, nil))
}

// reviewFault tells whoever has asked what a review has found.
func reviewFault(v *View, found string) string {
	sentence := strings.TrimSpace(strings.NewReplacer("{detail}", found).Replace(v.texts().ReviewFailed))
	if sentence == "" {
		sentence = without(v.texts().TaskFailed)
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
		d.fail(question, schemas.FailureInvalidResult, schemas.Because(schemas.AnswerWithoutResults))
		return
	}
	change, faults := change(&d.View, &said)
	if len(faults) > 0 {
		d.fail(question, schemas.FailureInvalidResult, feedback(faults)...)
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
	(&provenance{view: &d.View, task: question, put: answer.PutArtifacts}).answer(answer, &made)
	var merged []schemas.MergedFile
	var left []schemas.Reason
	for _, file := range review.Files(d.Run) {
		if !file.Conflicts() {
			continue
		}
		at := slices.IndexFunc(made.Deliverables, func(deliverable schemas.Deliverable) bool {
			_, is := DeliverableFile(&deliverable)
			return is && review.Path(&deliverable) == file.Path
		})
		if at < 0 {
			left = append(left, file.Conflict().Reasons...)
			continue
		}
		merged = append(merged, schemas.MergedFile{Path: file.Path, Of: file.Of, Agent: question.Agent, Deliverable: made.Deliverables[at]})
	}
	if len(left) > 0 && !fault.Is("merged in part") {
		d.fail(question, schemas.FailureConflict, left...)
		return
	}
	completed(d, question, answer)
	d.emit(&schemas.Judged{
		Run: d.Run.Number, Question: question.ID, Occasion: schemas.OccasionMerge, Round: d.Run.Review.Round, Outcome: schemas.OutcomePassed, Merged: merged,
	})
}

// standing are the tasks whose results the answer is made of, each in the place of what it mends.
func standing(v *View) []*workflow.Task {
	var tasks []*workflow.Task
	for _, task := range v.Run.Tasks {
		switch {
		case review.IsFix(task):
		case v.Profile.Review == nil && task.State == workflow.TaskCompleted && inAnswer(v, task):
			tasks = append(tasks, v.Run.Standing(task.ID))
		case v.Profile.Review != nil && task.State == workflow.TaskCompleted && !leadsOn(v, task):
			tasks = append(tasks, review.Newest(v.Run, task.ID))
		}
	}
	return tasks
}

// leadsOn is what inAnswer denies, where tasks may be mended.
func leadsOn(v *View, task *workflow.Task) bool {
	if v.Profile.Execution.Mode != schemas.ExecutionDAG {
		return false
	}
	builds := func(id string) bool {
		dependency := v.Run.Task(id)
		return dependency != nil && review.Root(dependency) == task.ID
	}
	return slices.ContainsFunc(v.Run.Tasks, func(other *workflow.Task) bool {
		return !review.IsFix(other) && (other.State == workflow.TaskCompleted || other.Replaced) && slices.ContainsFunc(other.Dependencies(), builds)
	})
}

// checkFindings are what the checks of the newest round have found.
func checkFindings(v *View) []schemas.Findings {
	var said []schemas.Findings
	for _, question := range v.Run.Asked(schemas.OccasionReview) {
		if found, err := resultsOf(v, question); err == nil {
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
