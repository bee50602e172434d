package session

import (
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// maxAnswer bounds the words of an answer, in bytes.
const maxAnswer = 1 << 20

// answerText returns the text of a settled run's answer.
func (env *Env) answerText(run *workflow.Run) string {
	words := cut(plan.AnswerText(run, env.Read), maxAnswer)
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

// wholeAnswer are the files by which people who are to agree to an answer see what their letter does not show of it.
func (env *Env) wholeAnswer(run *workflow.Run, f *schemas.TaskDispatched) (attached []schemas.Attachment, made []schemas.DataFile) {
	if run.Message.Channel == schemas.ChannelEmail { // files go along by mail alone
		attached, made = env.attachments(run, f), env.answerFiles(run)
	}
	if words := env.answerText(run); len(words) > plan.MaxShown {
		made = append(made, schemas.DataFile{Name: "answer.txt", MediaType: "text/plain; charset=utf-8", Text: words})
	}
	return attached, made
}
