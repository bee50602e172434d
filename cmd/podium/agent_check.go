package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/sandbox"
	"podium/cmd/podium/view"
	"podium/schemas"
)

type agentCheckCommand struct {
	Config      string        `help:"The configuration that says what the agent promises, as kind external. Without NAME it is its only one; podium.yaml when there is neither." short:"c" placeholder:"FILE"`
	Words       string        `help:"What it is asked." default:"A report about otters, please" placeholder:"WORDS"`
	Arguments   string        `help:"A file with the arguments that go along: an object of JSON, or a list of them to be used in turn. Default: made up for its input_schema, or the examples there." placeholder:"FILE"`
	Slow        string        `help:"What takes it 10 seconds or more. Without it nothing is checked of long work." placeholder:"WORDS"`
	Concurrency int           `help:"Requests at a time, as podium.yaml has it; 3 when nothing says it." placeholder:"N"`
	Heartbeat   time.Duration `help:"How often it promises a sign of life while it works, as podium.yaml has it." placeholder:"DURATION"`
	SideEffects string        `help:"external when it reaches people or systems outside: then it has to ask for permits." enum:"external," default:"" placeholder:"external"`
	Patience    time.Duration `help:"How long an answer to --words may take." default:"15s"`
	Only        []string      `help:"Hold it to these checks alone, by their names: what has failed is looked at again in seconds." placeholder:"CHECK"`
	Agent       []string      `arg:"" optional:"" passthrough:"" help:"NAME of the agent, and after -- the command that starts it. Without a command it is started by hand."`
}

func (agentCheckCommand) Help() string {
	return `Runs the agent on a ledger of its own, which is gone afterwards, and asks it what every agent is asked: one
valid answer to a request, the same one to a repeat, signs of life, to stop when it is told, to come
back when its connection breaks, to lose nothing at its end, and more. Each check is told with what is
wrong and what to do. No instance is needed, and none is touched; but the agent does what it is asked,
also what reaches outside: have it use accounts for tests.

The command finds the ledger as documented, in the directory PODIUM_DATA; PODIUM_NATS has the address and
PODIUM_SEED the key. Options stand before NAME.

  podium agent check clerk -- node clerk.mjs
  podium agent check --slow "in 10 seconds" --heartbeat 5s clerk -- python3 clerk.py
  podium agent check --only comes-back,acknowledges clerk -- node clerk.mjs
  podium agent check -c podium.yaml -- ./clerk
  podium agent check clerk -- podium agent exec --name clerk -- ./clerk.sh
  podium agent check -o json clerk

Exit code 1 when a check has failed. A check that says nothing of this agent is told, and is no failure.`
}

func (c *agentCheckCommand) Run(env *environment) error {
	settings, err := c.settings(env)
	if err != nil {
		return err
	}
	tell := func(r sandbox.Result) {
		if env.json {
			_, _ = fmt.Fprintf(env.stderr, "%-26s %s\n", r.Check, columnOf(r.Result))
			return
		}
		_ = env.print("%s", row(r)) // an error of it comes back at the end
	}
	results, err := sandbox.Check(env.ctx, settings, tell)
	if errors.Is(err, sandbox.ErrNoCommand) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	count := map[sandbox.Verdict]int{}
	for _, r := range results {
		count[r.Result]++
	}
	ok := count[sandbox.Failed] == 0
	if err := env.answer(map[string]any{"agent": settings.Agent, "ok": ok, "checks": results},
		"\n%s: passed %d, failed %d, not checked %d\n", settings.Agent, count[sandbox.Passed], count[sandbox.Failed], count[sandbox.NotChecked]); err != nil {
		return err
	}
	if !ok {
		return &exitError{code: exitFailed}
	}
	return nil
}

// columnOf is a verdict in a column.
func columnOf(v sandbox.Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

// row tells a result in a line, and what to do in the next ones.
func row(r sandbox.Result) string {
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "%-26s %-12s %s\n", r.Check, columnOf(r.Result), view.Line(cmp.Or(r.Why, r.Asks), 0))
	for _, more := range []struct{ label, words string }{{"do: ", r.Do}, {"it has written last: ", r.Says}} {
		if more.words != "" {
			_, _ = fmt.Fprintf(&text, "%-26s %-12s %s%s\n", "", "", more.label, view.Line(more.words, 0))
		}
	}
	return text.String()
}

// settings joins what the command line and the configuration say of the agent.
func (c *agentCheckCommand) settings(env *environment) (sandbox.Config, error) {
	for _, name := range c.Only {
		if names := sandbox.Names(); !slices.Contains(names, name) {
			return sandbox.Config{}, usage(fmt.Errorf("there is no check %q; there are: %s", name, strings.Join(names, ", ")))
		}
	}
	settings := sandbox.Config{
		Only: c.Only, Words: c.Words, SlowWords: c.Slow, Concurrency: c.Concurrency, Heartbeat: c.Heartbeat, External: c.SideEffects != "", Patience: c.Patience,
		Waiting: func(environment []string) {
			_, _ = fmt.Fprintf(env.stderr, "start the agent now, with this in its environment:\n\n  export %s\n\n", strings.Join(environment, "\n  export "))
		},
	}
	at := slices.Index(c.Agent, "--")
	if at < 0 {
		at = len(c.Agent)
	} else {
		settings.Command = c.Agent[at+1:]
	}
	switch names := c.Agent[:at]; {
	case len(names) > 1:
		return settings, usage(fmt.Errorf("%q stands behind the name of the agent: options stand before it, and the command after --", names[1]))
	case len(names) == 1 && !schemas.ValidAgentName(names[0]):
		return settings, usage(fmt.Errorf("%q cannot be the name of an agent: it is 1 to 63 of a-z, 0-9, _ and -", names[0]))
	case len(names) == 1:
		settings.Agent = names[0]
	case c.Config == "":
		c.Config = "podium.yaml"
	}
	if err := c.promises(&settings); err != nil {
		return settings, err
	}
	arguments, err := argumentsIn(c.Arguments)
	settings.Arguments = arguments
	return settings, err
}

// promises takes what the configuration says of the agent, unless the command line does.
func (c *agentCheckCommand) promises(settings *sandbox.Config) error {
	if c.Config == "" {
		return nil
	}
	configured, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	if external := configured.AgentNames(true); settings.Agent == "" && len(external) == 1 {
		settings.Agent = external[0]
	}
	about, ok := configured.Agents[settings.Agent]
	if !ok {
		return notFound("name the agent, as in `podium agent check NAME`: external agents in %s are: %s", c.Config, strings.Join(configured.AgentNames(true), ", "))
	}
	settings.Concurrency = cmp.Or(settings.Concurrency, about.Concurrency)
	settings.Heartbeat = cmp.Or(settings.Heartbeat, time.Duration(about.Heartbeat))
	settings.External = settings.External || about.SideEffects != ""
	settings.Kinds, settings.InputSchema, settings.OutputSchema = about.Kinds, about.InputSchema, about.OutputSchema
	return nil
}

// argumentsIn reads a file of arguments; none is named by "".
func argumentsIn(file string) ([][]byte, error) {
	if file == "" {
		return nil, nil
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []jsontext.Value
	if schemas.Unmarshal(body, &list) != nil {
		list = []jsontext.Value{body}
	}
	var all [][]byte
	for _, one := range list {
		if one.Kind() != '{' || !one.IsValid() {
			return nil, usage(fmt.Errorf("%s holds neither an object of JSON nor a list of them", file))
		}
		all = append(all, one)
	}
	return all, nil
}
