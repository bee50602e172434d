package planfile_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/diagnostic"
	"podium/cmd/podium/planfile"
	"podium/schemas"
	"podium/supervisor/plan"
)

// foreign are words of a parser or of Go, which say nothing to whoever has written a plan.
var foreign = regexp.MustCompile(`schemas\.|jsontext|\bjson: |[Uu]nmarshal|invalid character|strconv|\bGo\b|\[\]string|\*\w|0x|%!`)

func task(more string) string {
	return `{"tasks": [{"task_id": "a", "description": "d", "assigned_to": "echo"` + more + `}]}`
}

// two are tasks a and b with these dependencies.
func two(a, b string) string {
	return `{"tasks": [{"task_id": "a", "description": "d", "assigned_to": "echo", "dependencies": [` + a + `]},` + "\n" +
		`{"task_id": "b", "description": "d", "assigned_to": "echo", "dependencies": [` + b + `]}]}`
}

// TestFaults: every fault of a plan is told by its place and in words.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":            {"", []string{"plan.json:1:1: it is empty"}},
		"words":              {"echo hello", []string{"plan.json:1:1: it is not JSON from here on; look for"}},
		"behind a letter":    {"{\"tasks\": [\n  {\"task_id\": \"ä\" x}]}", []string{"plan.json:2:19: it is not JSON from here on"}},
		"no end":             {`{"tasks": [`, []string{"it ends too early; a bracket, brace or quote is not closed"}},
		"no end of a text":   {`{"tasks": ["`, []string{"it ends too early"}},
		"two plans":          {task("") + task(""), []string{"plan.json:1:73: something stands behind the end of the plan"}},
		"a comma too many":   {`{"tasks": [],}`, []string{"it is not JSON from here on"}},
		"not UTF-8":          {"{\"tasks\": \"\xff\"}", []string{"save it as UTF-8"}},
		"half a surrogate":   {task(`, "priority": "\ud800"`), []string{"it is not JSON from here on"}},
		"too deep":           {strings.Repeat("[", 2000), []string{"it is nested too deep"}},
		"a list":             {"[]", []string{`an object is expected, and this is a list (a plan: {"tasks": […]}`}},
		"nothing in it":      {"{}", []string{`"tasks" is missing`}},
		"no task":            {`{"tasks": []}`, []string{"plan.json:1:11: tasks: the list is empty"}},
		"one task":           {`{"tasks": {}}`, []string{"tasks: a list of objects is expected, and this is an object (The work, at least one task)"}},
		"null":               {`{"tasks": null}`, []string{"tasks: it has no value"}},
		"tasks twice":        {strings.Replace(task(""), "{", `{"risks": [], "risks": [], `, 1), []string{"plan.json:1:15: risks: the key is there twice"}},
		"tasks of an id":     {`{"tasks": [7]}`, []string{"tasks[0]: an object is expected, and this is a number"}},
		"number for a text":  {strings.Replace(task(""), `"a"`, "7", 1), []string{"plan.json:1:24: tasks[0].task_id: a text is expected, and this is a number (Unique in the request)"}},
		"empty id":           {strings.Replace(task(""), `"a"`, `""`, 1), []string{"tasks[0].task_id: the text is empty"}},
		"long id":            {strings.Replace(task(""), `"a"`, `"`+strings.Repeat("x", 300)+`"`, 1), []string{"tasks[0].task_id: the text has 300 characters; at most 256 are allowed"}},
		"id of a run":        {strings.Replace(task(""), `"a"`, `"reply"`, 1), []string{"tasks[0]: The id of the task “reply” is reserved."}},
		"text for a list":    {task(`, "dependencies": "b"`), []string{"tasks[0].dependencies: a list of texts is expected, and this is a text (task_ids whose results this task needs)"}},
		"number in a list":   {task(`, "dependencies": [1]`), []string{"tasks[0].dependencies[0]: a text is expected, and this is a number"}},
		"fraction":           {task(`, "estimated_tokens": 1.5`), []string{"tasks[0].estimated_tokens: a whole number is expected, and this is 1.5"}},
		"exponent":           {task(`, "estimated_tokens": 1e3`), []string{"a whole number is expected, and this is 1e3"}},
		"number as a text":   {task(`, "estimated_time_seconds": "30s"`), []string{"tasks[0].estimated_time_seconds: a whole number is expected, and this is a text (Seconds that the work may take; 0 is unknown)"}},
		"negative":           {task(`, "estimated_tokens": -1`), []string{"-1 is not between 0 and 9007199254740991"}},
		"number of 30 digit": {task(`, "estimated_tokens": 999999999999999999999999999999`), []string{"999999999999999999999999999999 is not between 0 and"}},
		"switch":             {task(`, "optional": "yes"`), []string{"tasks[0].optional: true or false is expected, and this is a text"}},
		"priority":           {task(`, "priority": "hihg"`), []string{`tasks[0].priority: "hihg" is not a value that it can have; did you mean "high"?`}},
		"agent":              {strings.Replace(task(""), "echo", "Echo!", 1), []string{`tasks[0].assigned_to: "Echo!" is not the name of an agent`}},
		"missing keys":       {`{"tasks": [{}]}`, []string{`tasks[0]: "task_id" is missing (Unique in the request)`, `tasks[0]: "description" is missing`, `tasks[0]: "assigned_to" is missing`}},
		"unknown keys": {task(`, "dependenciez": [], "context": {"argumnets": {}}`), []string{
			`plan.json:1:72: tasks[0]: unknown key "dependenciez"; did you mean "dependencies"?`,
			`tasks[0].context: unknown key "argumnets"; did you mean "arguments"?`,
		}},
		"depends_on":             {task(`, "depends_on": ["b"]`), []string{`tasks[0]: unknown key "depends_on"; it can be: assigned_to, context,`}},
		"unknown key of a plan":  {`{"task": []}`, []string{`unknown key "task"; did you mean "tasks"?`, `"tasks" is missing`}},
		"key twice, far inside":  {task(`, "context": {"arguments": {"x": [{"y": 1, "y": 2}]}}`), []string{"tasks[0].context.arguments.x[0].y: the key is there twice"}},
		"arguments are a list":   {task(`, "context": {"arguments": []}`), []string{"tasks[0].context.arguments: an object is expected, and this is a list"}},
		"an id twice":            {strings.Replace(two("", ""), `"b"`, `"a"`, 1), []string{`plan.json:2:13: tasks[1].task_id: "a" is the id of tasks[0] already`}},
		"depends on nothing":     {two(`"reserch"`, ""), []string{`plan.json:1:89: tasks[0].dependencies[0]: there is no task "reserch"`}},
		"depends on a near miss": {strings.ReplaceAll(two("", `"reserch"`), `"a"`, `"research"`), []string{`there is no task "reserch"; did you mean "research"?`}},
		"depends twice":          {two("", `"a", "a"`), []string{`tasks[1].dependencies[1]: "a" is there twice`}},
		"depends on itself":      {two(`"a"`, ""), []string{`tasks[0].dependencies: tasks depend on each other in a circle, so that none of them could begin: "a" → "a"`}},
		"circle":                 {two(`"b"`, `"a"`), []string{`in a circle, so that none of them could begin: "a" → "b" → "a"`}},
		"assignments":            {strings.Replace(task(""), "{", `{"agent_assignments": {"echo": ["z"]}, `, 1), []string{"agent_assignments.echo[0]: it"}},
		"a question":             {task(`, "context": {"kind": "assess"}`), []string{`plan.json:1:92: tasks[0].context.kind: "assess" is a question; a supervisor is asked for work alone`}},
		"estimate of a year":     {task(`, "estimated_time_seconds": 31536000`), []string{"tasks[0]: The estimate of the task “a”, 31536000 seconds, is not between 0 and 864000."}},
		"whole, type":            {`{"type": "execution_requst", "payload": ` + task("") + `}`, []string{`type: "execution_requst" is not a value that it can have; did you mean "execution_request"?`}},
		"whole, id and time":     {`{"message_id": "7", "timestamp": "today", "payload": ` + task("") + `}`, []string{"message_id: it is not a UUID such as", "timestamp: it is not a time such as 2026-01-31T12:00:00Z"}},
		"whole, no payload":      {`{"from": "me"}`, []string{`"payload" is missing`}},
		"whole, tasks beside":    {`{"from": "me", "tasks": []}`, []string{`plan.json:1:25: "tasks" stands in "payload" when there is an envelope`}},
		"whole, tasks twice":     {`{"payload": ` + task("") + `, "tasks": []}`, []string{`unknown key "tasks"`}},
		"whole, a key of tasks":  {`{"payload": ` + task(`, "when": 1`) + `}`, []string{`payload.tasks[0]: unknown key "when"`}},
	} {
		_, err := planfile.Read([]byte(c.text), "plan.json")
		problems := diagnostic.ProblemsOf(err)
		if len(problems) == 0 {
			t.Errorf("%s: the error is %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not said, but\n%v", name, want, err)
			}
		}
		if len(problems) != len(c.want) {
			t.Errorf("%s: %d problems, want %d:\n%v", name, len(problems), len(c.want), err)
		}
		if found := foreign.FindString(err.Error()); found != "" {
			t.Errorf("%s: %q says nothing to a person: %v", name, found, err)
		}
	}
}

// TestRight: what may stand in a plan, and what is made of it.
func TestRight(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../../deploy/examples/graph/plan.json")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("../../../schemas/testdata/execution_request/valid/documented.json")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	ids := func() string { return "7d444840-9dc0-11d1-b245-5ffdce74fad2" }
	for name, text := range map[string]string{
		"the example": string(example), "a whole message": string(golden), "least": task(""), "with a byte order mark": "\ufeff" + task(""),
		"anything in arguments": task(`, "context": {"arguments": {"a": null, "b": [1.5, {"c": true}]}, "entities": {"any name": "x"}}`),
		"a payload":             strings.Replace(task(""), "{", `{"validation_criteria": ["v"], "agent_assignments": {"echo": ["a"]}, "risks": [{"risk_id": "r", "description": "d"}], `, 1),
		"part of an envelope":   `{"from": "me", "payload": ` + task("") + `}`,
	} {
		read, err := planfile.Read([]byte(text), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		request := read.Request("command-line", now, ids)
		body, err := schemas.Marshal(request)
		if err == nil {
			err = schemas.Validate(schemas.EnvelopeTypeExecutionRequest, body)
		}
		if err != nil || request.To != "supervisor" || request.From == "" {
			t.Errorf("%s: %v, %+v", name, err, request.Envelope)
		}
	}
	read, err := planfile.Read(golden, "golden")
	if err != nil {
		t.Fatal(err)
	}
	var whole schemas.ExecutionRequest
	if err = schemas.Unmarshal(golden, &whole); err != nil {
		t.Fatal(err)
	}
	if request := read.Request("command-line", now, ids); request.MessageID != whole.MessageID || request.From != whole.From ||
		!request.Timestamp.Equal(whole.Timestamp) || request.Payload.PlanID != whole.Payload.PlanID || request.Payload.RequestID != whole.Payload.RequestID {
		t.Errorf("of the message's own envelope is left %+v", request)
	}
}

// TestProfile: what only a profile can say of a plan.
func TestProfile(t *testing.T) {
	t.Parallel()
	profile := &plan.Profile{Profile: schemas.Profile{
		Name: "desk", Agents: []schemas.AgentUse{{Name: "echo"}, {Name: "calculator"}}, Planner: &schemas.Planner{MaxTasks: 1, MaxTokens: 10},
	}}
	for text, want := range map[string]string{
		task(""): "",
		strings.Replace(task(`, "estimated_tokens": 1000`), "echo", "supervisor", 1): "", // words, of which it makes the tasks
		strings.Replace(task(""), "echo", "calculatr", 1):                            `plan.json:1:64: tasks[0].assigned_to: "calculatr" is not one of the agents of profile "desk"; did you mean "calculator"?`,
		two("", ""):                        "plan.json:1:11: tasks: The plan has 2 tasks, and at most 1 are allowed.",
		task(`, "estimated_tokens": 1000`): "tasks: The tasks need an estimated 1000 tokens, and at most 10 are allowed.",
	} {
		read, err := planfile.Read([]byte(text), "plan.json")
		if err != nil {
			t.Fatal(err)
		}
		if err = read.Check(profile); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzRead: whatever a file holds, it is read or refused in words of people; what is
// read can be sent.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{task(""), two(`"b"`, `"a"`), `{"payload": ` + task("") + `}`, `{"tasks": [{}, []]}`, "[", `{"a": {"a": 1, "a": 2}}`, "\ufeff{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		read, err := planfile.Read(body, "plan.json")
		var problems diagnostic.Problems
		if err != nil && (!errors.As(err, &problems) || len(problems) == 0) {
			t.Fatalf("%q: %v", body, err)
		}
		for _, problem := range problems {
			if problem.Line < 1 || problem.Column < 1 || problem.Message == "it cannot be read as a plan" {
				t.Errorf("%q: %v", body, problem)
			}
		}
		if err != nil {
			return
		}
		message, err := schemas.Marshal(read.Request("me", time.Unix(0, 0).UTC(), func() string { return "7d444840-9dc0-11d1-b245-5ffdce74fad2" }))
		if err == nil {
			err = schemas.Validate(schemas.EnvelopeTypeExecutionRequest, message)
		}
		if err != nil {
			t.Errorf("%q: %v", body, err)
		}
	})
}
