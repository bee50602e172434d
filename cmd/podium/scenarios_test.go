package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/config/strictyaml"
	"podium/schemas"
	"podium/schemas/workflow"
)

// scenarios is the file scenarios.yaml of a profile: what people write, and what comes of it.
type scenarios struct {
	Scenarios []scenario `yaml:"scenarios" required:"true" min:"1" doc:"One after the other."`
}

// A scenario is one message and its run.
type scenario struct {
	Say     string            `yaml:"say" doc:"What a person writes."`
	Request string            `yaml:"request" doc:"The file of a plan that is sent instead, in the folder of the profile."`
	Profile string            `yaml:"profile" doc:"Another profile of the file that it is sent to."`
	Plan    string            `yaml:"plan" doc:"The template that its plan is made of."`
	Agents  []string          `yaml:"agents" required:"true" min:"1" doc:"Who does the tasks of the run, in order."`
	Levels  [][]string        `yaml:"levels" min:"1" doc:"The tasks of the plan, level by level."`
	Asks    string            `yaml:"asks" doc:"The question that is asked back."`
	Reply   string            `yaml:"reply" doc:"What is answered to it."`
	Then    []turn            `yaml:"then" min:"1" doc:"What is asked after that, one question after the other."`
	Status  schemas.RunStatus `yaml:"status" default:"completed" doc:"How the run ends."`
	Finds   []string          `yaml:"finds" min:"1" doc:"Parts of what is told of the run on its way, such as findings."`
	Says    []string          `yaml:"says" required:"true" min:"1" doc:"Parts of the answer."`
	Files   []string          `yaml:"files" min:"1" doc:"Names of the files that come along, in order."`
}

// A turn is one question more, and its answer.
type turn struct {
	Asks  string `yaml:"asks" required:"true" doc:"The question that is asked."`
	Reply string `yaml:"reply" required:"true" doc:"What is answered to it."`
}

func readScenarios(t *testing.T, file string) []scenario {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var read scenarios
	if _, err := strictyaml.Decode(body, file, os.LookupEnv, &read); err != nil {
		t.Fatal(err)
	}
	return read.Scenarios
}

// playAll holds a profile to its check, and to every scenario of the folder that it stands in.
func (i *deployment) playAll(profile, folder string) {
	i.t.Helper()
	i.podium("check", "-c", i.config).succeeds(i.t)
	i.up()
	for _, s := range readScenarios(i.t, filepath.Join(folder, "scenarios.yaml")) {
		i.play(profile, &s)
	}
	i.stop()
	i.verify()
}

// play sends the message of a scenario to a profile, answers what is asked, and holds the run to what shall come of it.
func (i *deployment) play(profile string, s *scenario) {
	i.t.Helper()
	sending := []string{"send", "--wait", "--timeout", "5m", "-o", "json", "--profile", cmp.Or(s.Profile, profile), s.Say}
	if s.Request != "" {
		sending = append(sending[:len(sending)-1], "--plan", filepath.Join(i.folder, s.Request))
	}
	sent := i.podium(sending...)
	if s.Asks != "" {
		var asked struct{ ID, Question string }
		if err := json.Unmarshal([]byte(sent.stdout), &asked); err != nil || sent.code != exitAsks || asked.Question != s.Asks {
			i.t.Errorf("%s\nis asked %q, exit code %d, %v\n%s%s", s.message(), asked.Question, sent.code, err, sent.stdout, sent.stderr)
			return
		}
		i.replies(asked.ID, s.Reply)
		id, _, _ := strings.Cut(asked.ID, ".")
		for at, next := range s.Then {
			if open := i.nextQuestion(id, at+2); open.Question != next.Asks {
				i.t.Errorf("%s\nis asked %q", s.message(), open.Question)
			}
			i.replies(fmt.Sprintf("%s.%d", id, at+2), next.Reply)
		}
		within(i.t, 5*time.Minute, "the run has ended", func() bool { return i.run(id).Phase == workflow.PhaseComplete })
		run := i.run(id)
		i.holds(&run, i.answerOf(&run), s)
		return
	}
	var said struct{ Run, Answer string }
	if err := json.Unmarshal([]byte(sent.stdout), &said); err != nil {
		i.t.Errorf("%s\nexit code %d, %v\n%s%s", s.message(), sent.code, err, sent.stdout, sent.stderr)
		return
	}
	run := i.run(said.Run)
	i.holds(&run, said.Answer, s)
}

// replies answers a question, by the word that is one of a command, or by words.
func (i *deployment) replies(id, words string) {
	i.t.Helper()
	switch words {
	case "approve", "reject", "raise":
		i.podium(words, id).succeeds(i.t)
	default:
		i.podium("answer", id, words).succeeds(i.t)
	}
}

// nextQuestion waits for the question of a run that has a number.
func (i *deployment) nextQuestion(run string, number int) (open openInquiry) {
	i.t.Helper()
	id := fmt.Sprintf("%s.%d", run, number)
	within(i.t, 5*time.Minute, "question "+id+" is asked", func() bool {
		asked := lines[openInquiry](i.t, i.podium("inbox", "-o", "json").succeeds(i.t))
		at := slices.IndexFunc(asked, func(one openInquiry) bool { return one.ID == id })
		if at >= 0 {
			open = asked[at]
		}
		return at >= 0
	})
	return open
}

// answerOf is the answer of a run that has ended.
func (i *deployment) answerOf(run *workflow.RunHistory) string {
	var texts []string
	for _, part := range run.Answer {
		texts = append(texts, part.Body.Text)
	}
	return strings.Join(texts, "\n")
}

func (i *deployment) holds(run *workflow.RunHistory, answer string, s *scenario) {
	i.t.Helper()
	var agents, files []string
	for _, task := range run.Tasks {
		agents = append(agents, task.Agent)
		for _, file := range task.Deliverables {
			files = append(files, file.Path)
		}
	}
	if run.Template != s.Plan || strings.Join(agents, " ") != strings.Join(s.Agents, " ") || run.Status != s.status() || strings.Join(files, " ") != strings.Join(s.Files, " ") {
		i.t.Errorf("%s\nplan %q, agents %v, files %v, %s", s.message(), run.Template, agents, files, run.Status)
	}
	for _, want := range s.Says {
		if !strings.Contains(answer, want) {
			i.t.Errorf("%s\n%q is not in the answer\n%s", s.message(), want, answer)
		}
	}
	if len(s.Levels) > 0 && !slices.EqualFunc(s.Levels, levelsOf(run), slices.Equal) {
		i.t.Errorf("%s\nlevels %v", s.message(), levelsOf(run))
	}
	if len(s.Finds) == 0 {
		return
	}
	told := strings.Join(strings.Fields(i.podium("runs", "watch", run.ID).succeeds(i.t).stdout), " ")
	for _, want := range s.Finds {
		if !strings.Contains(told, want) {
			i.t.Errorf("%s\n%q is not told of the run\n%s", s.message(), want, told)
		}
	}
}

// levelsOf are the tasks of the plan that a run began with, level by level.
func levelsOf(run *workflow.RunHistory) (levels [][]string) {
	for _, task := range run.Tasks {
		if task.Plan.Options().Fixes != "" {
			continue
		}
		for len(levels) <= task.Level {
			levels = append(levels, nil)
		}
		levels[task.Level] = append(levels[task.Level], task.ID)
	}
	return levels
}

func (s *scenario) message() string { return cmp.Or(s.Say, s.Request) }

func (s *scenario) status() schemas.RunStatus {
	if s.Status == "" {
		return schemas.RunCompleted
	}
	return s.Status
}
