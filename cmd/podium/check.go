package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"podium/cmd/podium/config"
	"podium/cmd/podium/service"
	"podium/deploy/examples/summary/summarize"
	"podium/schemas"
	"podium/supervisor/plan"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// checkCommand reads a configuration without starting anything.
type checkCommand struct {
	Config string `help:"The configuration; podium.yaml when none is named." short:"c" default:"podium.yaml" placeholder:"FILE"`
}

// Help is shown by --help.
func (checkCommand) Help() string {
	return `Names every unknown key and bad value with its line, column and the nearest valid key; exit code 2
when there is one. The environment variables that the configuration names have to be set, and the
programs of its agents have to be there. What may not be meant is a caution and no fault. Nothing is
started, so it does not see whether servers answer.

  podium check -c podium.yaml`
}

// Run implements the verb.
func (c *checkCommand) Run(env *environment) error {
	settings, err := loadConfig(c.Config)
	faults := []string{} // a list in JSON too
	for _, problem := range config.ProblemsOf(err) {
		faults = append(faults, problem.Error())
	}
	if err != nil && len(faults) == 0 {
		return err
	}
	if err == nil {
		for _, name := range sortedKeys(settings.Profiles) {
			if _, compiled := plan.Compile(settings.Profile(name)); compiled != nil {
				faults = append(faults, compiled.Error())
				err = errors.Join(err, compiled)
			}
		}
		for _, found := range []error{service.CheckAgents(settings), service.CheckCredentials(settings.Ledger)} {
			if found != nil {
				faults = append(faults, found.Error())
				err = errors.Join(err, found)
			}
		}
	}
	cautions := []string{}
	if err == nil {
		cautions = settings.Cautions()
	}
	if env.json {
		return errors.Join(json.NewEncoder(env.stdout).Encode(map[string]any{"ok": err == nil, "problems": faults, "cautions": cautions}), usage(err))
	}
	if err == nil {
		for _, caution := range cautions {
			if _, err = fmt.Fprintln(env.stdout, "caution: "+caution); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(env.stdout, "%s is right: profiles %d, agents %d with those that deliver answers, mail accounts %d, chat channels %d, event sources %d\n", c.Config,
			len(settings.Profiles), len(settings.Agents), len(settings.Mail.Accounts), len(settings.Chat.Channels), len(settings.HTTP.Sources))
		return err
	}
	return usage(err)
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

// Help is shown by --help.
func (schemaCommand) Help() string {
	return `Prints the JSON Schemas of every message and of the configuration.

  podium schema
  podium schema execution_response
  podium schema config > podium.schema.json     # for your editor`
}

const configSchema = "config"

// Run implements the verb.
func (c *schemaCommand) Run(env *environment) error {
	names := append(schemas.Names(), configSchema)
	slices.Sort(names)
	if c.Name == "" {
		if env.json {
			return json.NewEncoder(env.stdout).Encode(names)
		}
		_, err := fmt.Fprintln(env.stdout, strings.Join(names, "\n"))
		return err
	}
	body, err := config.Schema(), error(nil)
	if c.Name != configSchema {
		body, err = schemas.Schema(c.Name)
	}
	if err != nil {
		return notFound("there is no schema %q; there are: %s", c.Name, strings.Join(names, ", "))
	}
	_, err = env.stdout.Write(append(body, '\n'))
	return err
}

// versionCommand prints what this binary is.
type versionCommand struct{}

// Help is shown by --help.
func (versionCommand) Help() string {
	return `For a report of a fault.

  podium version -o json
  podium --version`
}

// Run implements the verb.
func (versionCommand) Run(env *environment) error {
	version := versions()
	if env.json {
		return json.NewEncoder(env.stdout).Encode(version)
	}
	_, err := fmt.Fprintln(env.stdout, versionLine(version))
	return err
}

// versions says what this binary was built of.
func versions() map[string]string {
	version := map[string]string{"version": "devel", "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			version["version"] = info.Main.Version
		}
		for _, dependency := range info.Deps {
			if dependency.Path == "github.com/nats-io/nats-server/v2" {
				version["nats_server"] = dependency.Version
			}
		}
	}
	return version
}

func versionLine(version map[string]string) string {
	return fmt.Sprintf("podium %s (%s, %s, nats-server %s)", version["version"], version["go"], version["platform"], version["nats_server"])
}

// summarizeCommand is the demo's program: it answers one request on standard input.
type summarizeCommand struct{}

// Run implements the verb.
func (summarizeCommand) Run(env *environment) error {
	if code := summarize.Main(nil, env.stdin, env.raw, env.stderr); code != exitOK {
		return &exitError{code: code} // it has said why
	}
	return nil
}
