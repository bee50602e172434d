package llm

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/reference"
)

//go:embed prompts
var promptFiles embed.FS

// A Prompt is what a model is told of its role, in one language: a template (Go text/template).
type Prompt struct{ parsed *template.Template }

// PromptNames are those by which a prompt reads what it is made for, as in {{.agents}}.
func PromptNames() []string { return []string{"agents", "max_tasks", "language"} }

// ParsePrompt reads a prompt. It fails on one that cannot be read, that is empty, and on a name that there is not.
func ParsePrompt(text string) (*Prompt, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("it is empty")
	}
	parsed, err := template.New("prompt").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is no template: %s", strings.TrimPrefix(err.Error(), "template: prompt:"))
	}
	made := &Prompt{parsed: parsed}
	if _, err := made.fill("- a: b", 1, schemas.FallbackLanguage); err != nil {
		return nil, fmt.Errorf("it cannot be filled in: {{…}} can be: %s", strings.Join(PromptNames(), ", "))
	}
	return made, nil
}

func (p *Prompt) fill(agents string, maxTasks int, language string) (string, error) {
	var filled bytes.Buffer
	err := p.parsed.Execute(&filled, map[string]string{"agents": agents, "max_tasks": strconv.Itoa(maxTasks), "language": language})
	return strings.TrimSpace(filled.String()), err
}

// ownPrompts reads the prompts of a role, by language.
func ownPrompts(role Role) (map[string]*Prompt, error) {
	folders, err := promptFiles.ReadDir("prompts")
	if err != nil {
		return nil, err
	}
	prompts := map[string]*Prompt{}
	for _, folder := range folders {
		text, err := promptFiles.ReadFile("prompts/" + folder.Name() + "/" + string(role) + ".txt")
		if err != nil {
			return nil, err
		}
		if prompts[folder.Name()], err = ParsePrompt(string(text)); err != nil {
			return nil, fmt.Errorf("prompt of %s in %s: %w", role, folder.Name(), err)
		}
	}
	return prompts, nil
}

func (a *Agent) prompt(language string) *Prompt {
	if a.config.Prompt != nil {
		return a.config.Prompt
	}
	if own := a.prompts[language]; own != nil {
		return own
	}
	return a.prompts[schemas.FallbackLanguage]
}

// system says what the model shall do: what stands in the configuration, and in no message.
func (a *Agent) system(asked *question, shaped *shape, language string, marks marks) (string, error) {
	role, err := a.prompt(language).fill(agentLines(asked.Agents), asked.MaxTasks, language)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnusable, err)
	}
	parts := []string{role}
	if shaped != nil {
		parts = append(parts, a.words.Say(language, "rule_data", "{schema}", string(shaped.asked)))
	}
	if step := a.stepOf(asked.plan); step > 0 {
		parts = append(parts, a.words.Say(language, "rule_step", "{step}", strconv.Itoa(step)))
	}
	if a.config.Vision {
		parts = append(parts, a.words.Say(language, "rule_pictures"))
	}
	parts = append(parts,
		a.words.Say(language, "rule_language", "{language}", language),
		a.words.Say(language, "rule_marks", "{begin}", marks.begin(), "{end}", marks.end()))
	return strings.Join(parts, "\n\n"), nil
}

// stepOf is which step of a plan the model does (C-04); 0 is that it is told of none.
func (a *Agent) stepOf(plan *schemas.PlanContext) int {
	if plan == nil || a.config.Role.Kind() != schemas.KindWork || plan.Current < 1 || plan.Current > len(plan.Steps) {
		return 0
	}
	return plan.Current
}

// numbered are the steps of a plan, each on a line with its number.
func numbered(steps []string) string {
	lines := make([]string, len(steps))
	for i, step := range steps {
		lines[i] = strconv.Itoa(i+1) + ". " + strings.Join(strings.Fields(step), " ")
	}
	return strings.Join(lines, "\n")
}

func agentLines(agents []choice) string {
	lines := make([]string, len(agents))
	for i := range agents {
		lines[i] = "- " + agents[i].Name + ": " + strings.Join(strings.Fields(cmp.Or(agents[i].Description, "–")), " ")
		if agents[i].Unavailable != "" {
			lines[i] += " (not available: " + strings.Join(strings.Fields(agents[i].Unavailable), " ") + ")"
		}
		if len(agents[i].InputSchema) > 0 {
			lines[i] += "\n  context.arguments: " + string(agents[i].InputSchema)
		}
	}
	return strings.Join(lines, "\n")
}

// marks stand around what comes from outside. Nobody there knows them.
type marks struct{ nonce string }

func newMarks() marks { return marks{rand.Text()} }

func (m marks) begin() string { return "<data-" + m.nonce + ">" }
func (m marks) end() string   { return "</data-" + m.nonce + ">" }

// around puts a text between marks, under a name of ours.
func (m marks) around(name, text string) string {
	text = strings.ReplaceAll(text, m.nonce, "") // nobody can guess it, and nobody could use it
	return name + ":\n" + m.begin() + "\n" + text + "\n" + m.end()
}

// user is all that a request brings, and which of its files the model sees. Every word of it stands between marks: what a planner has made of a message comes
// from outside as well.
func (a *Agent) user(request *agent.Request, asked *question, seen []string, marks marks) string {
	task := request.Task()
	told := &task.Context
	var blocks []string
	block := func(name, text string) {
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, marks.around(name, text))
		}
	}
	if a.config.Role == RoleRouter || a.config.Role.Kind() == schemas.KindWork && task.Description != told.Request {
		block("task", task.Description)
	}
	if a.config.Role != RoleRouter || task.Description == "" {
		block("request", told.Request)
	}
	if message := told.Message; message != nil {
		if message.From != nil {
			block("from", strings.Join(strings.Fields(message.From.Name+" "+message.From.Address+" "+message.From.User), " "))
		}
		block("subject", message.Subject)
		block("quoted", message.Quoted)
	}
	if a.stepOf(told.Plan) > 0 {
		block("plan", numbered(told.Plan.Steps))
	}
	block("conversation", conversation(told.Conversation))
	block("entities", pairs(told.Entities))
	switch a.config.Role {
	case RoleRouter:
	case RolePlanner, RoleSteps:
		block("arguments", ungranted(asked.Given))
	case RoleJudge, RoleCritic:
		block("state", ungranted(told.Arguments))
	case RoleExtractor:
		block("known", ungranted(asked.Known))
		block("fault", string(asked.Fault))
	case RoleResponder, RoleSummarizer, RoleWorker:
		block("arguments", ungranted(told.Arguments))
	}
	for _, name := range slices.Sorted(maps.Keys(told.Inputs)) {
		input := told.Inputs[name]
		block("result", strings.TrimSpace(name+" "+string(input.Status)+"\n"+input.Text+"\n"+ungranted(input.Data)))
	}
	block("files", files(told.Attachments, seen))
	block("feedback", told.Feedback)
	return strings.Join(blocks, "\n\n")
}

// ungranted is JSON without the right to read the files that it names: no model opens one.
func ungranted(value jsontext.Value) string {
	bare, _ := reference.TakeGrants(value)
	return string(bare)
}

func conversation(told *schemas.ConversationContext) string {
	if told == nil {
		return ""
	}
	lines := make([]string, len(told.Messages))
	for i := range told.Messages {
		lines[i] = string(told.Messages[i].By) + ": " + told.Messages[i].Text
	}
	return strings.Join(lines, "\n")
}

func pairs(values map[string]string) string {
	lines := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, name+": "+values[name])
	}
	return strings.Join(lines, "\n")
}

func files(attached []schemas.TaskAttachment, seen []string) string {
	lines := make([]string, len(attached))
	for i := range attached {
		file := &attached[i]
		lines[i] = fmt.Sprintf("%s %s (%s, %d bytes)", file.ID, cmp.Or(file.Name, "–"), cmp.Or(file.MediaType, "application/octet-stream"), file.Size)
		if at := slices.Index(seen, file.ID); at >= 0 {
			lines[i] += fmt.Sprintf(": picture %d", at+1)
		}
	}
	return strings.Join(lines, "\n")
}

// corrected asks for an answer once more. The answer itself comes from outside as well, and so may what is wrong with it.
func (a *Agent) corrected(asked, answer, fault, language string, marks marks) string {
	const most = 32 << 10 // of a wrong answer; a model sees by less what it has done
	answer = strings.ToValidUTF8(answer[:min(len(answer), most)], "")
	return strings.Join([]string{
		asked, marks.around("answer", answer), marks.around("mistake", fault), a.words.Say(language, "correction"),
	}, "\n\n")
}
