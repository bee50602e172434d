package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// State is what a list tells of a run: its phase and what it waits for, or the status that it has ended with.
func State(run *workflow.RunHistory) string {
	if run.Phase == workflow.PhaseComplete {
		return string(run.Status)
	}
	waits := stopped(run)
	if asked, _ := open(run); asked != nil {
		waits = "waits for an answer"
		switch {
		case asked.Upstream:
			waits = "waits for a word from upstream"
		case asked.Kind.IsAboutFailure() && len(asked.People) > 0:
			waits = "waits for people to decide"
		case len(asked.People) > 0:
			waits = "waits for work of people"
		}
		if letter, _ := LetterOf(run, asked); letter.Trouble() != "" {
			waits += ", question " + letter.Trouble()
		}
	}
	phase := string(run.Phase)
	if run.Blocked() {
		phase = string(schemas.RunBlocked)
	}
	if waits == "" {
		return phase
	}
	return phase + ", " + waits
}

// stopped says what a run waits for that nobody works on; empty when somebody does, or it waits for its next attempt.
func stopped(run *workflow.RunHistory) (waits string) {
	for task := range run.All {
		switch {
		case task == run.Delivery && !task.RetryAt().IsZero():
			return answerWaits(run)
		case task.WaitingUntil() != nil:
			waits = cmp.Or(waits, elsewhere(task))
		case task.State.UnderWay() && task.Unserved == nil:
			return ""
		case task.Unbegun() && waits == "" && !extracts(run, task):
			waits = room(task)
		}
	}
	return waits
}

// answerWaits says until when the answer of a run waits, for its budget or for its next attempt.
func answerWaits(run *workflow.RunHistory) string {
	until := run.Delivery.RetryAt().Local().Format(time.DateTime)
	if run.AnswerDelayed() {
		return "its answer waits until " + until + " (reply budget)"
	}
	return "its answer is not sent yet, again at " + until
}

// room says what a task that has not begun waits for.
func room(task *workflow.Task) string {
	used, agent := task.Resources(), Line(task.Agent, shortLength)
	switch {
	case task.Unserved != nil:
		return unserved(agent, task.Unserved.Since)
	case task.HeldForDay():
		return "held back: the budget of " + task.Day.Short.Day + " (UTC) has no room for it now"
	case task.Held:
		return "held back: it does not fit the budget of the run now"
	case len(used) > 0:
		return "waits until nobody uses: " + Line(strings.Join(used, ", "), shortLength)
	}
	return "waits for " + agent + " to have room"
}

// elsewhere says until when the agent of a task waits, as that has said.
func elsewhere(task *workflow.Task) string {
	return fmt.Sprintf("%s says that it waits, first until %s", Line(task.Agent, shortLength), task.WaitingUntil().Local().Format(time.DateTime))
}

// extracts reports whether an extractor is asked what the words say of a task, which waits for that.
func extracts(run *workflow.RunHistory, task *workflow.Task) bool {
	return slices.ContainsFunc(run.DecisionTasks, func(asked *workflow.Task) bool {
		return asked.Kind == schemas.TaskKindExtract && !asked.State.Ended() && asked.Subject().Task == task.ID
	})
}

// Awaited names the agents that tasks of a run wait for to have room, each once.
func Awaited(run *workflow.RunHistory) (agents []string) {
	for task := range run.All {
		waits := task.State == workflow.TaskReady && !task.Held && len(task.Resources()) == 0 && !extracts(run, task)
		refused := task.State == workflow.TaskWaiting && task.Failure().Cause == schemas.FailureUnavailable
		if (waits || refused) && !slices.Contains(agents, task.Agent) {
			agents = append(agents, task.Agent)
		}
	}
	return agents
}

// Full says why an agent has no room, given how many requests it works on at a time.
func Full(agent string, size int, breaker *schemas.Breaker, now time.Time) string {
	if told := BreakerRemark(agent, breaker, now); told != "" && breaker.At(now) != schemas.BreakerClosed {
		return told
	}
	return fmt.Sprintf("%s has no room: it works on %d at a time", agent, size)
}

// A Letter is how far the letters are that tell people of what they are asked.
type Letter string

// The states of letters.
const (
	LetterWaiting     Letter = "waiting"     // none is on its way
	LetterUnderWay    Letter = "under_way"   // one is, and none was there before
	LetterSent        Letter = "sent"        // one has gone out
	LetterUnconfirmed Letter = "unconfirmed" // nobody knows whether one has
	LetterFailed      Letter = "failed"      // none has, and an attempt has failed: there may be more
)

// Trouble is what people are told of letters that have not gone out; empty where nothing is wrong.
func (l Letter) Trouble() string {
	switch l {
	case LetterFailed:
		return "not delivered"
	case LetterUnconfirmed:
		return "perhaps not delivered"
	case LetterWaiting, LetterUnderWay, LetterSent:
	}
	return ""
}

// LetterOf looks how far the letters of an inquiry are, and why none has gone out if that has failed. It is empty for one that people were
// told of by an earlier run.
func LetterOf(run *workflow.RunHistory, asked *workflow.Inquiry) (letter Letter, why string) {
	if asked.Adopts == nil {
		letter = LetterWaiting
	}
	for _, notice := range run.DecisionTasks {
		if notice.HumanTask() != asked.Inquiry {
			continue
		}
		failed := notice.Failure()
		unknown := failed.Cause == schemas.FailureUnknownEffect || failed.EffectUnknown || notice.Permit != "" && !notice.State.UnderWay()
		switch {
		case notice.State == workflow.TaskCompleted:
			return LetterSent, ""
		case failed.Cause != "" && unknown:
			letter, why = LetterUnconfirmed, Failure(notice)
		case failed.Cause != "" && letter != LetterUnconfirmed:
			letter, why = LetterFailed, Failure(notice)
		case notice.State.UnderWay() && letter == LetterWaiting:
			letter = LetterUnderWay
		}
	}
	return letter, why
}
