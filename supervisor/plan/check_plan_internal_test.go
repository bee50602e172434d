package plan

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"podium/schemas"
	"podium/schemas/workflow"
)

// graph reads "a b<a c<a,b" as tasks and their dependencies.
func graph(text string) []schemas.PlannedTask {
	fields := strings.Fields(text)
	tasks := make([]schemas.PlannedTask, len(fields))
	for i, field := range fields {
		id, dependencies, found := strings.Cut(field, "<")
		tasks[i].Task = id
		if found {
			tasks[i].Dependencies = strings.Split(dependencies, ",")
		}
	}
	return tasks
}

// pmAgents is the example of eight tasks on six levels (M-23).
const pmAgents = "t1 t2<t1 t3<t2 t4<t2 t5<t3 t6<t4 t7<t5,t6 t8<t7"

func TestLevels_M22_M23(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		graph string
		want  []int
	}{
		"none":                        {"", []int{}},
		"one":                         {"a", []int{0}},
		"a chain":                     {"a b<a c<b", []int{0, 1, 2}},
		"a chain, written backwards":  {"c<b b<a a", []int{2, 1, 0}},
		"a diamond":                   {"a b<a c<a d<b,c", []int{0, 1, 1, 2}},
		"the longest way counts":      {"a b<a c<a,b d<a,c", []int{0, 1, 2, 3}},
		"the example of eight":        {pmAgents, []int{0, 1, 2, 2, 3, 3, 4, 5}},
		"research, then all (P-03)":   {"research analyze<research build<research write<research,analyze,build", []int{0, 1, 1, 2}},
		"unknown ones do not count":   {"a<x b<a,y", []int{0, 1}},
		"a circle has no level":       {"a<c b<a c<b d", []int{0, 0, 0, 0}},
		"what is behind one has none": {"a<b b<a c<b d<e e", []int{0, 0, 0, 1, 0}},
		"itself":                      {"a<a", []int{0}},
		"twice the same":              {"a b<a,a", []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := workflow.Levels(graph(test.graph)); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestSchedule_M22: in any graph every task stands once, behind all that it
// depends on and no later than that asks for, beside exactly those of its level.
func TestSchedule_M22(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := make([]schemas.PlannedTask, rapid.IntRange(1, 30).Draw(t, "tasks"))
		for i := range tasks {
			tasks[i].Task = strconv.Itoa(i)
			for j := range i {
				if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					tasks[i].Dependencies = append(tasks[i].Dependencies, strconv.Itoa(j))
				}
			}
		}
		tasks = rapid.Permutation(tasks).Draw(t, "order")
		level := map[string]int{}
		entries := ByLevel(tasks)
		for i, entry := range entries {
			if _, twice := level[entry.Task]; twice || i > 0 && entry.Level < entries[i-1].Level {
				t.Fatalf("%s at level %d", entry.Task, entry.Level)
			}
			level[entry.Task] = entry.Level
		}
		for i := range tasks {
			lowest := 0
			for _, id := range tasks[i].Dependencies {
				lowest = max(lowest, level[id]+1)
			}
			if got, there := level[tasks[i].Task]; !there || got != lowest {
				t.Fatalf("%s is at level %d, want %d", tasks[i].Task, got, lowest)
			}
		}
		for _, entry := range entries {
			beside := 0
			for _, other := range entries {
				if other.Task != entry.Task && other.Level == entry.Level {
					beside++
				}
			}
			for _, id := range entry.ParallelWith {
				if level[id] != entry.Level || id == entry.Task {
					t.Fatalf("%s beside %s", entry.Task, id)
				}
			}
			if len(entry.ParallelWith) != beside {
				t.Fatalf("%s beside %v of %d", entry.Task, entry.ParallelWith, beside)
			}
		}
	})
}

// planning is a profile that two agents belong to.
func planning(planner schemas.Planner) *Profile {
	return &Profile{Profile: schemas.Profile{Agents: []schemas.AgentUse{{Name: "first"}, {Name: "second"}}, Planner: &planner}}
}

func TestCheck_P02_M16(t *testing.T) {
	t.Parallel()
	with := func(change func(*schemas.PlannedTask)) []schemas.PlannedTask {
		tasks := graph("a")
		change(&tasks[0])
		return tasks
	}
	long := strings.Repeat("x", 129)
	for name, test := range map[string]struct {
		tasks []schemas.PlannedTask
		want  []string
	}{
		"the example of eight":      {graph(pmAgents), nil},
		"no task":                   {nil, []string{"the plan has no tasks"}},
		"too many":                  {graph(strings.Repeat("a ", 11)), []string{"the plan has 11 tasks, more than the 10 that are allowed"}},
		"a circle":                  {graph("a<c b<a c<b d"), []string{`tasks depend on each other in a circle: "a", "b", "c"`}},
		"itself":                    {graph("a<a"), []string{`tasks depend on each other in a circle: "a"`}},
		"unknown":                   {graph("a<x b<a,y"), []string{`task "a": it depends on "x", which is no task of the plan`, `task "b": it depends on "y", which is no task of the plan`}},
		"the same id":               {graph("a a b<a"), []string{`task "a": another task has this id`}},
		"the same dependency":       {graph("a b<a,a"), []string{`task "b": it depends on "a" twice`}},
		"no id":                     {graph("a <a"), []string{`task "": an id has 1 to 128 bytes`}},
		"a long id":                 {graph(long), []string{`task "` + long + `": an id has 1 to 128 bytes`}},
		"reserved ids":              {graph("reply plan route:x assess:y"), []string{`task "reply": the id is reserved`, `task "plan": the id is reserved`, `task "route:x": the id is reserved`, `task "assess:y": the id is reserved`}},
		"several":                   {graph("a<b b<a c<x c"), []string{`task "c": it depends on "x", which is no task of the plan`, `task "c": another task has this id`, `tasks depend on each other in a circle: "a", "b"`}},
		"a strange agent":           {with(func(p *schemas.PlannedTask) { p.Agent = "third" }), []string{`task "a": "third" is not one of the agents that may be asked`}},
		"an agent of the profile":   {with(func(p *schemas.PlannedTask) { p.Agent = "second" }), nil},
		"a priority of its own":     {with(func(p *schemas.PlannedTask) { p.Priority = "urgent" }), []string{`task "a": "urgent" is no priority`}},
		"nice to have":              {with(func(p *schemas.PlannedTask) { p.Priority = schemas.PriorityNiceToHave }), nil},
		"less than no time":         {with(func(p *schemas.PlannedTask) { p.Seconds = -1 }), []string{`task "a": an estimate of -1 seconds is not between 0 and 864000`}},
		"ten days":                  {with(func(p *schemas.PlannedTask) { p.Seconds = 864000 }), nil},
		"more than ten days":        {with(func(p *schemas.PlannedTask) { p.Seconds = 864001 }), []string{`task "a": an estimate of 864001 seconds is not between 0 and 864000`}},
		"fewer than no tokens":      {with(func(p *schemas.PlannedTask) { p.Tokens = -1 }), []string{`task "a": an estimate of -1 tokens is not between 0 and 1000000000000`}},
		"a resource without a name": {with(func(p *schemas.PlannedTask) { p.TaskOptions = &schemas.TaskOptions{Resources: []string{"disk", ""}} }), []string{`task "a": a resource has a name of 1 to 128 bytes`}},
		"more resources than can be": {with(func(p *schemas.PlannedTask) {
			p.TaskOptions = &schemas.TaskOptions{Resources: slices.Repeat([]string{"x"}, 33)}
		}), []string{`task "a": it needs 33 resources, more than the 32 that are allowed`}},
		"arguments in a list":  {with(func(p *schemas.PlannedTask) { p.TaskOptions = &schemas.TaskOptions{Arguments: jsontext.Value(`[1]`)} }), []string{`task "a": its arguments are no object`}},
		"constraints in words": {with(func(p *schemas.PlannedTask) { p.TaskOptions = &schemas.TaskOptions{Constraints: jsontext.Value(`"x"`)} }), []string{`task "a": its constraints are no object`}},
		"objects": {with(func(p *schemas.PlannedTask) {
			p.TaskOptions = &schemas.TaskOptions{Arguments: jsontext.Value(`{}`), Constraints: jsontext.Value(` {"a":1}`)}
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := planning(schemas.Planner{MaxTasks: 10}).check(test.tasks); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestCheckBudget_M16: tokens are added up, times along the longest path.
func TestCheckBudget_M16(t *testing.T) {
	t.Parallel()
	tasks := graph(pmAgents)
	for i, seconds := range []int{30, 20, 60, 45, 70, 50, 40, 25} {
		tasks[i].Seconds, tasks[i].Tokens = seconds, 100
	}
	for name, test := range map[string]struct {
		planner schemas.Planner
		want    []string
	}{
		"no bounds":       {schemas.Planner{}, nil},
		"enough":          {schemas.Planner{MaxTokens: 800, MaxSeconds: 245}, nil},
		"too many tokens": {schemas.Planner{MaxTokens: 799}, []string{"the tasks need an estimated 800 tokens, more than the 799 that are allowed"}},
		"too long":        {schemas.Planner{MaxSeconds: 244}, []string{"the longest path takes an estimated 4m5s, more than the 4m4s that are allowed"}},
		"both": {schemas.Planner{MaxTokens: 1, MaxSeconds: 1}, []string{
			"the tasks need an estimated 800 tokens, more than the 1 that are allowed", "the longest path takes an estimated 4m5s, more than the 1s that are allowed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := planning(test.planner).check(tasks); !slices.Equal(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestWorkDeadline_M26: the profile's, the agent's or three estimates, and longer
// with each attempt that the present agent has had.
func TestWorkDeadline_M26(t *testing.T) {
	t.Parallel()
	profile := func(growth float64) *Profile {
		return &Profile{Profile: schemas.Profile{
			Agents:    []schemas.AgentUse{{Name: "own", Work: schemas.Duration(10 * time.Second)}, {Name: "slow", Work: schemas.Duration(60 * 24 * time.Hour)}},
			Retry:     schemas.Retry{TimeoutGrowth: growth},
			Deadlines: schemas.Deadlines{Work: schemas.Duration(30 * time.Second)},
		}}
	}
	second, day := time.Second, 24*time.Hour
	for name, test := range map[string]struct {
		growth  float64
		agent   string
		seconds int
		base    int
		attempt int
		want    time.Duration
	}{
		"the profile's":                         {0, "any", 0, 0, 1, 30 * second},
		"the agent's":                           {0, "own", 0, 0, 1, 10 * second},
		"three estimates (settlement 18)":       {0, "any", 11, 0, 1, 33 * second},
		"an estimate that is shorter":           {0, "any", 10, 0, 1, 30 * second},
		"three estimates of the agent's":        {0, "own", 4, 0, 1, 12 * second},
		"no growth":                             {0, "any", 0, 0, 5, 30 * second},
		"less than none is none":                {0.5, "any", 0, 0, 5, 30 * second},
		"the second attempt":                    {1.5, "any", 0, 0, 2, 45 * second},
		"the third":                             {1.5, "any", 0, 0, 3, 67500 * time.Millisecond},
		"the third, by an estimate":             {1.5, "any", 20, 0, 3, 135 * second},
		"the first of another agent":            {1.5, "any", 0, 3, 4, 30 * second},
		"the second of another agent":           {1.5, "any", 0, 3, 5, 45 * second},
		"never longer than a month":             {100, "any", 0, 0, 90, 30 * day},
		"but as long as is asked for":           {100, "slow", 0, 0, 90, 60 * day},
		"the longest estimate, the last moment": {100, "any", 864000, 0, 90, 30 * day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := &workflow.Task{Plan: &schemas.PlannedTask{Seconds: test.seconds}, UncountedAttempts: test.base}
			if got := profile(test.growth).workDeadline(task, test.agent, test.attempt); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
