package plan

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/validation"
	"podium/schemas/workflow"
	"podium/supervisor/approval"
	"podium/supervisor/arguments"
	"podium/supervisor/say"
)

// fillArguments returns the arguments that the agent of a task takes, as far as they are known; nil if they were filled before, or if it takes none.
func fillArguments(v *View, task *workflow.Task) *schemas.ArgumentsFilled {
	filler := v.Profile.fillers[task.Agent]
	if filler == nil || task.Plan == nil || isFilled(v, task) {
		return nil
	}
	extracted, _ := extracted(v, task)
	filled := fillWith(v, filler, task, extracted)
	if len(filled.Missing) > 0 && filler.Input() == arguments.InputEither {
		return nil // the agent works on the words
	}
	event := schemas.ArgumentsFilled{
		Run: v.Run.Number, Task: task.ID, Agent: task.Agent, Values: filled.Values, Missing: needsOf(filled.Missing),
		Answers: len(answersTo(v, task)), Extracted: extracted != nil,
	}
	if len(filled.Sources) > 0 {
		event.Sources = make(map[string]schemas.ArgumentSource, len(filled.Sources))
		for _, path := range slices.Sorted(maps.Keys(filled.Sources)) {
			event.Sources[path] = schemas.ArgumentSource(filled.Sources[path])
		}
	}
	for _, refused := range filled.Refused {
		event.Refused = append(event.Refused, refused.Reason)
	}
	event.Refused = boundReasons(event.Refused, maxReasonValue, maxFailureBytes)
	return &event
}

// isFilled reports whether the arguments of a task have been filled with all that is known.
func isFilled(v *View, task *workflow.Task) bool {
	return task.Filled != nil && (task.Filled.Edited || task.Filled.Agent == task.Agent && task.Filled.Answers == len(answersTo(v, task)) && len(task.Filled.Missing) == 0)
}

// lacksArguments reports whether the arguments that were filled for the agent of a task are not all that it takes.
func lacksArguments(v *View, task *workflow.Task) bool {
	filler, filled := v.Profile.fillers[task.Agent], task.Filled
	if filler == nil || task.Plan == nil || filled == nil || filled.Edited || filled.Agent != task.Agent {
		return false
	}
	return len(filled.Refused) > 0 || len(filled.Missing) > 0 && !fault.Is("arguments that lack something go out")
}

// completeArguments asks an extractor for the arguments that a task lacks, or else the requester; it fails the task when there is nobody to ask.
func completeArguments(v *View, task *workflow.Task) events {
	filled := task.Filled
	if len(filled.Refused) > 0 {
		return fail(v, task, schemas.FailureArguments, filled.Refused...)
	}
	use := v.Profile.agentUse(task.Agent)
	if _, asked := extracted(v, task); !asked && use.Extractor != "" && task.State == workflow.TaskPending {
		return ask(v, workflow.NewExtraction(task.ID, use.Extractor))
	}
	if opened := inputFor(v, task, schemas.InquiryOpened{Needs: filled.Missing}); opened != nil {
		return open(v, task, opened)
	}
	return failWith(v, task, schemas.TaskFailed{
		Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Needs: filled.Missing, Reasons: []schemas.Reason{lacking(filled.Missing)},
	})
}

// Arguments are those that the agent of a task is told. What only whoever agrees sets is true by an inquiry that sets it, and everywhere else false.
func (p *Profile) Arguments(task *workflow.Task, agreed *workflow.Inquiry) jsontext.Value {
	var set []string
	if agreed != nil && agreed.Operation == nil && agreed.Approved() {
		set = agreed.Sets
	}
	return p.rules.Arguments(task.Agent, task.Arguments(), set)
}

// AgreedOperation is what an agent has proposed, with what whoever has agreed to it has set.
func AgreedOperation(agreed *workflow.Inquiry) *schemas.Operation {
	return approval.Marked(agreed.AgreedOperation(), agreed.Sets, agreed.Sets)
}

// argumentsOf are those of a task to which nobody has agreed.
func argumentsOf(v *View, task *workflow.Task) jsontext.Value {
	return v.Profile.Arguments(task, nil)
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

// ArgumentFaults says why arguments that a plan gives an agent are not what it takes, each with its place. What its words may say is none.
func (p *Profile) ArgumentFaults(agent, words string, given jsontext.Value) []arguments.Refused {
	check, filler := p.inputs[agent], p.fillers[agent]
	if check == nil {
		return nil
	}
	if len(given) == 0 {
		given = jsontext.Value("{}")
	}
	if filler == nil {
		return refusedBy(check, given)
	}
	filled := filler.Fill(arguments.Given{Arguments: given, Words: words, Language: p.Language, Location: p.location})
	faults := filled.Refused
	if filler.Input() == arguments.InputEither {
		return faults
	}
	for i := range filled.Missing {
		refused := func(fault arguments.Refused) bool { return fault.Path == filled.Missing[i].Path }
		if !slices.ContainsFunc(faults, refused) { // it is there, and not what it must be
			faults = append(faults, arguments.Invalid(filled.Missing[i].Path, say.Sentence(say.English(), "argument_missing")))
		}
	}
	if len(faults) == 0 {
		return refusedBy(check, filled.Values)
	}
	return faults
}

func refusedBy(check *validation.Schema, given jsontext.Value) []arguments.Refused {
	err := checkSchema(given, check)
	if invalid, ok := errors.AsType[*validation.Error](err); ok {
		return []arguments.Refused{arguments.Invalid(strings.ReplaceAll(strings.TrimPrefix(invalid.Pointer, "/"), "/", "."), invalid.Reason)}
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
func fillWith(v *View, filler *arguments.Filler, task *workflow.Task, extracted jsontext.Value) arguments.Filled {
	message := &v.Run.Message
	given := arguments.Given{
		Arguments: v.Profile.rules.Arguments(task.Agent, task.Plan.Options().Arguments, nil), Words: v.content(task.Plan.Description).Text,
		Tainted:  message.FromOutside(),
		Entities: v.Run.Entities, Files: filesAtHand(v), Language: message.Language, Moment: message.Taken, Location: v.Profile.location, Extracted: extracted,
	}
	given.Offers = true
	if given.Moment.IsZero() {
		given.Moment = v.Now
	}
	if message.Upstream == nil && message.Author != nil {
		given.Message = arguments.Message{From: message.Author.Address, Subject: message.Subject}
	}
	for _, brought := range v.known().requestInputs.Answers(v.Run, task, v.Read) {
		given.Words += "\n\n" + brought.Text
	}
	answers := answersTo(v, task)
	if len(answers) == 0 {
		return filler.Fill(given)
	}
	if task.Filled == nil || task.Filled.Agent != task.Agent { // it was asked for another agent
		for _, answer := range answers {
			given.Words += "\n\n" + v.content(answer.Answered.Text).Text
		}
		return filler.Fill(given)
	}
	before := arguments.Before{Words: given.Words, Filled: filledBefore(task.Filled)}
	for _, answer := range answers[:len(answers)-1] {
		before.Words += "\n\n" + v.content(answer.Answered.Text).Text
	}
	newest := answers[len(answers)-1]
	given.Words, given.Before, given.Moment = v.content(newest.Answered.Text).Text, &before, newest.Ended
	given.Lead, given.Rest = v.Profile.Lead(given.Words)
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
func answersTo(v *View, task *workflow.Task) []*workflow.Inquiry {
	var answered []*workflow.Inquiry
	for _, inquiry := range v.Run.Inquiries {
		if inquiry.Task == task.ID && inquiry.Attempt == 0 && inquiry.Answered != nil && !inquiry.Kind.IsRestricted() {
			answered = append(answered, inquiry)
		}
	}
	return answered
}

// filesAtHand are the files of the run's messages, named as requests list them.
func filesAtHand(v *View) []arguments.File {
	var files []arguments.File
	known := map[string]bool{}
	for _, sequence := range messagesWithFiles(v) {
		for _, file := range AttachmentsIn(v.Read(schemas.Content{Sequence: sequence})) {
			if key := file.Artifact.SHA256 + " " + file.Name; !known[key] && len(files) < schemas.MaxAttachments {
				known[key] = true
				files = append(files, arguments.File{Reference: schemas.AttachmentID(len(files) + 1), MediaType: file.MediaType})
			}
		}
	}
	return files
}

// awaitsExtraction reports whether the extractor of the agent of a task is asked for its arguments.
func awaitsExtraction(v *View, task *workflow.Task) bool {
	if filler := v.Profile.fillers[task.Agent]; filler == nil || task.Plan == nil || isFilled(v, task) {
		return false
	}
	found, asked := extracted(v, task)
	return asked && found == nil
}

// extracted returns what the extractor has found, an empty object when that is nothing, and whether it was asked;
// nil while it has not answered.
func extracted(v *View, task *workflow.Task) (found jsontext.Value, asked bool) {
	question := extraction(v, task)
	switch {
	case question == nil:
		return nil, false
	case !question.State.Ended():
		return nil, true
	case question.State == workflow.TaskCompleted:
		if data := v.content(question.Result).Data; data.Kind() == '{' {
			return data, true
		}
	}
	return jsontext.Value("{}"), true
}

func extraction(v *View, task *workflow.Task) *workflow.Task {
	use := v.Profile.agentUse(task.Agent)
	if use == nil || use.Extractor == "" {
		return nil
	}
	return v.Run.Task(schemas.ExtractTask(task.ID, use.Extractor))
}

// valuesInReply reads from a person's words what an agent has asked for, by the schemas that it has given; nil is nothing. Unfit is what the
// words do not say as its schema wants it, with a question that says so.
func valuesInReply(v *View, inquiry *workflow.Inquiry, word *Word) (values jsontext.Value, unfit []schemas.Need) {
	if inquiry.Attempt == 0 || inquiry.Kind.IsRestricted() {
		return nil, nil // the agent's arguments are filled with the words
	}
	schema, err := schemas.Marshal(schemaOf(inquiry.Needs))
	if err != nil {
		return nil, nil
	}
	spec := arguments.Spec{Input: arguments.InputArguments}
	spec.Rules = rulesFor(inquiry.Needs)
	filler, err := arguments.Compile(spec, schema)
	if err != nil {
		return nil, nil // the agent reads the words itself
	}
	given := arguments.Given{Words: word.Whole, Tainted: true, Language: v.Run.Message.Language, Moment: v.Now, Location: v.Profile.location}
	filled := filler.Fill(given) // the agent has asked, and offers nothing
	if len(word.Files) == 0 {
		unfit = unfitNeeds(v, inquiry, filled.Missing, word.Whole)
	}
	if len(filled.Sources) == 0 || len(filled.Values) > schemas.RecordInlineLimit {
		return nil, unfit // the words say it
	}
	return filled.Values, unfit
}

// unfitNeeds are the needs that a schema bounds and that were not found in a person's words. Words that no schema bounds are for the agent to read.
func unfitNeeds(v *View, inquiry *workflow.Inquiry, missing []arguments.Missing, words string) []schemas.Need {
	first := inquiry
	for first.After > 0 { // its questions say nothing of earlier answers
		first = v.Run.Inquiry(first.After)
	}
	var unfit []schemas.Need
	for i := range inquiry.Needs {
		need := inquiry.Needs[i]
		at := slices.IndexFunc(missing, func(m arguments.Missing) bool { return m.Path == need.Name })
		bound := boundsOf(&need)
		if at < 0 || bound.none() || len(inquiry.Needs) > 1 && !bound.found(inquiry.Needs) {
			continue
		}
		if asked := slices.IndexFunc(first.Needs, func(other schemas.Need) bool { return other.Name == need.Name }); asked >= 0 {
			need = first.Needs[asked]
		}
		if len(inquiry.Needs) > 1 {
			words = "" // they are not about this one alone
		}
		lines := []string{tellUnfit(v, &bound, words)}
		if readings := missing[at].Readings; len(bound.Enum) == 0 && len(readings) > 1 { // they fit, and nobody knows which is meant
			need.Readings, lines = readings, nil
		}
		if own := need.Question[v.Run.Message.Language]; own != "" {
			lines = append(lines, own)
		} else if len(lines) > 0 {
			lines = append(lines, strings.ReplaceAll(v.texts().Missing, "{missing}", titleOf(&need)))
		}
		need.Question = inLanguage(v, strings.Join(lines, " "))
		unfit = append(unfit, need)
	}
	return unfit
}

// bounds is what a schema says of a value that words may hold.
type bounds struct {
	Type      jsontext.Value   `json:"type"`
	Enum      []jsontext.Value `json:"enum"`
	Format    string           `json:"format"`
	Pattern   string           `json:"pattern"`
	MinLength int              `json:"minLength"`
	MaxLength *int             `json:"maxLength"`
	Minimum   jsontext.Value   `json:"minimum"`
	Maximum   jsontext.Value   `json:"maximum"`
}

// none reports whether any words will do, or none can be read.
func (b *bounds) none() bool {
	switch string(b.Type) {
	case `"boolean"`, `"integer"`, `"number"`:
		return false
	case `"string"`, "":
		return len(b.Enum) == 0 && b.Format == "" && b.Pattern == "" && b.MinLength < 2 && b.MaxLength == nil
	}
	return true
}

func boundsOf(need *schemas.Need) bounds {
	var bound bounds
	if len(need.Schema) == 0 || schemas.Unmarshal(need.Schema, &bound) != nil {
		return bounds{Type: jsontext.Value(`"string"`)}
	}
	return bound
}

func (b *bounds) number() bool { return string(b.Type) == `"integer"` || string(b.Type) == `"number"` }

// found reports whether a value can be told among others that are asked for at the same time: the only number, what is chosen, a day.
func (b *bounds) found(needs []schemas.Need) bool {
	if !b.number() {
		return len(b.Enum) > 0 || b.Format == "date"
	}
	numbers := 0
	for i := range needs {
		if other := boundsOf(&needs[i]); other.number() {
			numbers++
		}
	}
	return numbers == 1
}

// rulesFor are the rules by which words are read for needs that nothing but their schema says anything of.
func rulesFor(needs []schemas.Need) []arguments.Rule {
	var rules []arguments.Rule
	for i := range needs {
		bound := boundsOf(&needs[i])
		read := len(bound.Enum) > 0 || slices.Contains([]string{"date", "time", "email"}, bound.Format) // without a rule
		switch {
		case bound.none() || read:
		case bound.number() && bound.found(needs):
			rules = append(rules, arguments.Rule{Path: needs[i].Name, Find: arguments.KindNumber})
		case !bound.number() && len(needs) == 1:
			rules = append(rules, arguments.Rule{Path: needs[i].Name, Words: true})
		}
	}
	return rules
}

// tellUnfit tells a person that their words are not what is needed, and what is.
func tellUnfit(v *View, bound *bounds, words string) string {
	const most = 60 // bytes of words that are repeated
	texts := v.texts()
	var lines []string
	if words = strings.TrimSpace(words); words != "" && len(words) <= most && !strings.Contains(words, "\n") {
		lines = append(lines, strings.ReplaceAll(texts.Unfit, "{said}", words))
	}
	var choices []string
	for _, choice := range bound.Enum {
		if text, is := scalar(choice); is {
			choices = append(choices, text)
		}
	}
	kind := string(bound.Type)
	if kind == `"boolean"` && texts.Yes != "" {
		choices = []string{texts.Yes, texts.No}
	}
	switch {
	case len(choices) > 0:
		lines = append(lines, strings.ReplaceAll(texts.OneOf, "{choices}", truncate(strings.Join(choices, ", "), maxFeedback)))
	case kind == `"integer"` || kind == `"number"`:
		lines = append(lines, texts.Number)
	case bound.Format == "date":
		lines = append(lines, texts.Date)
	}
	if len(bound.Minimum) > 0 {
		lines = append(lines, strings.ReplaceAll(texts.AtLeast, "{bound}", string(bound.Minimum)))
	}
	if len(bound.Maximum) > 0 {
		lines = append(lines, strings.ReplaceAll(texts.AtMost, "{bound}", string(bound.Maximum)))
	}
	return strings.TrimSpace(strings.Join(lines, " "))
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
