package script

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"podium/agents/scripted"
	"podium/bus/agent"
	"podium/cmd/podium/config/beside"
	"podium/cmd/podium/config/keyword"
	"podium/cmd/podium/config/strictyaml"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
	"podium/schemas/validation"
	"podium/supervisor/route"
)

// A reader makes cases ready and notes what is wrong with them.
type reader struct {
	name     string
	places   map[string]strictyaml.Place
	problems diagnostic.Problems

	folder fs.FS
	room   int64 // for files, in bytes
}

// problem names the value at a path, or the section around one that was left out.
func (r *reader) problem(path, format string, args ...any) {
	at := strictyaml.At(r.places, path)
	r.problems = append(r.problems, &diagnostic.Problem{File: r.name, Line: at.Line, Column: at.Column, Path: path, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) read(at string, written *Case) scripted.Case {
	made := scripted.Case{Kind: written.Kind, Arguments: written.Arguments, Values: written.Values, Attempt: written.Attempt, Answer: scripted.Answer{
		Place: at, Delay: time.Duration(written.Delay), Acts: written.Acts, Fails: written.Fail, Made: written.outcome(),
	}}
	r.object(at+".arguments", written.Arguments)
	r.object(at+".answer_values", written.Values)
	if len(written.Match) > 0 {
		made.Words = r.words(at+".match", written.Match)
	}
	if len(written.Answer) > 0 {
		made.Answered = r.words(at+".answer", written.Answer)
	}
	if written.Text != "" {
		parsed, err := scripted.ParseTemplate(written.Text)
		if err != nil {
			r.problem(at+".text", "%v", err)
		}
		made.Text = parsed
	}
	r.mediaType(at, written.MediaType)
	r.sound(at, written)
	for i, need := range written.Needs {
		r.need(fmt.Sprintf("%s.needs[%d]", at, i), &need)
	}
	for i, file := range written.Deliverables {
		made.Files = append(made.Files, r.file(fmt.Sprintf("%s.deliverables[%d]", at, i), &file))
	}
	return made
}

// reachable names cases that come too late: one before them fits all that they are for.
func (r *reader) reachable(cases []Case) {
	taken := map[schemas.RequestKind]int{}
	for i := range cases {
		kind := cmp.Or(cases[i].Kind, schemas.KindWork)
		if before, found := taken[kind]; found {
			r.problem(fmt.Sprintf("cases[%d]", i), "no request gets here: cases[%d] fits every one of kind %s; put that one last", before, kind)
		} else if !cases[i].conditional() {
			taken[kind] = i
		}
	}
}

// conditional reports whether a case is for less than all requests of its kind.
func (c *Case) conditional() bool {
	return len(c.Match) > 0 || len(c.Arguments) > 0 || len(c.Answer) > 0 || len(c.Values) > 0 || c.Attempt != 0
}

// words makes the keywords of a case ready.
func (r *reader) words(at string, written []keyword.Keyword) func(string) bool {
	before := len(r.problems)
	keyword.Check(at, written, r.problem)
	if slices.ContainsFunc(written, func(word keyword.Keyword) bool { return word.Shared }) {
		r.problem(at, "shared means nothing here: the first case that fits counts")
	}
	if len(r.problems) > before {
		return nil
	}
	ready, err := route.CompileKeywords(keyword.Build(keyword.Default(written, schemas.ModeWord)))
	if err != nil {
		r.problem(at, "%s", strings.TrimPrefix(err.Error(), "compile keywords: "))
		return nil
	}
	return ready.Hit
}

// sound checks what keys of a case mean for each other.
func (r *reader) sound(at string, c *Case) {
	result := c.Text != "" || len(c.Data) > 0 || len(c.Deliverables) > 0
	blocked := len(c.Needs) > 0 || c.Operation != nil
	for _, fault := range [...]struct {
		holds bool
		says  string
	}{
		{c.Fail != "" && (c.Status != "" || len(c.Data) > 0 || c.MediaType != "" || blocked), "with fail there is no status, data, media_type, needs and operation"},
		{c.Fail == scripted.FailsUnknown && !c.Acts, "fail: unknown is for a case that acts: write acts: true"},
		{c.Acts && !c.Kind.IsWork(), "only work may act"},
		{c.Status == schemas.StatusPartial && !result, "status: partial needs text, data or deliverables"},
		{c.Status == schemas.StatusFailed && len(c.Issues) == 0, "status: failed needs issues; with fail it needs none"},
		{c.Status == schemas.StatusBlocked && !blocked && len(c.Issues) == 0, "status: blocked needs needs, issues or an operation"},
		{c.Fail == "" && c.Status != schemas.StatusBlocked && blocked, "needs and operation go with status: blocked"},
		{len(c.Needs) > schemas.MaxNeeds, fmt.Sprintf("there may be %d needs", schemas.MaxNeeds)},
	} {
		if fault.holds {
			r.problem(at, "%s", fault.says)
		}
	}
	if c.Operation != nil {
		r.named(at+".operation.name", c.Operation.Name)
		r.object(at+".operation.arguments", c.Operation.Arguments)
	}
}

// languageTag is what the tag of CaseNeed.Question has for the schema.
var languageTag = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

func (r *reader) need(at string, need *CaseNeed) {
	r.named(at+".name", need.Name)
	for _, tag := range slices.Sorted(maps.Keys(need.Question)) {
		if !languageTag.MatchString(tag) {
			r.problem(at+".question."+tag, "%q is no language tag such as de or en", tag)
		}
	}
	if len(need.Schema) > 0 {
		if _, err := validation.Compile(need.Schema); err != nil {
			r.problem(at+".schema", "%v", err)
		}
	}
}

// named checks a name as messages have it.
func (r *reader) named(at, name string) {
	if name == "" || len([]rune(name)) > 256 {
		r.problem(at, "a name has 1 to 256 characters")
	}
}

func (r *reader) object(at string, value []byte) {
	if len(value) > 0 && value[0] != '{' {
		r.problem(at, "expected a section of keys and values")
	}
}

func (r *reader) mediaType(at, mediaType string) {
	if mediaType == "" {
		return
	}
	if kind, _, err := mime.ParseMediaType(mediaType); err != nil || !strings.Contains(kind, "/") {
		r.problem(at+".media_type", "it is no media type such as text/csv")
	}
}

// file reads a file that comes with an answer.
func (r *reader) file(at string, written *CaseFile) scripted.File {
	r.mediaType(at, written.MediaType)
	name := path.Clean(filepath.ToSlash(written.File))
	shown := cmp.Or(written.Name, path.Base(name))
	made := scripted.File{MediaType: cmp.Or(written.MediaType, agent.MediaTypeOf(shown)), About: schemas.Deliverable{
		Type: written.Type, Path: shown, Description: written.Description, ValidationStatus: written.ValidationStatus,
	}}
	if !fs.ValidPath(name) || name == "." {
		r.problem(at+".file", "it is no file beside the script")
		return made
	}
	content, err := beside.Read(r.folder, name, min(maxFile, r.room))
	if err != nil {
		r.problem(at+".file", "it cannot be read: %v", err)
		return made
	}
	made.Content, r.room = content, r.room-int64(len(content))
	return made
}

// outcome is what a case says but for its words and its files.
func (c *Case) outcome() agent.Outcome {
	made := agent.Outcome{
		Status: c.Status, Result: schemas.Result{Data: c.Data, MediaType: c.MediaType},
		Findings: schemas.Findings{Recommendations: c.Recommendations, Issues: each(c.Issues, (*CaseIssue).build), ValidationResults: each(c.ValidationResults, (*CaseValidation).build)},
		Needs:    each(c.Needs, (*CaseNeed).build),
	}
	if c.Operation != nil {
		operation := schemas.Operation(*c.Operation)
		made.Operation = &operation
	}
	if c.Usage != nil {
		made.Usage = &schemas.ResourceUsage{TokensUsed: &c.Usage.Tokens, TimeElapsedSeconds: c.Usage.Seconds}
	}
	return made
}

func (n *CaseNeed) build() schemas.Need {
	return schemas.Need{Name: n.Name, Question: n.Question, Schema: n.Schema, From: n.From}
}

func (i *CaseIssue) build() schemas.Issue {
	return schemas.Issue{Severity: i.Severity, Description: i.Description, Resolution: i.Resolution, ResolutionDetails: i.Details, Category: i.Category}
}

func (v *CaseValidation) build() schemas.ValidationResult {
	return schemas.ValidationResult{Validator: v.Validator, Status: v.Status, Details: v.Details, Issues: each(v.Issues, (*CaseFinding).build)}
}

func (f *CaseFinding) build() schemas.ValidationIssue { return schemas.ValidationIssue(*f) }

// each returns what is built of every entry, and nil of none.
func each[From, To any](entries []From, build func(*From) To) (built []To) {
	for i := range entries {
		built = append(built, build(&entries[i]))
	}
	return built
}
