package plan

import (
	"cmp"
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
	"podium/supervisor/recovery"
)

// Tell returns what people are told of a task's result that is data without words: by the template of its
// agent, or line by line. It is empty for any other result.
func (p *Profile) Tell(task *workflow.Task, result schemas.Result, message *schemas.Incoming) answer.Told {
	if strings.TrimSpace(result.Text) != "" || len(result.Data) == 0 {
		return answer.Told{}
	}
	if template := p.renders[task.Agent]; template != nil {
		if told, err := template.Tell(result.Data); err == nil && told != "" {
			return answer.Told{Text: told}
		}
	}
	var schema []byte
	if use := p.agentUse(task.Agent); use != nil {
		schema = use.OutputSchema
	}
	name := ""
	if message.Channel == schemas.ChannelEmail { // files go along by mail alone
		name = task.ID
	}
	return answer.Data(result.Data, schema, name, p.wordsIn(message.Language))
}

// Streams reports whether whoever has written is shown the text of a task's result while it comes (O-35): if the profile has
// it so, they wait at a chat, and the answer is to be that text alone, which nothing checks.
func (p *Profile) Streams(run *workflow.Run, task *workflow.Task) bool {
	if !p.Stream || p.Replan != nil || recovery.Changes(&p.Profile) || p.rules.Answers() || p.CheckLanguage != "" || run.Message.Channel != schemas.ChannelChat || run.Message.Reply == nil ||
		task.Kind != "" || task.Plan == nil || p.outputs[task.Agent] != nil {
		return false
	}
	for _, other := range run.Tasks {
		if (other == task) == p.builtOn(run, other) {
			return false
		}
	}
	return true
}

func (p *Profile) wordsIn(tag string) answer.Words {
	language := p.language(tag)
	return answer.Words{Texts: &language.Texts, Decimal: language.Decimal}
}

// tell adds to an outcome what people are told besides words, from schemas.Edition1 on. What is told stands on
// record, so that everybody who shows the answer says the same.
func (d *Decision) tell(settled *schemas.RunSettled) {
	if d.Run.Edition < schemas.Edition1 {
		return
	}
	for i := range settled.Answer {
		part := &settled.Answer[i]
		task := d.Run.Task(part.Task)
		if task != nil {
			part.Told = d.Profile.Tell(task, d.content(part.Body), &d.Run.Message).Text
		}
		part.Told = cmp.Or(d.untold(task, part), part.Told)
	}
	var said []schemas.Findings
	for _, task := range d.Run.Tasks {
		if task.Replaced {
			continue // what another plan has mended is nobody's business
		}
		found := task.Said()
		if task.State != workflow.TaskCompleted {
			found.Issues = nil // what has failed is told already
		}
		said = append(said, d.findings(found))
	}
	for _, found := range d.checked() {
		said = append(said, d.findings(found))
	}
	settled.Notes = answer.Findings(said, d.Profile.wordsIn(d.Run.Message.Language))
}
