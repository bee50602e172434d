package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"podium/schemas"
	"podium/schemas/workflow"
)

const attemptsProfile = `
profile mode=dag
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support}}
agents:
  - {name: doctor, person: {people: [anna], expire: 48h}}
  - {name: clerk, on_unknown: resend}
routers: [{kind: assigned}]
----
`

const attemptsRequest = `
request id=r%d effect=e1 attempt=%d payload
tasks:
- {task_id: look, description: "Look at the arm.", assigned_to: doctor}
- {task_id: file, description: "Write the file.", assigned_to: clerk}
- {task_id: both, description: "Put both together.", assigned_to: clerk, dependencies: [look, file]}
----
`

// TestAttemptsAreOnePiece: however many attempts whoever is upstream makes, and whenever they end, one letter asks, one word of those that name any of its
// names counts, and what is done is not done again. The stage holds each step to the laws of the machine.
func TestAttemptsAreOnePiece_X03(t *testing.T) {
	t.Parallel()
	reached := map[string]int{}
	for seed := range uint64(150) {
		a := &attempted{t: t, random: rand.New(rand.NewPCG(seed, 3)), story: &story{stage: newStage(t, storyProfile())}}
		a.plays(attemptsProfile)
		for range 40 {
			a.step(a.random.IntN(9))
		}
		for again := 0; again < 9 && a.status() != schemas.RunCompleted; again++ {
			for op := range 6 {
				a.step(op)
			}
		}
		a.check(seed)
		for _, what := range []string{"adopted", "brought"} {
			reached[what] += min(a.story.facts[what], 1)
		}
		reached["held"] += min(a.held, 1)
	}
	for _, what := range []string{"adopted", "brought", "held"} {
		if reached[what] == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
}

type attempted struct {
	t            *testing.T
	random       *rand.Rand
	story        *story
	said         []string
	requests     int
	words        int
	held, counts int // words
}

func (a *attempted) plays(command string) {
	a.t.Helper()
	a.said = append(a.said, command)
	datadriven.RunTestFromString(a.t, command, func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		a.said = append(a.said, a.story.play(t, d))
		return d.Expected
	})
}

// step does one thing that is possible now.
func (a *attempted) step(op int) {
	a.t.Helper()
	runs := a.story.state.Runs
	switch active := a.story.state.Active; {
	case op == 0 && (a.status() != schemas.RunCompleted || a.random.IntN(2) == 0):
		a.requests++
		a.plays(fmt.Sprintf(attemptsRequest, a.requests, a.requests))
	case op == 4 && runs > 0:
		a.word(fmt.Sprintf("mail id=m%%d from=anna@practice.example answers=%d.1\nIt is a rash.\n----\n", a.lettered()))
	case op == 5 && runs > 0:
		a.word(fmt.Sprintf("word id=m%%d run=%d inquiry=1\nIt is a rash.\n----\n", a.lettered()))
	case op == 6 && runs > 0:
		a.words++
		a.plays(fmt.Sprintf("cancel request=r%d id=x%d\n----\n", a.requests, a.words))
	case op == 7:
		a.plays("advance 10s\n----\n")
	case active == nil:
	default:
		a.agents(active, op)
	}
}

// agents has an agent say something: the letter was sent, it is to be, or a task is done.
func (a *attempted) agents(active *workflow.Run, op int) {
	a.t.Helper()
	for task := range active.All {
		if !task.State.UnderWay() {
			continue
		}
		of := fmt.Sprintf("task=%s run=%d attempt=%d", task.ID, active.Number, task.Attempt)
		switch {
		case op == 1 && task.HumanTask() > 0:
			a.plays("answer " + of + " receipt=q@support.example\n----\n")
			return
		case op == 2 && task.HumanTask() == 0:
			a.plays("answer " + of + "\ndone\n----\n")
			return
		case op == 8:
			a.words++
			a.plays(fmt.Sprintf("permit %s id=p%d\n----\n", of, a.words))
			return
		}
	}
}

// lettered is a run whose letter a word may name: mostly the one that has sent it.
func (a *attempted) lettered() int {
	for i := range a.story.conversation.Runs {
		for _, task := range a.story.conversation.Runs[i].DecisionTasks {
			if task.HumanTask() > 0 && task.State == workflow.TaskCompleted && a.random.IntN(4) > 0 {
				return a.story.conversation.Runs[i].Number
			}
		}
	}
	return 1 + a.random.IntN(a.story.state.Runs)
}

// applyWord says something to an inquiry.
func (a *attempted) word(command string) {
	a.t.Helper()
	a.words++
	a.plays(fmt.Sprintf(command, a.words))
	switch told := a.said[len(a.said)-1]; {
	case strings.Contains(told, ": held"):
		a.held++
	case strings.Contains(told, ": answered"):
	default:
		return
	}
	a.counts++
}

func (a *attempted) status() schemas.RunStatus {
	if runs := a.story.conversation.Runs; len(runs) > 0 {
		return runs[len(runs)-1].Status
	}
	return ""
}

// letters counts the first letters that may have gone out.
func (a *attempted) letters() (sent int) {
	for i := range a.story.conversation.Runs {
		for _, task := range a.story.conversation.Runs[i].DecisionTasks {
			if task.HumanTask() > 0 && (task.State == workflow.TaskCompleted || task.Permit != "") {
				sent++
			}
		}
	}
	return sent
}

func (a *attempted) check(seed uint64) {
	a.t.Helper()
	done, answered := map[string]int{}, 0
	for _, record := range a.story.records {
		for _, fact := range record.First().Facts {
			completed := schemas.As[*schemas.TaskCompleted](fact)
			if completed != nil && completed.Brought == 0 {
				done[completed.Task]++
			}
			if schemas.As[*schemas.InquiryAnswered](fact) != nil {
				answered++
			}
		}
	}
	if a.status() != schemas.RunCompleted || a.letters() > 1 || a.counts != 1 || answered != 1 || done["look"] != 1 || done["file"] != 1 || done["both"] != 1 {
		a.t.Errorf("seed %d: %s, %d letters, %d words count, %d are taken, done %v\n%s",
			seed, a.status(), a.letters(), a.counts, answered, done, strings.Join(a.said, ""))
	}
}

// TestBroughtEffectIsKnown: an effect that an earlier attempt was permitted is not possible but known, while its task is brought; and possible
// again for an attempt that is told something else.
func TestBroughtEffectIsKnown(t *testing.T) {
	t.Parallel()
	const request = "\nrequest id=r%d effect=e1 attempt=%d payload\ntasks:\n" +
		"- {task_id: look, description: \"Look at the arm.\", assigned_to: doctor}\n- {task_id: file, description: %q, assigned_to: clerk}\n----\n"
	first := attemptsProfile + fmt.Sprintf(request, 1, 1, "Write the file.") + "\npermit task=file id=p1\n----\n\nanswer task=file\ndone\n----\n"
	second := first + fmt.Sprintf(request, 2, 2, "Write the file.")
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"brought":             {second, nil},
		"told something else": {first + fmt.Sprintf(request, 2, 2, "Write another file."), []string{schemas.EffectID("e1", "file")}},
		"permitted to somebody before": {attemptsProfile + fmt.Sprintf(request, 1, 1, "Write the file.") + "\npermit task=file id=p1\n----\n" +
			fmt.Sprintf(request, 2, 2, "Write another file.") + "\nanswer task=file run=2\ndone\n----\n" + fmt.Sprintf(request, 3, 3, "Write another file."), []string{schemas.EffectID("e1", "file")}},
		"brought once": {second + fmt.Sprintf(request, 3, 3, "Write another file."), []string{schemas.EffectID("e1", "file")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, told := attack(t, c.script)
			if got := s.state.Attempts.PossibleEffects; !slices.Equal(got, c.want) {
				t.Errorf("possible are %q, want %q:\n%s", got, c.want, told[len(told)-1])
			}
		})
	}
}

// TestLeftIsBounded: of results that are too many there are as many as there is room for; the others are done again.
func TestLeftIsBounded(t *testing.T) {
	t.Parallel()
	a := &attempted{t: t, random: rand.New(rand.NewPCG(1, 3)), story: &story{stage: newStage(t, storyProfile())}}
	a.plays(attemptsProfile)
	const tasks = 12
	request := func(n int) string {
		var body strings.Builder
		fmt.Fprintf(&body, "\nrequest id=r%d effect=e1 attempt=%d payload\ntasks:\n- {task_id: look, description: look, assigned_to: doctor}\n", n, n)
		for i := range tasks {
			fmt.Fprintf(&body, "- {task_id: t%d, description: work %d, assigned_to: clerk}\n", i, i)
		}
		return body.String() + "----\n"
	}
	a.plays(request(1))
	for i := range tasks {
		long := strings.Repeat("much advice ", 150)
		advice := strings.Repeat(fmt.Sprintf("%q, ", long), 4)
		a.plays(fmt.Sprintf("answer task=t%d payload\nstatus: completed\nresult: {text: done}\nrecommendations: [%s]\n----\n", i, advice))
	}
	a.plays(request(2))
	brought, again := a.story.facts["brought"], 0
	for task := range a.story.state.Active.All {
		if task.State.UnderWay() && task.HumanTask() == 0 {
			again++
		}
	}
	if size := len(canonical(t, a.story.state.Attempts)); brought == 0 || again == 0 || brought+again != tasks || size > 80<<10 {
		t.Errorf("of %d tasks %d are brought and %d done again; %d bytes are left", tasks, brought, again, size)
	}
}
