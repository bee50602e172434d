package score

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/say"
)

// A Session counts what its records say. The zero value has none.
type Session struct {
	history workflow.SessionHistory
	runs    []*course // by number; those that wait have none
}

// Apply counts the next record. It fails with workflow.ErrGrammar when that may not follow those before it, and what was counted
// before stands.
func (s *Session) Apply(record *schemas.Record) error {
	if err := s.history.Apply(*record); err != nil {
		return err
	}
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		for _, fact := range transition.Facts {
			s.note(fact, transition.Cause.Time)
		}
	}
	return nil
}

func (s *Session) note(fact schemas.Fact, now time.Time) {
	if started := schemas.As[*schemas.RunStarted](fact); started != nil {
		s.runs = append(s.runs, &course{since: now})
		return
	}
	if n := schemas.RunOf(fact); n >= 1 && n <= len(s.runs) {
		s.runs[n-1].note(fact, now)
	}
}

// A course is how a run went between its facts.
type course struct {
	since    time.Time     // of its newest fact; a clock that was set back moves nothing
	planned  bool          // it has a plan
	settled  bool          // nothing counts any more
	underWay []string      // tasks that somebody was asked for
	open     []int         // inquiries that wait for a person
	asked    []asked       // all inquiries
	total    time.Duration // since there is a plan, without what people were waited for
	idle     time.Duration // of it, while nobody was asked for anything
	gap      time.Duration // the longest time without a fact, while no person was waited for
	work     []working     // how long agents have worked on tasks
	failed   []string      // tasks of which an attempt has failed, once each
	helped   []string      // those of them that a person has helped with
	reviewed []string      // whose results a round of review has found an error in, once each: roots of what mends, and nobody
	wrong    []string      // those of them in which the newest round still has
	errors   []agentError
	found    int // errors that checks have found
	missed   int // what people have found all the same: rejected, changed before they agreed, or had to decide
}

// An asked is an inquiry, as far as it counts.
type asked struct {
	number   int
	task     string
	kind     schemas.HumanTaskKind
	upstream bool // no person is
}

// A working is how long an agent has worked on all attempts of a task.
type working struct {
	task  string
	agent string    // of the newest attempt
	began time.Time // of the attempt under way; zero is none
	spent time.Duration
}

// An agentError is what went wrong with what an agent has done, in the words of who says so.
type agentError struct{ agent, said string }

func (c *course) note(fact schemas.Fact, now time.Time) {
	c.pass(now)
	task := schemas.TaskOf(fact)
	switch f := fact.(type) {
	case *schemas.PlanCreated:
		c.planned, c.total, c.idle = true, 0, 0 // the plan that holds is the newest
	case *schemas.TaskDispatched:
		c.underWay = append(without(c.underWay, task), task)
		at := c.workingOn(task)
		at.began, at.agent = c.since, f.Agent
	case *schemas.TaskStarted:
		c.workingOn(task).began = c.since // the wait before was none of the agent's
	case *schemas.TaskCompleted:
		c.ends(task)
		c.checked(task, f.Findings)
	case *schemas.TaskFailed:
		c.ends(task)
		if f.Unrecovered == "" {
			c.fails(f)
		}
	case *schemas.TaskSkipped, *schemas.TaskCancelled:
		c.ends(task)
	case *schemas.InquiryOpened:
		c.ends(task)
		c.checked(task, f.Findings)
		c.open, c.asked = append(c.open, f.Inquiry), append(c.asked, asked{f.Inquiry, f.Task, f.Kind, f.Upstream})
		if f.Kind.IsAboutFailure() && !f.Upstream {
			c.missed++
		}
	case *schemas.InquiryAnswered:
		c.answered(f)
	case *schemas.InquiryClosed:
		c.open = without(c.open, f.Inquiry)
	case *schemas.Judged:
		c.judged(f)
	case *schemas.RunSettled:
		c.settled = true
	default: // it is a sign of life
	}
}

// pass counts the time since the fact before.
func (c *course) pass(now time.Time) {
	spent := now.Sub(c.since)
	if spent < 0 {
		return
	}
	c.since = now
	waits := len(c.open) > 0 && len(c.underWay) == 0
	if c.settled || waits {
		return
	}
	c.gap = max(c.gap, spent)
	if !c.planned {
		return
	}
	c.total += spent
	if len(c.underWay) == 0 {
		c.idle += spent
	}
}

// ends notes that nobody works on a task any more.
func (c *course) ends(task string) {
	c.underWay = without(c.underWay, task)
	if at := c.workingOn(task); !at.began.IsZero() {
		at.spent, at.began = at.spent+c.since.Sub(at.began), time.Time{}
	}
}

func (c *course) fails(f *schemas.TaskFailed) {
	if !slices.Contains(c.failed, f.Task) {
		c.failed = append(c.failed, f.Task)
	}
	said := say.Failure(say.English(), f)
	if said == "" {
		said = string(f.Cause)
	}
	c.errors = append(c.errors, agentError{c.agentOf(f.Task), said})
	if f.Cause == schemas.FailureInvalidResult {
		c.found++ // the schema of its results has found it
	}
	c.checked(f.Task, f.Findings)
}

// checked counts the errors that checks have found: each issue that is one, or the check itself when it names none.
func (c *course) checked(task string, findings *schemas.Findings) {
	if findings == nil {
		return
	}
	for i := range findings.ValidationResults {
		result := &findings.ValidationResults[i]
		if result.Status != schemas.ValidationFailed {
			continue
		}
		errors := 0
		for j := range result.Issues {
			if issue := &result.Issues[j]; issue.Severity == schemas.ValidationError {
				errors++
				c.errors = append(c.errors, agentError{c.agentOf(task), issue.Message})
			}
		}
		if errors == 0 {
			errors = 1
			c.errors = append(c.errors, agentError{c.agentOf(task), result.Validator + ": " + result.Details})
		}
		c.found += errors
	}
}

// answered notes a person's word. Who declines work has found nothing wrong with that of an agent.
func (c *course) answered(f *schemas.InquiryAnswered) {
	changed := len(f.Arguments) > 0
	if changed {
		c.missed++
	}
	if f.Lacking > 0 && !changed {
		return // others have to agree
	}
	c.open = without(c.open, f.Inquiry)
	for _, about := range c.asked {
		if about.number != f.Inquiry {
			continue
		}
		if about.kind.IsBudget() || about.upstream {
			continue // nothing was wrong with what was done, or no person has helped
		}
		if f.Choice == schemas.ChoiceReject && !about.kind.IsWork() {
			c.missed++
		}
		if slices.Contains(c.failed, about.task) {
			c.helped = with(c.helped, about.task)
		}
	}
}

func (c *course) workingOn(task string) *working {
	at := slices.IndexFunc(c.work, func(w working) bool { return w.task == task })
	if at < 0 {
		at, c.work = len(c.work), append(c.work, working{task: task})
	}
	return &c.work[at]
}

func (c *course) spent(task string) time.Duration { return c.workOn(task).spent }

// agentOf is who was asked for a task last; empty when nobody was.
func (c *course) agentOf(task string) string { return c.workOn(task).agent }

func (c *course) workOn(task string) working {
	at := slices.IndexFunc(c.work, func(w working) bool { return w.task == task })
	if at < 0 {
		return working{}
	}
	return c.work[at]
}

func without[T comparable](list []T, gone T) []T {
	return slices.DeleteFunc(list, func(one T) bool { return one == gone })
}
