package plan

import (
	"fmt"
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

// codesOf are reasons as a test compares them.
func codesOf(reasons []schemas.Reason) []string {
	var codes []string
	for _, reason := range reasons {
		codes = append(codes, fmt.Sprint(reason))
	}
	return codes
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
		"no task":                   {nil, []string{"{plan_empty map[]}"}},
		"too many":                  {graph(strings.Repeat("a ", 11)), []string{"{plan_too_large map[limit:10 tasks:11]}"}},
		"a circle":                  {graph("a<c b<a c<b d"), []string{`{plan_has_cycle map[tasks:"a", "b", "c"]}`}},
		"itself":                    {graph("a<a"), []string{`{plan_has_cycle map[tasks:"a"]}`}},
		"unknown":                   {graph("a<x b<a,y"), []string{"{task_dependency_unknown map[dependency:x task:a]}", "{task_dependency_unknown map[dependency:y task:b]}"}},
		"the same id":               {graph("a a b<a"), []string{"{task_id_taken map[task:a]}"}},
		"the same dependency":       {graph("a b<a,a"), []string{"{task_dependency_repeated map[dependency:a task:b]}"}},
		"no id":                     {graph("a <a"), []string{"{task_id_length map[limit:128 task:]}"}},
		"a long id":                 {graph(long), []string{"{task_id_length map[limit:128 task:" + long + "]}"}},
		"reserved ids":              {graph("reply plan route:x assess:y"), []string{"{task_id_reserved map[task:reply]}", "{task_id_reserved map[task:plan]}", "{task_id_reserved map[task:route:x]}", "{task_id_reserved map[task:assess:y]}"}},
		"several":                   {graph("a<b b<a c<x c"), []string{"{task_dependency_unknown map[dependency:x task:c]}", "{task_id_taken map[task:c]}", `{plan_has_cycle map[tasks:"a", "b"]}`}},
		"a strange agent":           {with(func(p *schemas.PlannedTask) { p.Agent = "third" }), []string{"{task_agent_unknown map[agent:third task:a]}"}},
		"an agent of the profile":   {with(func(p *schemas.PlannedTask) { p.Agent = "second" }), nil},
		"a priority of its own":     {with(func(p *schemas.PlannedTask) { p.Priority = "urgent" }), []string{"{task_priority_unknown map[priority:urgent task:a]}"}},
		"nice to have":              {with(func(p *schemas.PlannedTask) { p.Priority = schemas.PriorityNiceToHave }), nil},
		"less than no time":         {with(func(p *schemas.PlannedTask) { p.Seconds = -1 }), []string{"{task_seconds_range map[limit:864000 seconds:-1 task:a]}"}},
		"ten days":                  {with(func(p *schemas.PlannedTask) { p.Seconds = 864000 }), nil},
		"more than ten days":        {with(func(p *schemas.PlannedTask) { p.Seconds = 864001 }), []string{"{task_seconds_range map[limit:864000 seconds:864001 task:a]}"}},
		"fewer than no tokens":      {with(func(p *schemas.PlannedTask) { p.Tokens = -1 }), []string{"{task_tokens_range map[limit:1000000000000 task:a tokens:-1]}"}},
		"a resource without a name": {with(func(p *schemas.PlannedTask) { p.TaskOptions = &schemas.TaskOptions{Resources: []string{"disk", ""}} }), []string{"{task_resource_name map[limit:128 task:a]}"}},
		"more resources than can be": {with(func(p *schemas.PlannedTask) {
			p.TaskOptions = &schemas.TaskOptions{Resources: slices.Repeat([]string{"x"}, 33)}
		}), []string{"{task_too_many_resources map[limit:32 resources:33 task:a]}"}},
		"arguments in a list":  {with(func(p *schemas.PlannedTask) { p.TaskOptions = &schemas.TaskOptions{Arguments: jsontext.Value(`[1]`)} }), []string{"{task_arguments_no_object map[task:a]}"}},
		"constraints in words": {with(func(p *schemas.PlannedTask) { p.TaskOptions = &schemas.TaskOptions{Constraints: jsontext.Value(`"x"`)} }), []string{"{task_constraints_no_object map[task:a]}"}},
		"objects": {with(func(p *schemas.PlannedTask) {
			p.TaskOptions = &schemas.TaskOptions{Arguments: jsontext.Value(`{}`), Constraints: jsontext.Value(` {"a":1}`)}
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := codesOf(planning(schemas.Planner{MaxTasks: 10}).check(test.tasks)); !slices.Equal(got, test.want) {
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
		"too many tokens": {schemas.Planner{MaxTokens: 799}, []string{"{plan_needs_tokens map[limit:799 tokens:800]}"}},
		"too long":        {schemas.Planner{MaxSeconds: 244}, []string{"{plan_takes_time map[duration:4m5s limit:4m4s]}"}},
		"both": {schemas.Planner{MaxTokens: 1, MaxSeconds: 1}, []string{
			"{plan_needs_tokens map[limit:1 tokens:800]}", "{plan_takes_time map[duration:4m5s limit:1s]}",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := codesOf(planning(test.planner).check(tasks)); !slices.Equal(got, test.want) {
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
