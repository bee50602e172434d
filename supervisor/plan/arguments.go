package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/arguments"
)

// extractTask begins the id of what an extractor is asked; the task and the agent follow.
const extractTask = "extract:"

// fill gives a task the arguments that its agent takes, and reports whether the task can begin. Else it
// waits, for an extractor or a person, or has failed.
func (d *Decision) fill(task *workflow.Task) bool {
	filler := d.Profile.fillers[task.Agent]
	if filler == nil || task.Plan == nil || d.isFilled(task) {
		return true
	}
	extracted, asked := d.extracted(task)
	if asked && extracted == nil {
		return false // its answer is awaited
	}
	filled := d.fillWith(filler, task, extracted)
	if len(filled.Missing) > 0 && filler.Input() == arguments.InputEither {
		return true // the agent works on the words
	}
	fact := schemas.ArgumentsFilled{
		Run: d.Run.Number, Task: task.ID, Agent: task.Agent, Values: filled.Values, Missing: needsOf(filled.Missing),
		Answers: len(d.answersTo(task)), Extracted: extracted != nil,
	}
	if len(filled.Sources) > 0 {
		fact.Sources = make(map[string]schemas.ArgumentSource, len(filled.Sources))
		for _, path := range slices.Sorted(maps.Keys(filled.Sources)) {
			fact.Sources[path] = schemas.ArgumentSource(filled.Sources[path])
		}
	}
	for _, refused := range filled.Refused {
		fact.Refused = append(fact.Refused, strings.TrimPrefix(refused.Path+": "+refused.Why, ": "))
	}
	d.Emit(&fact)
	task = d.Run.Task(task.ID)
	if len(fact.Missing) > 0 && len(fact.Refused) == 0 && !asked && d.extract(task) {
		return false
	}
	return d.isComplete(task)
}

// isFilled reports whether the arguments of a task have been filled with all that is known.
func (d *Decision) isFilled(task *workflow.Task) bool {
	return task.Filled != nil && task.Filled.Agent == task.Agent && task.Filled.Answers == len(d.answersTo(task)) && len(task.Filled.Missing) == 0
}

// isComplete goes on with a task whose arguments were filled: it has them, asks for the rest, or fails.
func (d *Decision) isComplete(task *workflow.Task) bool {
	switch filled := task.Filled; {
	case len(filled.Refused) > 0:
		d.fail(task, schemas.FailureArguments, "arguments: "+truncate(strings.Join(filled.Refused, "; "), maxFeedback))
	case len(filled.Missing) == 0:
		return true
	case !d.inquire(task, schemas.InquiryOpened{Needs: filled.Missing}):
		d.failWith(task, schemas.TaskFailed{
			Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Needs: filled.Missing, Detail: d.lacking(filled.Missing),
		})
	}
	return false
}

// worksOnWords reports whether an agent can do without arguments, whatever its schema requires.
func (p *Profile) worksOnWords(agent string) bool {
	filler := p.fillers[agent]
	return filler != nil && filler.Input() == arguments.InputEither
}

// ArgumentsSchema is the JSON Schema of the arguments that an agent takes; nil when it has none.
func (p *Profile) ArgumentsSchema(agent string) jsontext.Value {
	if use := p.agentUse(agent); use != nil {
		return use.InputSchema
	}
	return nil
}

func needsOf(missing []arguments.Missing) []schemas.Need {
	var needs []schemas.Need
	for i := range missing[:min(len(missing), schemas.MaxNeeds)] {
		needs = append(needs, schemas.Need{Name: missing[i].Path, Title: missing[i].Title, Question: missing[i].Question, Readings: missing[i].Readings})
	}
	return needs
}

// fillWith fills what is open from all that is at hand.
func (d *Decision) fillWith(filler *arguments.Filler, task *workflow.Task, extracted jsontext.Value) arguments.Filled {
	message := &d.Run.Message
	given := arguments.Given{
		Arguments: task.Plan.Options().Arguments, Words: d.content(task.Plan.Description).Text,
		Tainted:  message.Upstream == nil || message.Tainted,
		Entities: d.Run.Entities, Files: d.filesAtHand(), Language: message.Language, Moment: message.Taken, Location: d.Profile.location, Extracted: extracted,
	}
	if given.Moment.IsZero() {
		given.Moment = d.Now
	}
	if message.Upstream == nil && message.Author != nil {
		given.Message = arguments.Message{From: message.Author.Address, Subject: message.Subject}
	}
	for _, brought := range d.requestInputs.Answers(d.Run, task, d.Read) {
		given.Words += "\n\n" + brought.Text
	}
	answers := d.answersTo(task)
	if len(answers) == 0 {
		return filler.Fill(given)
	}
	if task.Filled == nil || task.Filled.Agent != task.Agent { // it was asked for another agent
		for _, answer := range answers {
			given.Words += "\n\n" + d.content(answer.Answered.Text).Text
		}
		return filler.Fill(given)
	}
	before := arguments.Before{Words: given.Words, Filled: filledBefore(task.Filled)}
	for _, answer := range answers[:len(answers)-1] {
		before.Words += "\n\n" + d.content(answer.Answered.Text).Text
	}
	newest := answers[len(answers)-1]
	given.Words, given.Before, given.Moment = d.content(newest.Answered.Text).Text, &before, newest.Ended
	return filler.Fill(given)
}

// filledBefore is what was known of arguments when a person was asked for the rest.
func filledBefore(filled *schemas.ArgumentsFilled) arguments.Filled {
	before := arguments.Filled{Values: filled.Values, Sources: make(map[string]arguments.Source, len(filled.Sources))}
	for _, path := range slices.Sorted(maps.Keys(filled.Sources)) {
		before.Sources[path] = arguments.Source(filled.Sources[path])
	}
	for i := range filled.Missing {
		need := &filled.Missing[i]
		before.Missing = append(before.Missing, arguments.Missing{Path: need.Name, Title: need.Title, Question: need.Question, Readings: need.Readings})
	}
	return before
}

// answersTo are the inquiries about the arguments of a task that were answered, oldest first.
func (d *Decision) answersTo(task *workflow.Task) []*workflow.Inquiry {
	var answered []*workflow.Inquiry
	for _, inquiry := range d.Run.Inquiries {
		if inquiry.Task == task.ID && inquiry.Attempt == 0 && inquiry.Answered != nil {
			answered = append(answered, inquiry)
		}
	}
	return answered
}

// filesAtHand are the files of the run's messages, named as requests list them.
func (d *Decision) filesAtHand() []arguments.File {
	var files []arguments.File
	known := map[string]bool{}
	for _, sequence := range d.messagesWithFiles() {
		for _, file := range AttachmentsIn(d.Read(schemas.Content{Sequence: sequence})) {
			if key := file.Artifact.SHA256 + " " + file.Name; !known[key] && len(files) < schemas.MaxAttachments {
				known[key] = true
				files = append(files, arguments.File{Reference: "a" + strconv.Itoa(len(files)+1), MediaType: file.MediaType})
			}
		}
	}
	return files
}

// extract asks the extractor of the agent of a task that has not begun for arguments, once. The task goes on when the
// answer is there, which it is at once when the extractor cannot be asked.
func (d *Decision) extract(task *workflow.Task) bool {
	use := d.Profile.agentUse(task.Agent)
	if use.Extractor == "" || task.State != workflow.TaskPending {
		return false
	}
	d.ask(extractTask+task.ID+separator+use.Extractor, schemas.KindExtract, use.Extractor)
	return true
}

// extracted returns what the extractor has found, an empty object when that is nothing, and whether it was asked;
// nil while it has not answered.
func (d *Decision) extracted(task *workflow.Task) (found jsontext.Value, asked bool) {
	question := d.extraction(task)
	switch {
	case question == nil:
		return nil, false
	case !question.State.Ended():
		return nil, true
	case question.State == workflow.TaskCompleted:
		if data := d.content(question.Result).Data; data.Kind() == '{' {
			return data, true
		}
	}
	return jsontext.Value("{}"), true
}

func (d *Decision) extraction(task *workflow.Task) *workflow.Task {
	use := d.Profile.agentUse(task.Agent)
	if use == nil || use.Extractor == "" {
		return nil
	}
	return d.Run.Task(extractTask + task.ID + separator + use.Extractor)
}

// valuesIn reads from a person's words what an agent has asked for, by the schemas that it has given; nil is nothing.
func (d *Decision) valuesIn(inquiry *workflow.Inquiry, words string) jsontext.Value {
	if inquiry.Attempt == 0 {
		return nil // the agent's arguments are filled with the words
	}
	schema, err := schemas.Marshal(schemaOf(inquiry.Needs))
	if err != nil {
		return nil
	}
	filler, err := arguments.Compile(arguments.Spec{Input: arguments.InputArguments}, schema)
	if err != nil {
		return nil // the agent reads the words itself
	}
	filled := filler.Fill(arguments.Given{
		Words: words, Tainted: true, Language: d.Run.Message.Language, Moment: d.Now, Location: d.Profile.location,
	})
	if len(filled.Sources) == 0 || len(filled.Values) > schemas.RecordInlineLimit {
		return nil // the words say it
	}
	return filled.Values
}

// schemaOf is the schema of an object that has all that is needed, with names inside of names for dots.
func schemaOf(needs []schemas.Need) map[string]any {
	root := map[string]any{"type": "object", "properties": map[string]any{}}
	for i := range needs {
		at, names := root, strings.Split(needs[i].Name, ".")
		for n, name := range names {
			properties, _ := at["properties"].(map[string]any)
			if n == len(names)-1 {
				properties[name] = any(map[string]any{"type": "string"})
				if len(needs[i].Schema) > 0 {
					properties[name] = needs[i].Schema
				}
			} else if inner, is := properties[name].(map[string]any); !is || inner["properties"] == nil {
				properties[name] = map[string]any{"type": "object", "properties": map[string]any{}}
			}
			required, _ := at["required"].([]string)
			if !slices.Contains(required, name) {
				at["required"] = append(required, name)
			}
			at, _ = properties[name].(map[string]any)
			if at == nil {
				break
			}
		}
	}
	return root
}
