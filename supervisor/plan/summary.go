package plan

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
	"podium/supervisor/review"
)

// summaryTask is the question by which the results are told.
var summaryTask = schemas.JudgeTask(schemas.OccasionSummary, 1) //nolint:gochecknoglobals // a constant

// summarize has the results told in one text before the run is settled, where several are there and all of them are right.
func (d *Decision) summarize() {
	summary := d.Profile.Summary
	if summary == nil || summary.Agent == "" || !d.summarizes() || d.Run.Task(summaryTask) != nil {
		d.settle()
		return
	}
	d.ask(summaryTask, schemas.KindJudge, summary.Agent)
}

func (d *Decision) summarizes() bool {
	results := 0
	for _, task := range d.Run.Tasks {
		if task.State == workflow.TaskCompleted && !review.IsFix(task) {
			results++
		}
	}
	return results > 1 && d.decisive() == nil
}

// summaryAnswered takes the words that tell the results.
func (d *Decision) summaryAnswered(question *workflow.Task, answer *Response) {
	words, err := summaryIn(answer.WholeResult)
	if err != nil {
		d.fail(question, schemas.FailureInvalidResult, truncate(err.Error(), maxFeedback))
		return
	}
	if found := d.otherLanguage(words); found != "" {
		d.fail(question, schemas.FailureInvalidResult, d.wrongLanguage(found))
		return
	}
	d.completed(question, answer)
	d.Emit(&schemas.Judged{Run: d.Run.Number, Question: question.ID, Occasion: schemas.OccasionSummary, Round: d.Run.Attempts(), Outcome: schemas.OutcomeResponse})
	d.advance()
}

var errNoSummary = errors.New("the answer holds no summary: response is needed, with the words of it")

// summaryIn are the words of a summary: a response, or else the text as it is.
func summaryIn(result schemas.Result) (string, error) {
	said, err := ReadVerdict(result)
	words := said.Response
	if err != nil {
		words = strings.TrimSpace(result.Text)
	}
	switch {
	case words == "":
		return "", errNoSummary
	case len(words) > maxResponse:
		return "", fmt.Errorf("the summary has more than %d bytes", maxResponse)
	}
	return words, nil
}

// summaryOf is what is told instead of the words of an answer's parts: what an agent has said, or else the template; empty is nothing.
func (d *Decision) summaryOf(parts []schemas.AnswerPart) string {
	if d.Profile.Summary == nil || !d.summarizes() {
		return ""
	}
	if question := d.Run.Task(summaryTask); question != nil && question.State == workflow.TaskCompleted {
		if words, err := summaryIn(d.content(question.Result)); err == nil {
			return words
		}
	}
	if d.Profile.summary == nil {
		return ""
	}
	var results struct {
		Tasks []toldResult `json:"tasks"`
		Steps []toldResult `json:"steps"`
	}
	for i := range parts {
		results.Tasks = append(results.Tasks, d.toldResult(d.Run.Task(parts[i].Task), &parts[i]))
	}
	for _, task := range d.Run.Tasks {
		if task.Plan != nil && task.State == workflow.TaskCompleted {
			results.Steps = append(results.Steps, d.toldResult(task, &schemas.AnswerPart{Task: task.ID, Body: task.Result}))
		}
	}
	body, err := schemas.Marshal(results)
	if err != nil {
		return ""
	}
	words, err := d.Profile.summary.Tell(body)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(words)
}

// A toldResult is one result as a template tells it.
type toldResult struct {
	Task  string         `json:"task"`
	Agent string         `json:"agent"`
	Text  string         `json:"text"`
	Data  jsontext.Value `json:"data,omitzero"`
}

func (d *Decision) toldResult(task *workflow.Task, part *schemas.AnswerPart) toldResult {
	content := d.content(part.Body)
	told := toldResult{Task: part.Task, Text: cmp.Or(part.Told, content.Text), Data: content.Data}
	if task != nil {
		told.Agent = task.Agent
	}
	return told
}

// compileSummary makes ready what the results are told by.
func (p *Profile) compileSummary() []error {
	summary := p.Summary
	if summary == nil {
		return nil
	}
	var faults []error
	if summary.Agent == "" && summary.Template == "" || summary.Agent != "" && !schemas.ValidAgentName(summary.Agent) {
		faults = append(faults, errors.New("summary: it names an agent or has a template"))
	}
	if summary.Template != "" {
		template, err := answer.ParseTemplate(summary.Template)
		if err != nil {
			faults = append(faults, fmt.Errorf("summary: %w", err))
		}
		p.summary = template
	}
	return faults
}
