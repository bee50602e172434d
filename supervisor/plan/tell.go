package plan

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/answer"
	"podium/supervisor/recovery"
	"podium/supervisor/review"
)

// Tell returns what people are told of a task's result that is data without words: by the template of its
// agent, or line by line. It is empty for any other result.
func (p *Profile) Tell(run *workflow.Run, task *workflow.Task, result schemas.Result) answer.Told {
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
	if run.Message.Channel == schemas.ChannelEmail { // files go along by mail alone
		name = task.ID
	}
	words := p.wordsIn(run.Message.Language)
	return answer.Data(result.Data, schema, name, words)
}

// Streams reports whether whoever has written is shown the text of a task's result while it comes (O-35): if the profile has
// it so, they wait at a chat, and the answer is to be that text alone, which nothing checks.
func (p *Profile) Streams(run *workflow.Run, task *workflow.Task) bool {
	if !p.Stream || p.Replan != nil || recovery.Changes(&p.Profile) || p.rules.Answers() || p.CheckLanguage != "" || run.Message.Channel != schemas.ChannelChat || run.Message.Reply == nil ||
		task.Plan == nil || p.outputs[task.Agent] != nil {
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

// tell adds to an outcome what people are told besides words. What is told stands on
// record, so that everybody who shows the answer says the same.
func tell(v *View, settled *schemas.RunSettled) {
	for i := range settled.Answer {
		part := &settled.Answer[i]
		task := v.Run.Task(part.Task)
		if task != nil {
			part.Told = v.Profile.Tell(v.Run, task, v.content(part.Body)).Text
		}
		part.Told = cmp.Or(untold(v, part), part.Told)
	}
	var said []schemas.Findings
	for _, task := range v.Run.Tasks {
		if task.Replaced {
			continue // what another plan has mended is nobody's business
		}
		found := task.Said()
		if task.State != workflow.TaskCompleted {
			found.Issues = nil // what has failed is told already
		}
		said = append(said, findings(v, found))
	}
	for _, found := range checkFindings(v) {
		said = append(said, findings(v, found))
	}
	settled.Notes = answer.Findings(said, v.Profile.wordsIn(v.Run.Message.Language))
}

// askedBy tells approvers who has begun the run, how far that is known, which run it is, and what the requester has written, set apart as a
// quotation.
func askedBy(v *View) string {
	told := v.sentence("asked_by",
		"{requester}", requester(v), "{proof}", v.sentence(requesterProof(v)), "{run}", schemas.RunID(v.Session, v.Run.Number),
	)
	words := strings.TrimSpace(RequestText(&v.Run.Message, v.Read))
	if words == "" {
		return told
	}
	return told + "\n\n" + quotation(truncate(words, maxQuestion))
}

// requester is who has begun the run, as their message names them.
func requester(v *View) string {
	message := &v.Run.Message
	if message.Upstream != nil {
		return oneLine(message.Upstream.From)
	}
	named, id := "", ""
	if author := message.Author; author != nil {
		named, id = oneLine(author.Name), oneLine(cmp.Or(author.Address, author.User))
	}
	if id == "" && message.Reply != nil {
		id = oneLine(strings.TrimSpace(message.Reply.Provider + " " + message.Reply.Channel))
	}
	switch {
	case named == "":
		return cmp.Or(id, "?")
	case id == "":
		return named
	}
	return named + " <" + id + ">"
}

// requesterProof returns the key of the sentence that tells how far it is known who has begun the run.
func requesterProof(v *View) string {
	switch message := &v.Run.Message; {
	case message.Upstream != nil:
		return "asked_by_program"
	case message.Channel == schemas.ChannelChat:
		return "asked_in_chat"
	case message.Origin == schemas.OriginProven:
		return "sender_vouched"
	}
	return "sender_unvouched"
}

// workAskedFor is what a task is to do, as a question about its failure or its budget tells it: to people of the profile with who has begun the run, and
// the requester's words set apart.
func workAskedFor(v *View, task *workflow.Task, people []string) string {
	description := v.content(task.Plan.Description).Text
	if len(people) == 0 {
		return truncate(description, maxQuestion)
	}
	return truncate(strings.TrimSpace(askedBy(v)+"\n\n"+describedTask(v, description, true)), maxAskedWork)
}

// maxAskedWork bounds what a question to people of the profile tells of the work and of who has begun it, in bytes, so that the words by which they decide
// fit behind that.
const maxAskedWork = 2 << 10

// describedTo is what an agent is called in a question: to people of the profile by what it does.
func describedTo(v *View, people []string, agent string) string {
	if len(people) == 0 {
		return agent
	}
	return describedAgent(v, agent)
}

// describedTask is what a task is to do, as approvers are told it. Words of the requester, and what an agent has made of them, are a quotation,
// and a template's own words are none. Words of the requester that askedBy quotes in the same question are left out.
func describedTask(v *View, description string, isQuoted bool) string {
	told := truncate(description, maxQuestion)
	description, request := strings.TrimSpace(description), strings.TrimSpace(RequestText(&v.Run.Message, v.Read))
	ofProfile := v.Run.Source == schemas.PlannerTemplate && !strings.Contains(description, request) && !strings.ContainsFunc(description, isLineBreak)
	switch {
	case description == request && isQuoted:
		return ""
	case ofProfile:
		return schemas.RemoveControls(told)
	}
	return quotation(told)
}

// shown is a text that may hold words of the requester, as a question shows it: without what turns the direction of
// writing.
func shown(text string) string {
	return schemas.RemoveControls(text)
}

// describedAgent is what an agent is called where approvers are told of it: what it does.
func describedAgent(v *View, agent string) string {
	use := v.Profile.agentUse(agent)
	if use == nil {
		return agent
	}
	return cmp.Or(strings.TrimRight(oneLine(use.Description), ". "), agent)
}

// quotation sets words apart from those of Podium, by a mark before each line.
func quotation(words string) string {
	lines := strings.FieldsFunc(words, func(c rune) bool { return isLineBreak(c) })
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+strings.TrimSpace(schemas.RemoveControls(line)), " ")
	}
	return strings.Join(lines, "\n")
}

func isLineBreak(c rune) bool {
	return c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == '\u0085' || c == '\u2028' || c == '\u2029'
}

// oneLine is a name on one line, without marks that change how it reads, and without those around an address.
func oneLine(name string) string {
	const longest = 200 // bytes
	name = strings.Map(func(c rune) rune {
		switch {
		case isLineBreak(c) || unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '<' || c == '>':
			return -1
		}
		return c
	}, name)
	return truncate(strings.Join(strings.Fields(name), " "), longest)
}

// summarize has the results told in one text before the run is settled, where several are there and all of them are right.
func summarize(v *View) events {
	summary := v.Profile.Summary
	if summary != nil && summary.Agent != "" && summarizes(v) && v.Run.Task(schemas.SummarizeTask) == nil {
		return ask(v, workflow.NewSummary(summary.Agent))
	}
	return append(closeBudgetTask(v), settle(v)) // what waited for more of a day had some, and has failed
}

func summarizes(v *View) bool {
	results := 0
	for _, task := range v.Run.Tasks {
		if task.State == workflow.TaskCompleted && !review.IsFix(task) {
			results++
		}
	}
	return results > 1 && decisive(v) == nil
}

// summaryAnswered takes the words that tell the results.
func summaryAnswered(d *Decision, question *workflow.Task, answer *Response) {
	words, err := summaryIn(answer.WholeResult)
	if err != nil {
		d.fail(question, schemas.FailureInvalidResult, reasonOf(err))
		return
	}
	if found := otherLanguage(&d.View, words); found != "" {
		d.fail(question, schemas.FailureInvalidResult, wrongLanguage(&d.View, found)...)
		return
	}
	completed(d, question, answer)
	d.emit(&schemas.Judged{Run: d.Run.Number, Question: question.ID, Occasion: schemas.OccasionSummary, Round: d.Run.Attempts(), Outcome: schemas.OutcomeResponse})
}

// summaryIn are the words of a summary: a response, or else the text as it is.
func summaryIn(result schemas.Result) (string, error) {
	said, err := ReadVerdict(result)
	words := said.Response
	if err != nil {
		words = strings.TrimSpace(result.Text)
	}
	switch {
	case words == "":
		return "", newAnswerError(schemas.AnswerWithoutSummary)
	case len(words) > maxResponse:
		return "", newAnswerError(schemas.AnswerTooLong, "limit", strconv.Itoa(maxResponse))
	}
	return words, nil
}

// summaryOf is what is told instead of the words of an answer's parts: what an agent has said, or else the template; empty is nothing.
func summaryOf(v *View, parts []schemas.AnswerPart) string {
	if v.Profile.Summary == nil || !summarizes(v) {
		return ""
	}
	if question := v.Run.Task(schemas.SummarizeTask); question != nil && question.State == workflow.TaskCompleted {
		if words, err := summaryIn(v.content(question.Result)); err == nil {
			return words
		}
	}
	if v.Profile.summary == nil {
		return ""
	}
	var results struct {
		Tasks []toldResult `json:"tasks"`
		Steps []toldResult `json:"steps"`
	}
	for i := range parts {
		results.Tasks = append(results.Tasks, resultToTell(v, v.Run.Task(parts[i].Task), &parts[i]))
	}
	for _, task := range v.Run.Tasks {
		if task.Plan != nil && task.State == workflow.TaskCompleted {
			results.Steps = append(results.Steps, resultToTell(v, task, &schemas.AnswerPart{Task: task.ID, Body: task.Result}))
		}
	}
	body, err := schemas.Marshal(results)
	if err != nil {
		return ""
	}
	words, err := v.Profile.summary.Tell(body)
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

func resultToTell(v *View, task *workflow.Task, part *schemas.AnswerPart) toldResult {
	content := v.content(part.Body)
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
