package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/bus"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/route"
	"podium/supervisor/say"
)

// routeCommand explains where a text would go, and what is doubtful about the
// keywords.
type routeCommand struct {
	Text    []string `arg:"" optional:"" help:"The words; none with --lint."`
	Config  string   `help:"The configuration; podium.yaml when none is named." short:"c" default:"podium.yaml" placeholder:"FILE"`
	Profile string   `help:"The profile; not needed when there is only one that is no agent of another." placeholder:"NAME"`
	Source  string   `help:"Where the words come from, for groups that weigh that (source_bonus): email, chat or agent." enum:"email,chat,agent" default:"chat" placeholder:"SOURCE"`
	Lint    bool     `help:"Look for doubtful keywords instead, with what people have asked before."`
	Last    int      `help:"With --lint: read this many of the newest requests on the ledger at most." default:"1000" placeholder:"N"`
}

func (routeCommand) Help() string {
	return `Decides as the supervisor would and shows every candidate with its score, the matched words and
where they stand, and why the losers lost. Nothing is sent, and no model is asked; where a run would ask agents first, it
says so. A message that a plan template fits is shown with the tasks of that plan. It reads the configuration, not a running instance, so the environment variables that the configuration names have
to be set.

  podium route -c podium.yaml "What is 17 * 23?"
  podium route --profile desk -o json "Please write a letter"
  podium route --source email "Please answer: the day suits us"

With --lint it names the keywords that hit inside longer words, that two groups with different agents compete for (mark one as
shared, or name exceptions), and that nothing on the ledger has ever hit. Its exit code is 4 when keywords of two groups are in
conflict, else 0. It reads the requests of a running instance or of the ledger at rest in --data, as far as there is one.

  podium route --lint -c podium.yaml --data ./podium-data
  podium route --lint --last 100 -o json`
}

// explanation is what route prints.
type explanation struct {
	Profile    string              `json:"profile"`
	Complexity *schemas.Complexity `json:"complexity,omitzero"`
	Planner    string              `json:"planner,omitzero"`  // the agent that a run would ask for a plan first
	Template   string              `json:"template,omitzero"` // whose plan it is
	Refused    []string            `json:"refused,omitzero"`  // what is wrong with a plan that a run would not carry out
	Steps      []explainedStep     `json:"steps"`

	written map[string]string // each keyword as the configuration has it
}

// writtenKeywords returns the keywords of a profile as its configuration has them, by their words: a stem has a star.
func writtenKeywords(profile *plan.Profile) map[string]string {
	written := map[string]string{}
	add := func(keywords []schemas.Keyword) {
		for _, one := range keywords {
			written[one.Word] = one.Written()
		}
	}
	for i := range profile.Routers {
		for j := range profile.Routers[i].Groups {
			add(profile.Routers[i].Groups[j].Keywords)
		}
	}
	for i := range profile.Agents {
		for j := range profile.Agents[i].Capabilities {
			add(profile.Agents[i].Capabilities[j].Words)
		}
	}
	if profile.Complexity != nil {
		add(profile.Complexity.Verbs)
	}
	return written
}

type explainedStep struct {
	Task     string                `json:"task"`
	Text     string                `json:"text"`
	After    []string              `json:"after,omitzero"` // tasks that it builds on
	Asks     []string              `json:"asks,omitzero"`  // agents that a run would ask before it decides
	Decided  bool                  `json:"decided"`
	Decision schemas.RouteDecision `json:"decision"`
	Why      string                `json:"why"` // the reasons of the decision in English
}

func (c *routeCommand) Run(env *environment) error {
	switch {
	case !c.Lint && len(c.Text) == 0:
		return usage(errors.New("there are no words to route; write them behind the verb, or --lint"))
	case c.Lint && len(c.Text) > 0:
		return usage(errors.New("--lint takes no words: it reads them from the ledger"))
	}
	settings, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	name, err := onlyProfile(sortedKeys(settings.Profiles), cmp.Or(c.Profile, settings.Entry()))
	if err != nil {
		return err
	}
	profile, err := plan.Compile(settings.Profile(name))
	if err != nil {
		return err
	}
	if c.Lint {
		env.nats = settings.Ledger.NATS
		return c.lint(env, profile)
	}
	explained := explain(profile, strings.Join(c.Text, " "), c.Source)
	if env.json {
		return env.printLine(explained)
	}
	return env.print("%s", explained.String())
}

func loadConfig(path string) (*config.Config, error) {
	settings, err := config.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound("%s does not exist; name the configuration with -c FILE", path)
	}
	return settings, err
}

// onlyProfile returns the profile of that name, or the only one there is.
func onlyProfile(names []string, name string) (string, error) {
	switch {
	case slices.Contains(names, name):
		return name, nil
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", &exitError{code: exitUsage, err: fmt.Errorf("name a profile: --profile %s", strings.Join(names, ", or --profile "))}
	}
	return "", notFound("there is no profile %q; there are: %s", name, strings.Join(names, ", "))
}

func explain(profile *plan.Profile, text, source string) explanation {
	explained := explanation{Profile: profile.Name, written: writtenKeywords(profile)}
	for _, task := range explained.plan(profile, text, source) {
		step := explainedStep{Task: task.Task, Text: task.Description.Text, After: task.Dependencies}
		if task.Routed { // the plan names its agent, and the first router goes by that
			step.Decided = true
			step.Decision = schemas.RouteDecision{NextAgent: task.Agent, Router: string(schemas.RouterAssigned), Reasons: []schemas.Reason{schemas.Because(schemas.RouteAssigned)}}
			step.Why = say.Reasons(say.English(), step.Decision.Reasons)
			explained.Steps = append(explained.Steps, step)
			continue
		}
		known := route.Evidence{Source: source}
		step.Decision, step.Decided = profile.Router().ExplainWith(step.Text, task.Agent, known)
		step.Why = say.Reasons(say.English(), step.Decision.Reasons)
		need := profile.Router().Need(step.Text, task.Agent, known)
		if step.Asks = need.Assess; need.Choose != "" {
			step.Asks = append(step.Asks, need.Choose)
		}
		explained.Steps = append(explained.Steps, step)
	}
	return explained
}

// plan decides as the supervisor does which tasks some words become, as far as no agent has to be asked for that.
func (e *explanation) plan(profile *plan.Profile, text, source string) []schemas.PlannedTask {
	run := workflow.Begin(&schemas.RunStarted{
		Run: 1, Profile: profile.Name, ProfileHash: profile.Hash, Message: schemas.Incoming{
			Sequence: 1, Channel: source, Text: schemas.Content{Sequence: 1, Size: len(text)}, Language: profile.LanguageFor(text, ""),
		},
	})
	said := schemas.Result{Text: text}
	read := func(schemas.Content) schemas.Result { return said }
	tasks := []schemas.PlannedTask{{Task: "t1", Description: schemas.Content{Result: said}}}
	view := plan.View{
		Session: schemas.SessionID(profile.Name, "route"), Run: run, Profile: profile, Now: time.Now(), Read: read, Admission: plan.Unlimited{},
	}
	decision := plan.NewDecision(view, func(fact schemas.Fact, _ string) {
		run.Apply(fact, view.Now)
		switch fact := fact.(type) {
		case *schemas.ComplexityAssessed:
			e.Complexity = &fact.Complexity
		case *schemas.PlanRefused:
			for _, fault := range fact.Faults {
				e.Refused = append(e.Refused, say.Reason(say.English(), fault))
			}
		case *schemas.PlanCreated:
			e.Template, tasks = fact.Template, slices.Clone(fact.Tasks)
		case *schemas.TaskDispatched:
			if fact.Kind == schemas.TaskKindPlan {
				e.Planner = fact.Agent
			}
		default:
		}
	})
	decision.Begin(said)
	decision.Resume()
	for i := range tasks {
		tasks[i].Description = schemas.Content{Result: plan.ResolveContent(tasks[i].Description, read)}
	}
	return tasks
}

// String tells it to a person.
func (e *explanation) String() string {
	var b strings.Builder
	line := func(format string, arguments ...any) { _, _ = fmt.Fprintf(&b, format+"\n", arguments...) }
	line("profile %s", e.Profile)
	if e.Complexity != nil {
		line("complexity: %s", say.Reasons(say.English(), e.Complexity.Reasons))
	}
	for _, fault := range e.Refused {
		line("a plan is refused: %s", view.Line(fault, 0))
	}
	if e.Planner != "" {
		line("a run first asks %s for a plan; without it:", e.Planner)
	}
	if e.Template != "" {
		line("plan by template %s, tasks %d", e.Template, len(e.Steps))
	}
	for i := range e.Steps {
		step := &e.Steps[i]
		line("")
		if len(e.Steps) > 1 || e.Template != "" {
			line("step %d: %s", i+1, step.Text)
		}
		if len(step.After) > 0 {
			line("after %s", strings.Join(step.After, ", "))
		}
		if len(step.Asks) > 0 {
			line("a run first asks %s; without their answers:", strings.Join(step.Asks, ", "))
		}
		if step.Decided {
			line("→ %s, by router %s: %s", step.Decision.NextAgent, step.Decision.Router, step.Why)
		} else {
			line("→ nobody: %s", step.Why)
		}
		for j := range step.Decision.Candidates {
			e.candidate(line, &step.Decision.Candidates[j])
		}
	}
	return b.String()
}

func (e *explanation) candidate(line func(string, ...any), c *schemas.Candidate) {
	name := c.Agent
	if c.Group != "" {
		name += " (" + c.Group + ")"
	}
	verdict := "chosen"
	if len(c.Lost) > 0 {
		verdict = "lost: " + say.Reasons(say.English(), c.Lost)
	}
	line("  %-32s %-9s score %-6.3g %s", name, c.Router, c.Score, verdict)
	for i := range c.Matches {
		m := &c.Matches[i]
		line("      %q at %d–%d by keyword %q", m.Text, m.Start, m.End, cmp.Or(e.written[m.Keyword], m.Keyword))
	}
}

// linted is what route --lint prints.
type linted struct {
	Profile  string          `json:"profile"`
	Ledger   string          `json:"ledger,omitzero"` // its directory or server; absent when there is none
	Requests int             `json:"requests"`        // how many were read
	Findings []route.Finding `json:"findings"`
}

// lint looks for doubtful keywords of a profile.
func (c *routeCommand) lint(env *environment, profile *plan.Profile) error {
	report := linted{Profile: profile.Name, Ledger: env.data}
	if env.nats != nil {
		report.Ledger = env.nats.Servers()
	}
	var history []string
	err := env.withLedger(func(ledger *installation.Ledger) (err error) {
		history, err = requests(env, ledger.Core, profile.Name, c.Last)
		return err
	})
	if errors.Is(err, installation.ErrNoLedger) && !env.given {
		err, report.Ledger = nil, ""
	}
	if err != nil {
		return err
	}
	report.Requests, report.Findings = len(history), profile.Router().Lint(history)
	if err = report.print(env); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Findings, route.Finding.Conflict) {
		return &exitError{code: exitDiffers}
	}
	return nil
}

func (l *linted) print(env *environment) error {
	if env.json {
		return env.printLine(l)
	}
	from := "no ledger, so what never hits is not known"
	if l.Ledger != "" {
		from = "requests read from " + l.Ledger + ": " + strconv.Itoa(l.Requests)
	}
	err := env.print("profile %s, findings %d; %s\n", l.Profile, len(l.Findings), from)
	for i := range l.Findings {
		err = errors.Join(err, env.print("%-8s %s\n", l.Findings[i].Kind, l.Findings[i]))
	}
	return err
}

// requests returns what the newest runs of a profile were asked, the newest
// first.
func requests(env *environment, core bus.Core, profile string, most int) ([]string, error) {
	runs, err := env.runLog(core).Runs(env.ctx)
	if err != nil {
		return nil, err
	}
	var words []string
	for _, run := range runs {
		if run.Profile != profile || len(words) >= most {
			continue
		}
		text, err := env.runLog(core).Words(env.ctx, run)
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	return words, nil
}
