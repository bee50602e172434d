package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/review"
	"podium/supervisor/say"
)

// Lines tells a record in plain lines, one for each fact, without the time.
func Lines(record *schemas.Record) []string { return linesAbout(record, 0, nil) }

// LinesOf is Lines of what a record says of the run with that number.
func LinesOf(record *schemas.Record, run int) []string { return linesAbout(record, run, nil) }

// LinesWhy is LinesOf with the rule that has led to each fact, as verify.RulesOf returns them: input where no rule has, and ? where that is not known. Run 0 is everything.
func LinesWhy(record *schemas.Record, run int, rules [][]string) []string {
	if rules == nil {
		rules = [][]string{}
	}
	return linesAbout(record, run, rules)
}

// linesAbout tells what a record says of the run with that number; 0 is everything. Without rules no line has one.
func linesAbout(record *schemas.Record, run int, rules [][]string) []string {
	told := []string{}
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		for j := range transition.Facts {
			if run > 0 && schemas.RunOf(transition.Facts[j]) != run {
				continue
			}
			line := factLine(record.Session, transition.Facts[j], transition.Cause.Time)
			switch {
			case line == "":
			case rules == nil:
				told = append(told, Line(line, 0))
			default:
				told = append(told, Line(line, 0)+"  ["+ruleAt(rules, i, j)+"]")
			}
		}
	}
	return told
}

// ruleAt is the rule that has led to a fact of a transition.
func ruleAt(rules [][]string, transition, fact int) string {
	if transition >= len(rules) || fact >= len(rules[transition]) {
		return "?"
	}
	return cmp.Or(rules[transition][fact], "input")
}

func factLine(session string, f schemas.Fact, now time.Time) string {
	switch f := f.(type) {
	case *schemas.MessageReceived:
		return messageLine(f)
	case *schemas.RunStarted:
		line := fmt.Sprintf("run %d started with profile %s, answers in %s", f.Run, f.Profile, f.Message.Language)
		if f.Retries > 0 {
			line += fmt.Sprintf(", in the place of run %d", f.Retries)
		}
		return line
	case *schemas.ComplexityAssessed:
		if f.Complexity.Complex {
			return "several steps: " + say.Reasons(say.English(), f.Complexity.Reasons)
		}
		return "one step: " + say.Reasons(say.English(), f.Complexity.Reasons)
	case *schemas.PlanCreated:
		return planLine(f)
	case *schemas.PlanRefused:
		return "plan refused: " + say.Reasons(say.English(), f.Faults)
	case *schemas.Judged, *schemas.PlanChanged, *schemas.ReviewBegan:
		return judgementLine(f)
	case *schemas.TaskRouted:
		return fmt.Sprintf("%s → %s: %s", f.Task, cmp.Or(f.Decision.NextAgent, "nobody"), say.Reasons(say.English(), f.Decision.Reasons))
	case *schemas.RunSettled:
		return settledLine(f)
	case *schemas.ReplyWithheld:
		return "answer withheld: " + Spoken(f.Reason)
	case *schemas.AnswerDelayed:
		return "answer waits until " + at(f.Until) + ": reply budget"
	case *schemas.DeliveryBounced:
		return "report: " + bounce(f)
	case *schemas.ResendRequested:
		return fmt.Sprintf("the answer of run %d is to be sent again", f.Run)
	case *schemas.DeliveryReopened:
		return fmt.Sprintf("run %d goes on to deliver its answer, after %d attempts", f.Run, f.Attempt)
	case *schemas.RunEnded:
		if f.Replied != "" {
			return fmt.Sprintf("ended: %s, answered as %s", f.Status, f.Replied)
		}
		return "ended: " + because(f.Status, f.Reason)
	case *schemas.TaskReady, *schemas.TaskDispatched, *schemas.TaskUnserved, *schemas.TaskStarted, *schemas.TaskProgressed,
		*schemas.TaskDelayed, *schemas.TaskCompleted, *schemas.TaskFailed, *schemas.TaskSkipped, *schemas.TaskCancelled,
		*schemas.ResponseLate, *schemas.EntityMismatched, *schemas.PermitGranted, *schemas.PermitRefused:
		return taskLine(f, now)
	case *schemas.ArgumentsFilled:
		return argumentsLine(f)
	case *schemas.InquiryOpened, *schemas.InquiryAnswered, *schemas.InquiryClosed:
		return inquiryLine(session, f)
	case *schemas.TaskHeartbeat: // each sign of life would be a line, but for those that say that the agent waits
		return waitLine(f.Task, f.WaitingUntil)
	}
	return ""
}

func judgementLine(f schemas.Fact) string {
	switch f := f.(type) {
	case *schemas.Judged:
		switch f.Outcome {
		case schemas.OutcomeResponse:
			return f.Question + ": the judge has answered the request"
		case schemas.OutcomePassed, schemas.OutcomeFailed:
			if f.Occasion == schemas.OccasionReview || f.Occasion == schemas.OccasionMerge {
				return reviewedLine(f)
			}
			return f.Question + ": the checks of the judge have " + string(f.Outcome)
		case schemas.OutcomePlan:
		}
		line := f.Question + ": the judge wants more to be done"
		if len(f.Repeated) > 0 {
			line += ", and repeats what is done: " + Line(strings.Join(f.Repeated, "; "), detailLength)
		}
		return line
	case *schemas.ReviewBegan:
		if f.Forced {
			return fmt.Sprintf("review, round %d: all steps are taken, and nothing more is done", f.Round)
		}
		return fmt.Sprintf("review, round %d", f.Round)
	case *schemas.PlanChanged:
		line := fmt.Sprintf("plan changed, change %d: %d new, %d kept", f.Change, len(f.Tasks), len(f.Kept))
		if len(f.Replaces) > 0 {
			line += ", instead of " + strings.Join(f.Replaces, ", ")
		}
		return line
	default:
		return ""
	}
}

// reviewedLine tells what a round of review has found, or which files were merged.
func reviewedLine(f *schemas.Judged) string {
	if f.Question != "" {
		paths := make([]string, len(f.Merged))
		for i := range f.Merged {
			paths[i] = f.Merged[i].Path
		}
		return f.Question + ": merged " + Line(strings.Join(paths, ", "), detailLength)
	}
	line := fmt.Sprintf("review, round %d: %s", f.Round, f.Outcome)
	if len(f.Issues) > 0 {
		line += ", " + Line(review.Lines(say.English(), f.Issues), detailLength)
	}
	return line
}

// waitLine says until when the agent of a task waits; empty when it does not.
func waitLine(task string, until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return task + ": the agent says that it waits, first until " + until.Local().Format(time.DateTime)
}

func taskLine(f schemas.Fact, now time.Time) string {
	switch f := f.(type) {
	case *schemas.TaskReady:
		if f.Held && f.Day != nil && f.Day.Short != nil {
			return f.Task + ": held back, the budget of " + f.Day.Short.Day + " (UTC) has no room for it now"
		}
		if f.Held {
			return f.Task + ": held back, it does not fit the budget of the run now"
		}
		return fmt.Sprintf("%s: ready, waits for %s to have room", f.Task, f.Agent)
	case *schemas.TaskDispatched:
		return fmt.Sprintf("%s: request to %s, attempt %d", f.Task, f.Agent, f.Attempt)
	case *schemas.TaskUnserved:
		return f.Task + ": " + unserved(f.Agent, f.Since)
	case *schemas.TaskStarted:
		if !f.WaitingUntil.IsZero() {
			return waitLine(f.Task, f.WaitingUntil)
		}
		return f.Task + ": the agent works on it"
	case *schemas.TaskProgressed:
		return strings.TrimSpace(fmt.Sprintf("%s: %d %% %s", f.Task, f.Percentage, f.Message))
	case *schemas.TaskDelayed:
		return fmt.Sprintf("%s: takes more than twice the %d s that were estimated", f.Task, f.Seconds)
	case *schemas.TaskCompleted:
		return completionLine(f)
	case *schemas.TaskFailed:
		return failureLine(f, now)
	case *schemas.TaskSkipped:
		return strings.TrimSpace(f.Task + ": skipped, " + f.Reason + " " + f.Dependency)
	case *schemas.TaskCancelled:
		return f.Task + ": cancelled"
	case *schemas.ResponseLate:
		by := ""
		if f.Agent != "" {
			by = " of " + f.Agent
		}
		return fmt.Sprintf("%s: an answer%s to attempt %d came too late to count", f.Task, by, f.Attempt)
	case *schemas.EntityMismatched:
		return fmt.Sprintf("%s: the answer is about another %s", f.Task, f.Entity)
	case *schemas.PermitGranted:
		return f.Task + ": may act outside"
	case *schemas.PermitRefused:
		return fmt.Sprintf("%s: may not act outside (%s)", f.Task, f.Reason)
	default:
		return ""
	}
}

func settledLine(f *schemas.RunSettled) string {
	line := "settled: " + because(f.Status, f.Reason)
	if f.Error != nil && len(f.Error.Reasons) > 0 {
		line += ": " + Line(say.Reasons(say.English(), f.Error.Reasons), detailLength)
	}
	return line
}

func completionLine(f *schemas.TaskCompleted) string {
	line := f.Task + ": done"
	switch {
	case f.Reused > 0:
		line += " by an earlier answer"
	case f.Recovered != "":
		line += " after " + Spoken(f.Recovered)
	}
	if text := short(f.Result.Text); text != "" {
		line += ": " + text
	}
	return line
}

// unserved says that nobody serves an agent, and since when.
func unserved(agent string, since time.Time) string {
	if since.IsZero() {
		return "nobody serves " + agent + ", and no sign of life of it is on record"
	}
	return "nobody serves " + agent + " since " + since.Local().Format(time.DateTime)
}

// withheld says why an answer does not go out, and what changes that.
func withheld(f *schemas.ReplyWithheld) string {
	switch f.Reason {
	case schemas.WithheldUnproven:
		return Spoken(f.Reason) + "; nobody vouches for who wrote, and the profile answers nobody then (conversation.answer)"
	case schemas.WithheldRefuted:
		return Spoken(f.Reason) + "; the mail server says that the sender is forged, so that no work was done either (conversation.answer)"
	}
	return Spoken(f.Reason)
}

// Spoken turns a word of the ledger into words.
func Spoken[T ~string](word T) string { return strings.ReplaceAll(string(word), "_", " ") }

func messageLine(f *schemas.MessageReceived) string {
	switch f.Disposition {
	case schemas.DispositionStarted:
		return fmt.Sprintf("message received: starts run %d", f.Run)
	case schemas.DispositionQueued:
		return fmt.Sprintf("message received: waits as run %d", f.Run)
	case schemas.DispositionControl:
		told := fmt.Sprintf("control word received: about run %d", f.Run)
		if f.By != nil {
			told += ", of " + who(*f.By)
		}
		return told
	case schemas.DispositionMerged:
		return fmt.Sprintf("message received: part of run %d, which waits", f.Run)
	case schemas.DispositionAnswered:
		return fmt.Sprintf("message received: answers question %d of run %d", f.Inquiry, f.Run)
	case schemas.DispositionHeld:
		return fmt.Sprintf("message received: answers question %d of run %d, and counts once whoever is upstream asks again", f.Inquiry, f.Run)
	case schemas.DispositionIgnored, schemas.DispositionRefused:
	}
	return fmt.Sprintf("message %s: %s", f.Disposition, f.Reason)
}

func planLine(f *schemas.PlanCreated) string {
	if len(f.Tasks) == 1 {
		return "plan: one task"
	}
	var levels []string
	at := -1
	for _, entry := range plan.ByLevel(f.Tasks) {
		if entry.Level == at {
			levels[at] += " ∥ " + entry.Task
			continue
		}
		at = entry.Level
		levels = append(levels, entry.Task)
	}
	line := fmt.Sprintf("plan: %d tasks, %s", len(f.Tasks), Line(strings.Join(levels, " → "), 3*shortLength))
	if f.Template != "" {
		line += ", by template " + f.Template
	}
	return line
}

func failureLine(f *schemas.TaskFailed, now time.Time) string {
	line := fmt.Sprintf("%s: attempt %d failed (%s)", f.Task, f.Attempt, f.Cause)
	if f.Attempt == 0 {
		line = fmt.Sprintf("%s: failed (%s)", f.Task, f.Cause)
	}
	if said := said(f); said != "" {
		line += ": " + short(said)
	}
	if f.Quarantine != "" {
		line += " (in quarantine as " + f.Quarantine + ")"
	}
	switch {
	case !f.RetryAt.IsZero():
		line += fmt.Sprintf("; again in %s", f.RetryAt.Sub(now).Round(100*time.Millisecond))
	case f.Agent != "":
		line += "; now " + f.Agent + " is asked"
	case f.Action == schemas.RecoverySkip:
		line += "; the run goes on without it"
	}
	return line
}

// shortLength is how much of a text stands in one line, in characters.
const shortLength = 90

func short(text string) string { return Line(text, shortLength) }
