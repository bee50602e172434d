package session

import (
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
)

// maxAnswer bounds the words of an answer, in bytes.
const maxAnswer = 1 << 20

// answerText returns the text of a settled run's answer, and the files that are made of
// what it tells.
func (env *Env) answerText(run *workflow.Run) (string, []schemas.DataFile) {
	parts := make([]string, len(run.Answer))
	var files []schemas.DataFile
	for i := range run.Answer {
		told := env.tellPart(run, &run.Answer[i])
		parts[i] = told.Text
		if told.File != nil && len(files) < maxAttached {
			files = append(files, *told.File)
		}
	}
	words := cut(workflow.AnswerText(parts, run.Error, run.Message.Language), maxAnswer)
	if strings.TrimSpace(words) == "" {
		words = env.Pinned.TextsIn(run.Message.Language).Empty
	}
	if found := env.tellFindings(run); found != "" {
		words += "\n\n" + found
	}
	return words, files
}

// tellPart returns what a person is told of one part of an answer: its text, or from schemas.Edition1
// on its data in words when there is none.
func (env *Env) tellPart(run *workflow.Run, part *schemas.AnswerPart) answer.Told {
	result := env.content(part.Body)
	if run.Edition < schemas.Edition1 || strings.TrimSpace(result.Text) != "" || len(result.Data) == 0 {
		return answer.Told{Text: result.Text}
	}
	agent := ""
	if task := run.Task(part.Task); task != nil {
		agent = task.Agent
	}
	if template := env.Pinned.Template(agent); template != nil {
		if told, err := template.Tell(result.Data); err == nil && told != "" {
			return answer.Told{Text: told}
		}
	}
	return answer.Data(result.Data, env.Pinned.OutputSchema(agent), part.Task, env.wordsFor(run))
}

// tellFindings returns what a person is told of what agents have said beside their results.
func (env *Env) tellFindings(run *workflow.Run) string {
	if run.Edition < schemas.Edition1 {
		return ""
	}
	var said []schemas.Findings
	for _, task := range run.Tasks {
		switch task.State {
		case workflow.TaskCompleted:
			said = append(said, task.Said())
		case workflow.TaskFailed: // what has failed is told already
			said = append(said, schemas.Findings{ValidationResults: task.Said().ValidationResults, Recommendations: task.Said().Recommendations})
		case workflow.TaskPending, workflow.TaskReady, workflow.TaskDispatched, workflow.TaskRunning, workflow.TaskWaiting,
			workflow.TaskSkipped, workflow.TaskCancelled:
		}
	}
	return answer.Findings(said, env.wordsFor(run))
}

func (env *Env) wordsFor(run *workflow.Run) answer.Words {
	language := env.Pinned.Words(run.Message.Language)
	return answer.Words{Texts: &language.Texts, Decimal: language.Decimal}
}
