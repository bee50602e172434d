package session

import (
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
)

// maxAnswer bounds the words of an answer, in bytes.
const maxAnswer = 1 << 20

// answerText returns the text of a settled run's answer.
func (env *Env) answerText(run *workflow.Run) string {
	parts := make([]string, len(run.Answer))
	for i := range run.Answer {
		if parts[i] = run.Answer[i].Told; parts[i] == "" {
			parts[i] = env.text(run.Answer[i].Body)
		}
	}
	words := cut(workflow.AnswerText(parts, run.Error, run.Message.Language, run.Notes, run.Summary), maxAnswer)
	if strings.TrimSpace(words) == "" {
		words = env.Pinned.TextsIn(run.Message.Language).Empty
	}
	return words
}

// answerFiles are the data of an answer as files, where its words leave something out.
func (env *Env) answerFiles(run *workflow.Run) []schemas.DataFile {
	var files []schemas.DataFile
	for i := range run.Answer {
		part := &run.Answer[i]
		task := run.Task(part.Task)
		if part.Told == "" || task == nil || len(files) == maxAttached {
			continue
		}
		if told := env.Pinned.Tell(task, env.content(part.Body), &run.Message); told.File != nil {
			files = append(files, *told.File)
		}
	}
	return files
}
