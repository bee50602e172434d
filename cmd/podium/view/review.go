package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"podium/cmd/podium/chronicle"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/review"
	"podium/supervisor/say"
)

// markOf is how a task is marked, and what there is to say of it where no plan describes it: a check that has found errors has done its work, and is no good news.
func markOf(task *workflow.Task, kept *chronicle.Run) (mark, about string) {
	mark, _ = look(task.State)
	if !isCheck(task) || task.State != workflow.TaskCompleted {
		return mark, ""
	}
	round := kept.Round(int(task.Round))
	if round.Wants(task.ID) {
		return "✗", "wants more to be done"
	}
	issues, known := issuesOf(task, round)
	if !known {
		return mark, ""
	}
	if !review.Passed(issues) {
		mark = "✗"
	}
	return mark, cmp.Or(counted(issues), "passed")
}

func isCheck(task *workflow.Task) bool {
	return task.Kind == schemas.TaskKindCheck
}

// issuesOf are what a check has found: what its answer says, or where that does not stand here the errors of its round that are its own.
func issuesOf(check *workflow.Task, round *chronicle.Round) (found []schemas.ReviewIssue, known bool) {
	if results, err := plan.CheckResults(check, check.Result.Result); err == nil {
		return review.Issues(check.Agent, results), true
	}
	if round == nil || round.Outcome == "" {
		return nil, false
	}
	for i := range round.Issues {
		if round.Issues[i].Check == check.Agent {
			found = append(found, round.Issues[i])
		}
	}
	return found, true
}

// counted tells how many issues of each severity there are; empty without any.
func counted(issues []schemas.ReviewIssue) string {
	var severities, told []string
	count := map[string]int{}
	for i := range issues {
		severity := issues[i].Severity
		if count[severity]++; count[severity] == 1 {
			severities = append(severities, severity)
		}
	}
	for _, severity := range severities {
		plural := ""
		if count[severity] > 1 && severity != "info" {
			plural = "s"
		}
		told = append(told, fmt.Sprintf("%d %s%s", count[severity], severity, plural))
	}
	return strings.Join(told, ", ")
}

// rounds tells each round of the review: what the checks say, what was found and whose it is to mend, what is done about that, and what has come of the round.
func rounds(line func(string, ...any), run *workflow.RunHistory, kept *chronicle.Run) {
	if kept == nil {
		return
	}
	for i := range kept.Rounds {
		round := &kept.Rounds[i]
		mark, state := roundState(run, round)
		line("%s %-8s %-10s %-10s %s", mark, strconv.Itoa(round.Number), "review", state, cameOf(run, round, i == len(kept.Rounds)-1))
		checks(line, run, round)
		for j := range round.Issues {
			line("           %s", issueLine(run, round.Issues[j]))
		}
		if round.Change == nil {
			continue
		}
		for j := range round.Change.Tasks {
			line("           %s", mends(run, round.Change.Tasks[j]))
		}
	}
}

func roundState(run *workflow.RunHistory, round *chronicle.Round) (mark, state string) {
	switch {
	case round.Outcome == schemas.OutcomePassed:
		return "✓", "passed"
	case round.Outcome != "":
		return "✗", "failed"
	case run.Status != "":
		return "–", "cut short"
	}
	return "·", "under way"
}

// checks tells what those say who were asked in a round, each in a word.
func checks(line func(string, ...any), run *workflow.RunHistory, round *chronicle.Round) {
	for _, question := range run.DecisionTasks {
		if int(question.Round) != round.Number || !isCheck(question) {
			merged(line, run, round, question)
			continue
		}
		said := "is asked"
		issues, known := issuesOf(question, round)
		switch {
		case question.State == workflow.TaskFailed:
			said = "could not be made, " + string(question.Failure().Cause)
		case question.State != workflow.TaskCompleted && question.State.Ended():
			said = "was not made, " + string(question.State)
		case question.State != workflow.TaskCompleted:
		case round.Wants(question.ID):
			said = "wants more to be done"
		case !known:
			said = "has answered"
		case !review.Passed(issues):
			said = "failed, " + counted(issues)
		case len(issues) > 0:
			said = "passed, " + counted(issues)
		default:
			said = "passed"
		}
		line("           check by %s: %s", question.Agent, said)
	}
}

// merged tells which files a question of a round has merged.
func merged(line func(string, ...any), run *workflow.RunHistory, round *chronicle.Round, question *workflow.Task) {
	var paths []string
	for i := range run.Merged {
		if run.Merged[i].Question == question.ID && int(question.Round) == round.Number {
			paths = append(paths, run.Merged[i].Path)
		}
	}
	if len(paths) > 0 {
		line("           merged by %s: %s", question.Agent, Line(strings.Join(paths, ", "), detailLength))
	}
}

// issueLine tells what was found, and for an error whose it is to mend.
func issueLine(run *workflow.RunHistory, issue schemas.ReviewIssue) string {
	told := Line(review.Lines(say.English(), []schemas.ReviewIssue{issue}), detailLength)
	switch task := run.Task(issue.Task); {
	case issue.Severity != schemas.ValidationError:
		return told
	case issue.Task == "":
		return told + " (nobody's to mend)"
	case task == nil:
		return told + " (to mend: " + issue.Task + ")"
	case task.Permit != "":
		return told + " (of " + issue.Task + " by " + task.Agent + ", which has acted outside: nobody does that again)"
	default:
		return told + " (to mend: " + issue.Task + " by " + task.Agent + ")"
	}
}

// mends tells a task that is done because of what was found.
func mends(run *workflow.RunHistory, planned schemas.PlannedTask) string {
	told := "new: " + planned.Task
	if root := planned.Options().Fixes; root != "" {
		told = "mends " + root + ": " + planned.Task
	}
	switch task := run.Task(planned.Task); {
	case task == nil:
	case task.Agent == "":
		told += ", " + string(task.State)
	default:
		told += " by " + task.Agent + ", " + string(task.State)
	}
	return told
}

// cameOf is what has come of a round. Another one has followed unless it is the last.
func cameOf(run *workflow.RunHistory, round *chronicle.Round, last bool) string {
	asked := askedAbout(run, round.Number)
	choice := schemas.InquiryChoice("")
	if asked != nil && asked.Answered != nil {
		choice = asked.Answered.Choice
	}
	switch {
	case round.Outcome == schemas.OutcomePassed && round.Forced:
		return "all steps are taken, and nothing more is done"
	case round.Outcome == schemas.OutcomePassed:
		return ""
	case round.Change != nil:
		return "back to work"
	case choice == schemas.ChoiceSkip:
		return "taken as it is"
	case choice == schemas.ChoiceAnswer:
		return "somebody has given the answer"
	case choice == schemas.ChoiceRetry, !last:
		return "looked at again"
	case run.Status != "":
		return because(run.Status, run.Reason)
	case asked != nil && asked.Open():
		return "question " + strconv.Itoa(asked.Inquiry) + " asks what is to be done"
	case round.Outcome == "" || run.Judge() == nil:
		return ""
	}
	return run.Judge().Agent + " is asked what is to be done"
}

// askedAbout is the newest inquiry about a round, or nil.
func askedAbout(run *workflow.RunHistory, round int) (newest *workflow.Inquiry) {
	for _, inquiry := range run.Inquiries {
		if inquiry.Task == schemas.ReviewInput(round) {
			newest = inquiry
		}
	}
	return newest
}

// mendings tells the failures of a task that others were asked to mend, each with what was found and by whom it is mended. It reports whether the last failure is
// one of them.
func mendings(line func(string, ...any), kept *chronicle.Run, task *workflow.Task) (last bool) {
	for _, mending := range kept.MendingsOf(task.ID) {
		failed := *task
		failed.LastFailure = mending.Failed
		told := Failure(&failed)
		if len(mending.By) > 0 {
			told += "; to mend it: " + strings.Join(mending.By, ", ")
		}
		line("           %s", told)
		last = mending.Failed.Attempt == task.Failure().Attempt
		if said := mending.Failed.Findings; said != nil {
			for _, found := range review.Issues(task.Agent, said.ValidationResults) {
				line("             %s", Line(review.Lines(say.English(), []schemas.ReviewIssue{found}), detailLength))
			}
		}
	}
	return last
}
