package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"podium/cmd/podium/config"
	"podium/cmd/podium/diagnostic"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/service"
	"podium/schemas"
	"podium/supervisor/plan"
)

// checkCommand reads a configuration, or a plan, without starting anything.
type checkCommand struct {
	Config  string `help:"The configuration; podium.yaml when neither it nor a plan is named." short:"c" placeholder:"FILE"`
	Plan    string `help:"A plan as \"podium send --plan\" takes it; - is standard input. With -c, also whether the profile has its agents and allows it." placeholder:"FILE"`
	Profile string `help:"With --plan and -c: the profile that it is for; not needed when there is only one." placeholder:"NAME"`
}

func (checkCommand) Help() string {
	return `Names every unknown key and bad value with its line, column and the nearest valid key; exit code 2
when there is one. The environment variables that the configuration names have to be set, and the
programs of its agents have to be there. What may not be meant is a caution and no fault. Nothing is
started, so it does not see whether servers answer. docs/configuration.md lists every key.

  podium check -c podium.yaml

A plan is held to the same: unknown keys, tasks that depend on nothing or in a circle and, with -c,
agents that the profile has not. Cautions name what is no good practice: long chains of tasks, tasks
that do not say when they are right, and results that nobody checks. No instance is needed.

  podium check --plan plan.json
  podium check --plan plan.json -c podium.yaml --profile graph -o json`
}

// checked is what a check has found, and what it says when that is nothing.
type checked struct {
	faults   []string
	cautions []string
	err      error
	right    []string
}

func (c *checked) fault(err error) {
	if err == nil {
		return
	}
	problems := diagnostic.ProblemsOf(err)
	for _, problem := range problems {
		c.faults = append(c.faults, problem.Error())
	}
	if len(problems) == 0 {
		c.faults = append(c.faults, err.Error())
	}
	c.err = errors.Join(c.err, err)
}

func (c *checkCommand) Run(env *environment) error {
	if c.Profile != "" && (c.Plan == "" || c.Config == "") {
		return usage(errors.New("--profile goes with --plan and -c: it is the one that the plan is for"))
	}
	found := checked{faults: []string{}, cautions: []string{}} // lists in JSON too
	var settings *config.Config
	if c.Plan == "" || c.Config != "" {
		var err error
		if settings, err = c.configuration(&found); err != nil {
			return err
		}
	}
	if c.Plan != "" {
		if err := c.plan(env, settings, &found); err != nil {
			return err
		}
	}
	return found.print(env)
}

// configuration checks a configuration. It is nil when it holds a problem.
func (c *checkCommand) configuration(found *checked) (*config.Config, error) {
	file := cmp.Or(c.Config, "podium.yaml")
	settings, err := loadConfig(file)
	if err != nil && diagnostic.ProblemsOf(err) == nil {
		return nil, err
	}
	if found.fault(err); err != nil {
		return nil, nil //nolint:nilnil,nilerr // what is wrong has been noted
	}
	for _, name := range sortedKeys(settings.Profiles) {
		_, compiled := plan.Compile(settings.Profile(name))
		found.fault(compiled)
	}
	found.fault(service.CheckAgents(settings))
	found.fault(installation.CheckCredentials(settings.Ledger))
	if found.err == nil {
		found.cautions = append(found.cautions, settings.Cautions()...)
	}
	found.right = append(found.right, fmt.Sprintf("%s is right: profiles %d, agents %d with those that deliver answers, mail accounts %d, chat channels %d, event sources %d", file,
		len(settings.Profiles), len(settings.Agents), len(settings.Mail.Accounts), len(settings.Chat.Channels), len(settings.HTTP.Sources)))
	return settings, nil
}

// plan checks a plan, with a configuration also for one of its profiles.
func (c *checkCommand) plan(env *environment, settings *config.Config, found *checked) error {
	read, err := readPlan(env.stdin, c.Plan)
	if err != nil && diagnostic.ProblemsOf(err) == nil {
		return err
	}
	if read == nil {
		found.fault(err)
		return nil
	}
	var compiled *plan.Profile
	says := fmt.Sprintf("%s is right: tasks %d; with -c FILE it is also seen whether its agents are there", c.Plan, len(read.Tasks()))
	if settings != nil {
		name, ambiguous := onlyProfile(sortedKeys(settings.Profiles), c.Profile)
		if ambiguous != nil {
			return ambiguous
		}
		var wrong error
		if compiled, wrong = plan.Compile(settings.Profile(name)); wrong == nil { // else that is a fault already
			err = read.Check(compiled)
		}
		says = fmt.Sprintf("%s is right for profile %s: tasks %d", c.Plan, name, len(read.Tasks()))
	}
	if found.fault(err); err != nil {
		return nil //nolint:nilerr // it has been noted
	}
	found.cautions = append(found.cautions, read.Cautions(compiled)...)
	found.right = append(found.right, says)
	return nil
}

func (c *checked) print(env *environment) error {
	if env.json {
		return errors.Join(json.NewEncoder(env.stdout).Encode(map[string]any{"ok": c.err == nil, "problems": c.faults, "cautions": c.cautions}), usage(c.err))
	}
	if c.err != nil {
		return usage(c.err)
	}
	for _, caution := range c.cautions {
		if err := env.print("caution: %s\n", caution); err != nil {
			return err
		}
	}
	return env.print("%s\n", strings.Join(c.right, "\n"))
}

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitUsage, err: err}
}

// schemaCommand prints the schemas.
type schemaCommand struct {
	Name string `arg:"" optional:"" help:"The schema; without one, their names are listed."`
}

func (schemaCommand) Help() string {
	return `Prints the JSON Schemas of every message, of the configuration and of scripts.

  podium schema
  podium schema execution_response
  podium schema config > podium.schema.json     # for your editor`
}

// The schemas of what people write.
const (
	configSchema = "config"
	scriptSchema = "script"
)

func (c *schemaCommand) Run(env *environment) error {
	names := append(schemas.Names(), configSchema, scriptSchema)
	slices.Sort(names)
	if c.Name == "" {
		return env.answer(names, "%s\n", strings.Join(names, "\n"))
	}
	var body []byte
	var err error
	switch c.Name {
	case configSchema:
		body = config.Schema()
	case scriptSchema:
		body = config.ScriptSchema()
	default:
		body, err = schemas.Schema(c.Name)
	}
	if err != nil {
		return notFound("there is no schema %q; there are: %s", c.Name, strings.Join(names, ", "))
	}
	return env.print("%s\n", body)
}
