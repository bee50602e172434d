package review_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/review"
	"podium/supervisor/say"
)

// made is a deliverable of a path, whose hash is 64 times a letter; a dot is an unknown one, and what follows a slash what it was made from.
func made(path, hash string) schemas.Deliverable {
	d := schemas.Deliverable{DeliverableID: path, Type: "code", Path: path}
	hash, base, based := strings.Cut(hash, "/")
	switch {
	case based:
		d.Metadata = jsontext.Value(fmt.Sprintf(`{"sha256":%q,"base":%q}`, strings.Repeat(hash, 64), strings.Repeat(base, 64)))
	case hash != ".":
		d.Metadata = jsontext.Value(fmt.Sprintf(`{"sha256":%q}`, strings.Repeat(hash, 64)))
	}
	return d
}

// run is written as "a:p=1,q=2 b<a:p=3 fix(a)b<a:p=4": completed tasks, what they build on, and the files that they have made.
func run(text string) *workflow.Run {
	r := &workflow.Run{Number: 1}
	for word := range strings.FieldsSeq(text) {
		head, files, _ := strings.Cut(word, ":")
		id, depends, _ := strings.Cut(head, "<")
		task := &workflow.Task{State: workflow.TaskCompleted, Plan: &schemas.PlannedTask{}}
		if root, rest, is := strings.Cut(strings.TrimPrefix(id, "fix("), ")"); is {
			task.Plan.TaskOptions, id = &schemas.TaskOptions{Fixes: root}, rest
		}
		task.ID, task.Plan.Task, task.Agent = id, id, "agent_"+id
		if depends != "" {
			task.Plan.Dependencies = strings.Split(depends, "&")
		}
		if files != "" {
			for file := range strings.SplitSeq(files, ",") {
				path, hash, _ := strings.Cut(file, "=")
				task.Deliverables = append(task.Deliverables, made(path, hash))
			}
		}
		r.Tasks = append(r.Tasks, task)
	}
	return r
}

func merge(r *workflow.Run, planned int, question, path, hash string, of ...string) *workflow.Run {
	r.Merged = append(r.Merged, workflow.Merged{
		MergedFile: schemas.MergedFile{Path: path, Of: of, Agent: "merger", Deliverable: made(path, hash)}, Question: question, Planned: planned,
	})
	return r
}

// TestFiles_M38: of a path those versions stand that no other one builds on, in whatever order they are listed; equal ones are one.
func TestFiles_M38(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run        *workflow.Run
		want, base string
	}{
		"nothing":                             {run("a b"), "", ""},
		"one":                                 {run("a:p=1"), "p: a", ""},
		"one path in several ways":            {run("a:./x//p=1 b<a:x/p=2"), "x/p: b", ""},
		"by Windows":                          {run(`a:x\p=1 b<a:x/p=2`), "x/p: b", ""},
		"one behind the other":                {run("a:p=1 b<a:p=2"), "p: b", ""},
		"the other way round":                 {run("b<a:p=2 a:p=1"), "p: b", ""},
		"behind one that has not made it":     {run("a:p=1 x<a b<x:p=2"), "p: b", ""},
		"beside each other":                   {run("a:p=1 b:p=2"), "p: a b", ""},
		"merged with what is equal":           {merge(run("a:p=1 b:p=1 c:p=2"), 3, "m1", "p", "3", "a", "b", "c"), "p: m1", ""},
		"equal ones":                          {run("a:p=1 b:p=1"), "p: a", ""},
		"two of which nobody knows what":      {run("a:p=. b:p=."), "p: a b", ""},
		"with a base":                         {run("t:p=0 a<t:p=1 b<t:p=2"), "p: a b", "0"},
		"the newest base":                     {run("s:p=9 t<s:p=0 a<t:p=1 b<t:p=2"), "p: a b", "0"},
		"a base that only one builds on":      {run("t:p=0 a<t:p=1 b:p=2"), "p: a b", ""},
		"a base that both say":                {run("a:p=1/7 b:p=2/7"), "p: a b", "7"},
		"bases of which each says another":    {run("a:p=1/7 b:p=2/8"), "p: a b", ""},
		"twice by one task: the last":         {run("a:p=1,p=2"), "p: a", ""},
		"several paths":                       {run("a:q=1,p=2 b:p=2"), "q: a; p: a", ""},
		"merged":                              {merge(run("a:p=1 b:p=2"), 2, "judge:merge:1", "p", "3", "a", "b"), "p: judge:merge:1", ""},
		"mended after the merge":              {merge(run("a:p=1 b:p=2 c<a&b:p=4"), 2, "judge:merge:1", "p", "3", "a", "b"), "p: c", ""},
		"what was planned before knows none":  {merge(run("a:p=1 b:p=2 c<a&b:p=4"), 3, "judge:merge:1", "p", "3", "a", "b"), "p: c judge:merge:1", "2"},
		"only one side was mended after it":   {merge(run("a:p=1 b:p=2 c<a:p=4"), 2, "judge:merge:1", "p", "3", "a", "b"), "p: c judge:merge:1", "1"},
		"merged again":                        {merge(merge(run("a:p=1 b:p=2 c<a:p=4"), 2, "m1", "p", "3", "a", "b"), 3, "m2", "p", "5", "c", "m1"), "p: m2", ""},
		"mended after the second merge":       {merge(merge(run("a:p=1 b:p=2 c<a:p=4 d<c&b:p=6"), 2, "m1", "p", "3", "a", "b"), 3, "m2", "p", "5", "c", "m1"), "p: d", ""},
		"a base that builds on a merge":       {merge(run("a:p=1 b:p=2 t<a&b:p=4 c<t:p=6 d<t:p=7"), 2, "m1", "p", "3", "a", "b"), "p: c d", "4"},
		"a base of a merge and of a task":     {merge(merge(run("a:p=1 b:p=2 t<a&b:p=4 x<a&b:p=5 c<t:p=6"), 2, "m1", "p", "3", "a", "b"), 4, "m2", "p", "7", "t", "x"), "p: c m2", "4"},
		"another path's merge is not its own": {merge(run("a:p=1,q=1 b:p=2,q=2"), 2, "m1", "p", "3", "a", "b"), "p: m1; q: a b", ""},
	} {
		var told, bases []string
		for _, file := range review.Files(c.run) {
			heads := make([]string, len(file.Heads))
			for i := range file.Heads {
				heads[i] = file.Heads[i].Task
			}
			told = append(told, file.Path+": "+strings.Join(heads, " "))
			bases = append(bases, file.Base)
			if file.Conflicts() != (len(heads) > 1) {
				t.Errorf("%s: %s conflicts: %v", name, file.Path, file.Conflicts())
			}
		}
		if got := strings.Join(told, "; "); got != c.want || strings.Join(bases, "") != strings.Repeat(c.base, 64) {
			t.Errorf("%s: got %q from %q, want %q from %q", name, got, bases, c.want, c.base)
		}
	}
	conflict := review.Files(run("a:p=1 b:p=2"))[0]
	if got := conflict.Conflict(); say.Issue(say.English(), &got) != "Conflict in p between [agent_a, agent_b] (tasks a, b)" || !slices.Equal(got.Tasks, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
	failed := run("a:p=1 b:p=2")
	failed.Tasks[1].State = workflow.TaskFailed
	if files := review.Files(failed); len(files) != 1 || files[0].Conflicts() {
		t.Errorf("what has failed has made something: %+v", files)
	}
}

// TestFixes_M42: each root is mended once, by whoever has done it; what mends it builds on what it mends, and on what else is mended that it was built on.
func TestFixes_M42(t *testing.T) {
	t.Parallel()
	everybody := func(*workflow.Task) bool { return true }
	for name, c := range map[string]struct {
		run    *workflow.Run
		issues string // file or @task, a question mark before it for a warning
		want   string
	}{
		"nothing":                   {run("a:p=1"), "", ""},
		"by its file":               {run("a:p=1 b:q=1"), "q", "fix1.b<b"},
		"by the end of its path":    {run("a:src/p=1 b:q=1"), "/home/ci/src/p", "fix1.a<a"},
		"by an end of two":          {run("a:x/p=1 b:y/p=1"), "p", ""},
		"by its task":               {run("a b"), "@b", "fix1.b<b"},
		"twice is once":             {run("a:p=1,q=1 b"), "p q @a", "fix1.a<a"},
		"a warning":                 {run("a:p=1"), "?p", ""},
		"only one has a result":     {run("a"), "", ""},
		"nobody's, of one":          {run("a"), "elsewhere", "fix1.a<a"},
		"nobody's, of two":          {run("a b"), "elsewhere", ""},
		"by the root":               {run("a:p=1 fix(a)fix1.a<a:p=2 b"), "p", "fix2.a<fix1.a"},
		"ids from outside":          {run("fix1.x:p=1 b"), "p", "fix1.fix1.x<fix1.x"},
		"with what it was built on": {run("a:p=1 b<a:q=1"), "q", "fix1.b<b&a"},
		"behind what mends that":    {run("a:p=1 b<a:q=1"), "p q", "fix1.a<a fix1.b<b&fix1.a"},
		"behind what mended that":   {run("a:p=1 b<a:q=1 fix(a)fix1.a<a:p=2"), "q", "fix2.b<b&fix1.a"},
		"a merged file":             {merge(run("a:p=1 b:p=2"), 2, "m1", "p", "3", "a", "b"), "p", "fix1.b<b&a"},
	} {
		var issues []schemas.ReviewIssue
		for word := range strings.FieldsSeq(c.issues) {
			issue := schemas.ReviewIssue{Severity: "error", Message: "so", File: word}
			if rest, warns := strings.CutPrefix(word, "?"); warns {
				issue.Severity, issue.File = "warning", rest
			}
			if task, is := strings.CutPrefix(word, "@"); is {
				issue.File, issue.Task = "", task
			}
			issues = append(issues, issue)
		}
		files := review.Files(c.run)
		review.Assign(c.run, files, issues)
		round := 1
		for _, task := range c.run.Tasks {
			if review.IsFix(task) {
				round = 2
			}
		}
		var told []string
		for _, fix := range review.Fixes(c.run, round, files, issues, everybody) {
			told = append(told, fix.Task+"<"+strings.Join(fix.Dependencies, "&"))
			if root := c.run.Task(fix.Options().Fixes); root == nil || fix.Agent == "" || !fix.Routed {
				t.Errorf("%s: %+v", name, fix)
			}
		}
		if got := strings.Join(told, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	nobody := review.Fixes(run("a:p=1"), 1, nil, []schemas.ReviewIssue{{Severity: "error", Task: "a"}}, func(*workflow.Task) bool { return false })
	if len(nobody) > 0 {
		t.Errorf("nobody mends %+v", nobody)
	}
}

// TestFaults_M39_M48: what was promised is there, by id, path or name, also by what mends it; names have the value that most give them.
func TestFaults_M39_M48(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run     string
		promise string
		data    string // of each task, a bar between; nothing is none
		want    string
	}{
		"nothing promised":          {"a", "", "", ""},
		"missing":                   {"a", "x", "", "a"},
		"by its path":               {"a:src/x=1", "src/x", "", ""},
		"by its name":               {"a:src/x=1", "x", "", ""},
		"by another path":           {"a:src/x=1", "lib/x", "", "a"},
		"by whoever mends it":       {"a fix(a)f:x=1", "x", "", ""},
		"not by others":             {"a b:x=1", "x", "", "a"},
		"they agree":                {"a b", "", `{"n":1,"m":1}|{"n":1.0,"m":2}`, ""},
		"one does not":              {"a b c", "", `{"n":1}|{"n":2}|{"n":2}`, "a"},
		"of as many the first":      {"a b", "", `{"n":{"x":1,"y":2}}|{"n":{"y":3,"x":1}}`, "b"},
		"whoever says nothing":      {"a b", "", `{"n":1}|[1]`, ""},
		"only what stands":          {"a b fix(b)f", "", `{"n":1}|{"n":2}|{"n":1}`, ""},
		"what mends is as wrong":    {"a b fix(b)f", "", `{"n":1}|{"n":1}|{"n":2}`, "b"},
		"in another way of writing": {"a b", "", `{"n":{"x":1,"y":2}}|{"n":{"y":2,"x":1}}`, ""},
	} {
		r := run(c.run)
		if c.promise != "" {
			r.Tasks[0].Plan.TaskOptions = &schemas.TaskOptions{Deliverables: []string{c.promise}}
		}
		said := strings.Split(c.data, "|")
		data := func(task *workflow.Task) jsontext.Value {
			if at := slices.Index(r.Tasks, task); at < len(said) {
				return jsontext.Value(said[at])
			}
			return nil
		}
		var blamed []string
		for _, issue := range review.Faults(r, []string{"n"}, data) {
			blamed = append(blamed, issue.Task)
		}
		if got := strings.Join(blamed, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestResults_M41_M43: a check says what it has found in the documented shape, wherever that stands; it has passed when all say so and nothing is an error.
func TestResults_M41_M43(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value  string
		want   string
		passed bool
	}{
		"none":                  {`{}`, "", false},
		"no object":             {`[1]`, "", false},
		"another status":        {`{"status":"ok"}`, "", false},
		"one":                   {`{"validator":"v","status":"passed"}`, "", true},
		"several":               {`{"validation_results":[{"validator":"v","status":"passed"},{"validator":"w","status":"failed","details":"no"}]}`, "error: no", false},
		"one of them says no":   {`{"validation_results":[{"validator":"v","status":"passed"},{"validator":"w","status":"maybe"}]}`, "", false},
		"passed with an error":  {`{"status":"passed","issues":[{"severity":"error","message":"m","file":"f","line":3}]}`, "f:3: error: m", false},
		"passed with a warning": {`{"status":"passed","issues":[{"severity":"warning","message":"m","file":"f"}]}`, "f: warning: m", true},
		"failed with a warning": {`{"validator":"v","status":"failed","issues":[{"severity":"warning","message":"m"}]}`, "warning: m\nerror: The check v has failed.", false},
		"a severity of its own": {`{"status":"failed","issues":[{"severity":"fatal","message":"m","line":-4}]}`, "error: m", false},
		"failed, and says why":  {`{"status":"failed","issues":[{"severity":"error","message":"m"}]}`, "error: m", false},
	} {
		found, err := review.Results(nil, [][]byte{[]byte(`[]`), []byte(c.value)})
		issues := review.Issues("c", found)
		if got := review.Lines(say.English(), issues); got != c.want || (err == nil && review.Passed(issues)) != c.passed {
			t.Errorf("%s: %q, passed: %v, %v; want %q", name, got, review.Passed(issues), err, c.want)
		}
	}
	said := &schemas.Findings{ValidationResults: []schemas.ValidationResult{{Validator: "v", Status: "passed"}}}
	if found, err := review.Results(said, [][]byte{[]byte(`{"status":"failed"}`)}); err != nil || found[0].Status != "passed" {
		t.Errorf("%+v, %v", found, err)
	}
	var many []schemas.ReviewIssue
	for i := range 200 {
		severity := "warning"
		if i == 199 {
			severity = "error"
		}
		many = append(many, schemas.ReviewIssue{Severity: severity})
	}
	if kept := review.Kept(many); len(kept) != 64 || kept[0].Severity != "error" {
		t.Errorf("%d are kept, %s first", len(kept), kept[0].Severity)
	}
}

// TestToldIsValid: what a check has found stands in a response that its schema accepts, whatever it has written into its data.
func TestToldIsValid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 300)
	found, err := review.Results(nil, [][]byte{[]byte(`{"validation_results":[{"status":"failed","issues":[{"severity":"fatal","message":"m","line":-4},{"severity":"info","message":"n"}]},{"validator":"` + long + `","status":"passed"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	told := review.Told("tsc", found)
	if told[0].Validator != "tsc" || told[0].Issues[0].Severity != schemas.ValidationError || told[0].Issues[1].Severity != "info" || found[0].Issues[0].Severity != "fatal" {
		t.Errorf("%+v of %+v", told, found)
	}
	body, err := schemas.Marshal(schemas.ExecutionResponse{
		Envelope: schemas.Envelope{MessageID: schemas.PlanID("m"), From: "tier", To: "upstream", Type: schemas.EnvelopeTypeExecutionResponse, InReplyTo: schemas.PlanID("r"), Timestamp: time.Unix(1, 0).UTC()},
		Payload:  schemas.ResponsePayload{Status: schemas.StatusCompleted, PlanID: schemas.PlanID("p"), ValidationResults: told},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = schemas.DecodeExecutionResponse(body); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
}

// TestCut: a list that may have been cut is not merged in part.
func TestCut(t *testing.T) {
	t.Parallel()
	r := run("a b")
	r.Tasks[0].Deliverables = slices.Repeat([]schemas.Deliverable{made("p", "1")}, 63)
	r.Tasks[1].Deliverables = slices.Repeat([]schemas.Deliverable{made("p", "1")}, 64)
	if cut := review.Cut(r); len(cut) != 1 || !strings.Contains(say.Issue(say.English(), &cut[0]), "task b") {
		t.Errorf("%+v", cut)
	}
}

// FuzzReview: whatever tasks have made and merged and whatever is found, some version of each path stands, none that another one builds on; what mends is planned once for
// each root, has an id of its own and depends on what is there or mended in the same round, in no circle. Asked again, it is the same.
func FuzzReview(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{0, 0, 0, 7, 1, 1, 9, 3, 2, 2, 4, 200, 100, 50})
	f.Add([]byte{255, 3, 1, 0, 128, 64, 32, 16, 8, 4, 2, 1, 0, 255, 254, 253, 77, 78, 79})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		next := func() int {
			if len(bytes) == 0 {
				return 0
			}
			b := bytes[0]
			bytes = bytes[1:]
			return int(b)
		}
		r := &workflow.Run{Number: 1}
		count := 1 + next()%9
		for i := range count {
			task := &workflow.Task{ID: fmt.Sprint("t", i), Agent: "a", State: workflow.TaskCompleted, Plan: &schemas.PlannedTask{Task: fmt.Sprint("t", i)}}
			for j := range i {
				if next()%3 == 0 {
					task.Plan.Dependencies = append(task.Plan.Dependencies, fmt.Sprint("t", j))
				}
			}
			if next()%5 == 0 {
				task.State = workflow.TaskFailed
			}
			for _, path := range []string{"p", "./p", "q"} {
				if next()%3 > 0 {
					task.Deliverables = append(task.Deliverables, made(path, string(rune('a'+next()%4))))
				}
			}
			r.Tasks = append(r.Tasks, task)
		}
		for round := 1; round <= 1+next()%3; round++ {
			files := review.Files(r)
			for i := range files {
				if len(files[i].Heads) == 0 {
					t.Fatalf("no version of %s stands", files[i].Path)
				}
				if files[i].Conflicts() && next()%2 == 0 {
					merged := schemas.MergedFile{Path: files[i].Path, Of: files[i].Of, Agent: "m", Deliverable: made(files[i].Path, "e")}
					r.Merged = append(r.Merged, workflow.Merged{MergedFile: merged, Question: fmt.Sprint("judge:merge:", round), Planned: len(r.Tasks)})
					for _, now := range review.Files(r) {
						if now.Path == files[i].Path && (now.Conflicts() || now.Heads[0].Task != fmt.Sprint("judge:merge:", round)) {
							t.Fatalf("%s was merged, and %+v stands", now.Path, now.Heads)
						}
					}
				}
			}
			var issues []schemas.ReviewIssue
			for range next() % 6 {
				issues = append(issues, schemas.ReviewIssue{Severity: []string{"error", "warning"}[next()%2], File: []string{"p", "q", "x/p", ""}[next()%4], Task: []string{"", "t0", "t1", "nobody"}[next()%4]})
			}
			files = review.Files(r)
			review.Assign(r, files, issues)
			fixes := review.Fixes(r, round, files, issues, func(*workflow.Task) bool { return true })
			if again := review.Fixes(r, round, review.Files(r), issues, func(*workflow.Task) bool { return true }); fmt.Sprint(ids(again)) != fmt.Sprint(ids(fixes)) {
				t.Fatalf("%v, then %v", ids(fixes), ids(again))
			}
			plan := make([]schemas.PlannedTask, 0, len(r.Tasks)+len(fixes))
			for _, task := range r.Tasks {
				plan = append(plan, *task.Plan)
			}
			plan = append(plan, fixes...)
			index := workflow.IndexOf(plan)
			if len(index) != len(plan) || len(workflow.Topological(plan, index)) != len(plan) {
				t.Fatalf("an id comes twice, or tasks depend on each other in a circle: %v", ids(plan))
			}
			for i := range fixes {
				for _, id := range fixes[i].Dependencies {
					if _, known := index[id]; !known {
						t.Fatalf("%s depends on %s", fixes[i].Task, id)
					}
				}
				task := &workflow.Task{ID: fixes[i].Task, Agent: "a", State: workflow.TaskCompleted, Plan: &fixes[i]}
				if next()%3 > 0 {
					task.Deliverables = []schemas.Deliverable{made("p", string(rune('a'+next()%4)))}
				}
				r.Tasks = append(r.Tasks, task)
			}
		}
	})
}

func ids(tasks []schemas.PlannedTask) []string {
	var all []string
	for i := range tasks {
		all = append(all, tasks[i].Task+"<"+strings.Join(tasks[i].Dependencies, "&"))
	}
	return all
}
