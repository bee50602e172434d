package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"podium/agents/exec"
	"podium/agents/mcp"
	"podium/bus/agent"
	"podium/bus/jetstream/worker"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/service"
	"podium/schemas"
)

// agentCommand runs one agent in this process.
type agentCommand struct {
	Exec agentExecCommand `cmd:"" help:"Make an agent of any program."`
	Pin  agentPinCommand  `cmd:"" help:"Look at the tool of an agent of kind mcp, and agree to it."`
}

func (agentCommand) Help() string {
	return `An agent takes requests from a running instance and answers them.

  podium agent exec --name summary -- ./summary.sh
  podium agent pin fetch`
}

type agentExecCommand struct {
	ledgerFlags

	Name        string             `help:"The agent's name, as podium.yaml has it." required:"" placeholder:"NAME"`
	Concurrency int                `help:"Requests at a time." default:"1"`
	Timeout     time.Duration      `help:"After this the program, and all it started, is killed. Default: as long as podium.yaml lets the agent work." placeholder:"DURATION"`
	Heartbeat   time.Duration      `help:"How often it says that it is at work, also when nothing is new: at most the heartbeat that podium.yaml promises for it." default:"10s"`
	Description string             `help:"What it can do, in one sentence." placeholder:"WORDS"`
	Kinds       []schemas.TaskKind `help:"What it answers, as podium.yaml has it: ${enum}. Every other request is refused, and starts no program." enum:"work,assess,plan,route" default:"work"`
	SideEffects string             `help:"external when it reaches people or systems outside: then each start is asked for, so that a cancelled run starts none." enum:"external," default:"" placeholder:"external"`
	Command     []string           `arg:"" passthrough:"" help:"The program and its arguments, after --."`
}

func (agentExecCommand) Help() string {
	return `The program gets the request as JSON on standard input and answers on standard output, as plain text or
as JSON; lines on standard error are progress, and "40% words" sets the percentage. Another exit code
than 0 is a failure. The agent must be in podium.yaml as kind external; the key that the running
instance has made for it is found in its data directory. Ctrl-C stops it when its requests are done.
No program works longer than whoever asks waits: deadlines.work of the profile, or timeout of the agent
in podium.yaml where that is longer. A longer --timeout gives way, and the start says so.

  podium agent exec --name summary -- ./summary.sh
  podium agent exec --name translate --concurrency 2 -- python3 translate.py
  podium agent exec --name planner --kinds plan -- ./planner.py

On a ledger that is on a NATS server of its own, --nats and the agent's key are all that it needs, on any machine:

  podium agent exec --name summary --nats nats://nats.example.org:4222 --credentials agent-summary.nk -- ./summary.sh`
}

func (c *agentExecCommand) Run(env *environment) error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	settings := exec.Config{Command: command, Timeout: c.Timeout, Description: c.Description, SideEffects: c.SideEffects, Kinds: c.Kinds}
	if _, err := exec.New(settings); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	worker, about, err := c.connect(env)
	if err != nil {
		return err
	}
	defer worker.Close()
	says := []string{"agent " + c.Name + " takes requests; Ctrl-C stops it"}
	settings.Timeout, says = c.bound(&about, says)
	program, err := exec.New(settings)
	if err != nil {
		return err
	}
	if err = env.print("%s\n", strings.Join(says, "\n")); err != nil {
		return err
	}
	return agent.Serve(env.ctx, worker, program, agent.ServeConfig{
		Agent: program.Description(), Concurrency: c.Concurrency, AckWait: service.AckWait, ProgressEvery: c.Heartbeat, Log: env.log,
	})
}

func (c *agentExecCommand) connect(env *environment) (worker *worker.Worker, about installation.ExternalAgent, err error) {
	if err = env.place(); err != nil {
		return nil, about, err
	}
	if env.nats != nil {
		worker, err = installation.JoinWorker(env.ctx, env.ledgerSettings(), env.named.Credentials, c.Name, env.log)
		return worker, about, err
	}
	return installation.AttachWorker(env.ctx, env.data, c.Name, env.log)
}

// bound returns how long the program may work on a request, and adds to what is
// said where that, or what was asked for, is longer than a profile waits.
func (c *agentExecCommand) bound(about *installation.ExternalAgent, says []string) (time.Duration, []string) {
	longest := time.Duration(0)
	for _, profile := range sortedKeys(about.Work) {
		waits := time.Duration(about.Work[profile])
		longest = max(longest, waits)
		if c.Timeout > waits {
			says = append(says, fmt.Sprintf("--timeout %s gives way: profile %s waits %s for %s, then its program is killed and the attempt has failed; "+
				"`timeout: %s` for %s in podium.yaml, and a restart of the instance, give it that long",
				c.Timeout, profile, waits, c.Name, c.Timeout, c.Name))
		}
	}
	switch {
	case c.Timeout == 0:
		return cmp.Or(time.Duration(about.Timeout), longest, exec.DefaultTimeout), says
	case longest > 0:
		return min(c.Timeout, longest), says
	}
	return c.Timeout, says
}

// firstStart is how long the server of a tool may take when somebody looks at it: its program may have to be fetched first.
const firstStart = 3 * time.Minute

// agentPinCommand agrees to the tool of an agent of kind mcp.
type agentPinCommand struct {
	Name   string `arg:"" help:"The agent, as podium.yaml has it." placeholder:"NAME"`
	Config string `help:"The configuration." short:"c" default:"podium.yaml" placeholder:"FILE"`
	DryRun bool   `help:"Write nothing; exit code 4 when the tool is not the one that was agreed to." name:"dry-run"`
}

func (agentPinCommand) Help() string {
	return `Starts the server of the agent as the service would, or calls it, asks it for the tool, shows what it says of
itself, and writes that to the agent's pin (NAME.pin.json beside podium.yaml, or the file that pin names). Until then
the agent does no work, and none once its tool is another one. What a tool says of itself is a stranger's word that models
and people go by: read it, and keep the file with podium.yaml. A running instance takes it over at its next start. With -o json
the pin itself is printed.

  podium agent pin fetch
  podium agent pin fetch --dry-run -c /etc/podium/podium.yaml`
}

func (c *agentPinCommand) Run(env *environment) error {
	settings, err := config.LoadUnpinned(c.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("%s does not exist; name the configuration with -c FILE", c.Config)
	}
	if err != nil {
		return usage(err)
	}
	if settings.Agents[c.Name].Kind != config.KindMCP {
		return notFound("there is no agent %q of kind mcp in %s", c.Name, c.Config)
	}
	file := settings.PinFile(c.Name)
	before, err := readPin(file)
	if err != nil {
		return err
	}
	server := service.ToolConfig(settings, c.Name, nil, env.log)
	server.Start = firstStart
	pin, err := mcp.Discover(env.ctx, server)
	if err != nil {
		return err
	}
	body, err := pin.Bytes()
	if err != nil {
		return err
	}
	if env.json {
		err = env.print("%s", body)
	} else {
		err = env.tellPin(pin, before)
	}
	switch {
	case err != nil:
		return err
	case before != nil && before.SHA256 == pin.SHA256:
		return env.tell("It is the one that %s was agreed to with.\n", filepath.Base(file))
	case c.DryRun:
		return &exitError{code: exitDiffers, err: fmt.Errorf("%s does not agree to it; without --dry-run it is written", filepath.Base(file))}
	}
	if err = os.WriteFile(file, body, 0o644); err != nil {
		return err
	}
	return env.tell("%s agrees to it. A running instance takes it over at its next start.\n", filepath.Base(file))
}

// readPin reads a pin that may not be there, or may be broken: then it is nil.
func readPin(file string) (*mcp.Pin, error) {
	body, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none yet
	}
	if err != nil {
		return nil, fmt.Errorf("read the pin: %w", err)
	}
	pin, err := mcp.ReadPin(body)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // it is written anew
	}
	return pin, nil
}

// tellPin shows a tool as its server describes it, and in what it is another than before.
func (e *environment) tellPin(pin, before *mcp.Pin) error {
	lines := []string{
		fmt.Sprintf("The tool %s of %s %s says of itself:", pin.Tool.Name, pin.Server, pin.Version), "",
		"description: " + pin.Tool.Description, "input_schema: " + string(pin.Tool.InputSchema),
	}
	if len(pin.Tool.OutputSchema) > 0 {
		lines = append(lines, "output_schema: "+string(pin.Tool.OutputSchema))
	}
	if len(pin.Tool.Annotations) > 0 {
		lines = append(lines, "annotations: "+string(pin.Tool.Annotations))
	}
	lines = append(lines, "sha256: "+pin.SHA256, "")
	if before != nil {
		for _, part := range before.Tool.Differs(&pin.Tool) {
			lines = append(lines, "It was agreed to with another "+part+".")
		}
	}
	return e.print("%s\n", strings.Join(lines, "\n"))
}
