package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"podium/bus/artifact"
	"podium/schemas"
)

// The names of the agents: two look, and one merges and tells.
const (
	critic = "critic"
	linter = "linter"
	editor = "editor"
)

// reviewers are what a world has whose profiles look at what was made; nil is a world without.
type reviewers struct {
	rand   *rand.Rand
	grants *artifact.Grants
	made   int // answers
}

// newReviewers returns those of the world of a seed. Files are put by grants.
func newReviewers(seed uint64, grants *artifact.Grants) *reviewers {
	return &reviewers{rand: source(seed, reviewStream), grants: grants}
}

// declare says in profiles who looks at what, how often, and what becomes of what is not right.
func (v *reviewers) declare(sources []schemas.Profile) {
	if v == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		p.Languages = slices.Clone(p.Languages)
		for n := range p.Languages {
			p.Languages[n].Texts.ReviewFailed = "It is not right: {detail}"
		}
		if once(v.rand, 3) {
			p.Summary = pick(v.rand, &schemas.Summary{Agent: editor}, &schemas.Summary{Template: "{{len .tasks}} of {{len .steps}}"}, &schemas.Summary{Agent: editor, Template: "{{range .tasks}}{{.task}} {{end}}"})
		}
		if once(v.rand, 8) {
			continue
		}
		if p.Replan == nil && !once(v.rand, 4) {
			p.Execution.Mode = schemas.ExecutionDAG
		}
		if p.Execution.Steps == 0 {
			p.Execution.Steps = pick(v.rand, 0, 0, 5, 8, 12)
		}
		p.Review = &schemas.Review{
			When: pick(v.rand, "", "", "", schemas.ReviewComplex), Rounds: v.rand.IntN(4), Merge: pick(v.rand, "", editor, editor, editor),
			Agree: pick(v.rand, nil, nil, []string{"port"}), OnFailed: pick(v.rand, "", schemas.ReviewFails, schemas.ReviewPartial, schemas.ReviewPartial),
		}
		if !once(v.rand, 4) {
			p.Review.Checks = append(p.Review.Checks, schemas.Check{Agent: critic})
		}
		if once(v.rand, 2) {
			p.Review.Checks = append(p.Review.Checks, schemas.Check{Agent: linter, For: pick(v.rand, nil, []string{"frontend"}, []string{"frontend", "backend"})})
		}
	}
}

// promise has the tasks of plans promise files, name those that they are to change, and say what their project is.
func (v *reviewers) promise(tasks []schemas.Task) []schemas.Task {
	if v == nil {
		return tasks
	}
	for i := range tasks {
		switch v.rand.IntN(8) {
		case 0:
			tasks[i].Deliverables = []string{pick(v.rand, paths[:]...)}
		case 1:
			tasks[i].Deliverables = []string{pick(v.rand, "p.ts", "report", "nothing of the kind")}
		case 2:
			tasks[i].Context.FilesToModify = []string{pick(v.rand, paths[:]...)}
		case 3:
			tasks[i].Context.Constraints = []byte(pick(v.rand, `{"project_type":"frontend"}`, `{"project_type":"backend"}`, `{"project_type":7}`))
		}
	}
	return tasks
}

var paths = [...]string{"src/p.ts", "src/q.ts", "doc.md"} //nolint:gochecknoglobals // a constant

// written is a path in one of the ways in which agents write it.
func (v *reviewers) written(path string) string {
	return pick(v.rand, path, path, path, "./"+path, strings.ReplaceAll(path, "/", `\`))
}

// file is what a deliverable says of its file, which its agent has put; now and then it says what it has made that from.
func (v *reviewers) file(agent, path string) []byte {
	hash := func(n int) string { return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", path, n))) }
	made, base := hash(v.rand.IntN(4)), pick(v.rand, "", "", fmt.Sprintf(`,"base":%q`, hash(9)), `,"base":"?"`)
	grant := v.grants.Put(agent, made)
	if once(v.rand, 16) {
		grant = v.grants.Put("somebody", made) // of which it only knows
	}
	return fmt.Appendf(nil, `{"sha256":%q,"size":1,"grant":%q%s}`, made, grant, base)
}

// deliver has work make files, of which others make versions as well.
func (v *reviewers) deliver(agent, task string) []schemas.Deliverable {
	if v == nil || once(v.rand, 4) {
		return nil
	}
	var made []schemas.Deliverable
	for range 1 + v.rand.IntN(2) {
		path := pick(v.rand, paths[0], paths[0], paths[1], paths[2])
		file := schemas.Deliverable{DeliverableID: task + " " + path, Type: schemas.DeliverableCode, Path: v.written(path)}
		if !once(v.rand, 12) { // else nobody knows what it is
			file.Metadata = v.file(agent, path)
		}
		made = append(made, file)
	}
	const more = 70 // than there is room for
	for many := once(v.rand, 40); many && len(made) < more; {
		made = append(made, schemas.Deliverable{DeliverableID: strconv.Itoa(len(made)), Type: schemas.DeliverableReport})
	}
	return made
}

// says has some results say what others may say otherwise.
func (v *reviewers) says(data []byte) []byte {
	if v == nil || !once(v.rand, 3) {
		return data
	}
	return fmt.Appendf(data[:len(data)-1], `,"port":%s}`, pick(v.rand, "80", "80", "80", "81", "8.0e1"))
}

// errNothing is why a question is not one that can be put.
var errNothing = errors.New("there is nothing to look at, or to merge")

// answer is what whoever looks, merges or tells answers to a question; nil is that it is another judge's. The error is
// that there is nothing to be asked.
func (v *reviewers) answer(agent string, asked *schemas.Task) (*schemas.ResponsePayload, error) {
	if v == nil {
		return nil, nil
	}
	payload := &schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{}}
	v.made++
	switch occasionOf(asked.TaskID) {
	case schemas.OccasionReview:
		return payload, v.look(agent, asked.Context.Arguments, payload)
	case schemas.OccasionMerge:
		return payload, v.merge(agent, asked.Context.Arguments, payload)
	case schemas.OccasionSummary:
		said := fmt.Sprintf("in short, no %d", v.made)
		payload.Result = pick(v.rand, &schemas.Result{Data: fmt.Appendf(nil, `{"response":%q}`, said)}, &schemas.Result{Text: said}, v.nonsense())
		return payload, nil
	case schemas.OccasionStep, schemas.OccasionFailure, schemas.OccasionPerson, schemas.OccasionFix:
	}
	return nil, nil
}

// A shownTask is a task of the run as whoever looks at it is told it.
type shownTask struct {
	Task string `json:"task"`
}

// look is what a check finds: nothing, errors in files, what it names nobody for, tasks that are to be done, or nothing of use.
func (v *reviewers) look(agent string, arguments []byte, payload *schemas.ResponsePayload) error {
	var told struct {
		Round        int                   `json:"round"`
		Tasks        []shownTask           `json:"tasks"`
		Deliverables []schemas.Deliverable `json:"deliverables"`
	}
	if err := schemas.Unmarshal(arguments, &told); err != nil {
		return err
	}
	if told.Round < 1 || len(told.Tasks) == 0 {
		return errNothing
	}
	found := schemas.ValidationResult{Validator: agent, Status: schemas.ValidationPassed}
	issue := func(severity string) {
		files := []string{"", "somewhere else.md", paths[0], "p.ts"}
		for i := range told.Deliverables {
			files = append(files, told.Deliverables[i].Path)
		}
		found.Issues = append(found.Issues, schemas.ValidationIssue{Severity: severity, Message: fmt.Sprintf("wrong, no %d", v.made), File: pick(v.rand, files...), Line: v.rand.IntN(3)})
	}
	switch v.rand.IntN(16) {
	case 0, 1, 2, 3, 4, 5:
	case 6, 7, 8, 9:
		found.Status = schemas.ValidationFailed
		for range 1 + v.rand.IntN(3) {
			issue(pick(v.rand, schemas.ValidationError, schemas.ValidationError, schemas.ValidationWarning, "info", "bad"))
		}
	case 10:
		found.Status, found.Details = schemas.ValidationFailed, pick(v.rand, "", "it is bad")
	case 11:
		issue(schemas.ValidationWarning)
	case 12: // it passes, and finds an error
		issue(schemas.ValidationError)
	case 13: // what is to be done instead
		v.wants(told.Tasks, payload)
		return nil
	case 14:
		payload.Result = v.nonsense()
		return nil
	case 15:
		found.Status = "fine"
	}
	v.reports(&found, payload)
	return nil
}

// reports says what was found, in one of the ways in which checks do.
func (v *reviewers) reports(found *schemas.ValidationResult, payload *schemas.ResponsePayload) {
	body, err := schemas.Marshal(map[string]any{"validation_results": []schemas.ValidationResult{*found}})
	if err != nil {
		panic(err) // what was found can be written
	}
	unknown := func(issue schemas.ValidationIssue) bool { return issue.Severity == "bad" }
	switch way := v.rand.IntN(4); { // what no schema allows stands in no member that has one
	case way == 0:
		payload.Result.Data = body
	case way == 1 || found.Status == "fine" || slices.ContainsFunc(found.Issues, unknown):
		payload.Result.Text = "So:\n```json\n" + string(body) + "\n```\n"
	default:
		payload.ValidationResults = []schemas.ValidationResult{*found}
		payload.Result.Text = "see the results"
	}
}

// wants has a check say what is to be done: new tasks, steps, what there is, or what cannot be.
func (v *reviewers) wants(told []shownTask, payload *schemas.ResponsePayload) {
	switch v.rand.IntN(4) {
	case 0:
		payload.Result.Data = []byte(`{"steps":["look at alpha once more"]}`)
	case 1:
		payload.Result.Data = fmt.Appendf(nil, `{"tasks":[{"task_id":"a","description":"alpha","dependencies":[%q]}]}`, pick(v.rand, "nothing", "a", "check:critic:1"))
	default:
		before := pick(v.rand, told...).Task
		payload.Result.Data = fmt.Appendf(nil, `{"tasks":[{"task_id":"new","description":"beta again %d","assigned_to":"beta","dependencies":[%q]}]}`, v.rand.IntN(2), before)
	}
}

// merge is what becomes of several versions: one file for each path, or not for each, or nothing.
func (v *reviewers) merge(agent string, arguments []byte, payload *schemas.ResponsePayload) error {
	var told struct {
		Merges []shownMerge `json:"merges"`
	}
	if err := schemas.Unmarshal(arguments, &told); err != nil {
		return err
	}
	if len(told.Merges) == 0 {
		return errNothing
	}
	payload.Result.Text = "merged"
	leaves := -1
	switch v.rand.IntN(8) {
	case 0:
		payload.Result = v.nonsense()
		return nil
	case 1:
		leaves = v.rand.IntN(len(told.Merges))
	}
	for i := range told.Merges {
		path := told.Merges[i].Path
		made := schemas.Deliverable{DeliverableID: path, Type: schemas.DeliverableCode, Path: v.written(path), Metadata: v.file(agent, path)}
		if once(v.rand, 24) {
			made.Metadata = nil
		}
		if i != leaves {
			payload.Deliverables = append(payload.Deliverables, made)
		}
	}
	return nil
}

// A shownMerge is a path of which there are several versions as whoever merges them is told it.
type shownMerge struct {
	Path     string                `json:"path"`
	Base     string                `json:"base"`
	Versions []schemas.Deliverable `json:"versions"`
}

// nonsense is what is of no use as a judgement of any kind.
func (v *reviewers) nonsense() *schemas.Result {
	return pick(v.rand, nil, &schemas.Result{Data: []byte(`{"steps":[7]}`)}, &schemas.Result{Data: []byte(`[]`)}, &schemas.Result{Text: ` `}, &schemas.Result{Data: []byte(`{"response":"fine"}`)})
}

// occasionOf is what an evaluator is asked for by a question of that id; empty when it is none.
func occasionOf(id string) schemas.Occasion {
	if strings.HasPrefix(id, "check:") {
		return schemas.OccasionReview
	}
	rest, is := strings.CutPrefix(id, "judge:")
	if occasion, _, _ := strings.Cut(rest, ":"); is {
		return schemas.Occasion(occasion)
	}
	return ""
}
