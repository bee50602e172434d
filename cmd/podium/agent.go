package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"podium/agents/exec"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/jetstream/worker"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/service"
	"podium/cmd/podium/starter"
	"podium/schemas"
)

// agentCommand is what writers of agents need.
type agentCommand struct {
	Exec  agentExecCommand  `cmd:"" help:"Make an agent of any program."`
	New   agentNewCommand   `cmd:"" help:"Write the beginning of an agent, with a test."`
	Check agentCheckCommand `cmd:"" help:"Hold an agent, in any language, to what is expected of every one."`
	Pin   agentPinCommand   `cmd:"" help:"Look at the tool of an agent of kind mcp, and agree to it."`
}

func (agentCommand) Help() string {
	return `An agent takes requests from a running instance and answers them. Which there are, and how one is taken in, cut off and removed for good, is
with podium agents.

  podium agent exec --name summary -- ./summary.sh
  podium agent new --lang py summary
  podium agent check summary -- python3 summary.py
  podium agent pin fetch`
}

type agentExecCommand struct {
	ledgerFlags

	Name        string                `help:"The agent's name, as podium.yaml has it." required:"" placeholder:"NAME"`
	Concurrency int                   `help:"Requests at a time." default:"1"`
	Timeout     time.Duration         `help:"After this the program, and all it started, is killed. Default: as long as podium.yaml lets the agent work." placeholder:"DURATION"`
	Heartbeat   time.Duration         `help:"How often it says that it is at work, also when nothing is new. Default: the heartbeat that podium.yaml promises for it, else 10s." placeholder:"DURATION"`
	Description string                `help:"What it can do, in one sentence." placeholder:"WORDS"`
	Kinds       []schemas.RequestKind `help:"What it answers, as podium.yaml has it: ${enum}. Every other request is refused, and starts no program." enum:"work,assess,plan,route" default:"work"`
	SideEffects string                `help:"external when it reaches people or systems outside: then each start is asked for, so that a cancelled run starts none. Needed where podium.yaml says so of the agent." enum:"external," default:"" placeholder:"external"`
	Command     []string              `arg:"" passthrough:"" help:"The program and its arguments, after --."`
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
	if about.SideEffects != "" && c.SideEffects == "" {
		return usage(fmt.Errorf("podium.yaml says `side_effects: %s` of %s: start it with --side-effects %s, so that each start of its program is asked for and "+
			"happens once; if the program does nothing outside, take side_effects out of podium.yaml", about.SideEffects, c.Name, about.SideEffects))
	}
	settings.Timeout, says = c.bound(&about, says)
	every, says := c.beat(&about, says)
	program, err := exec.New(settings)
	if err != nil {
		return err
	}
	if err = env.print("%s\n", strings.Join(says, "\n")); err != nil {
		return err
	}
	crashes := c.openCrashLog(env)
	defer func() { _ = crashes.Close() }() // the system frees it with the process
	err = agent.Serve(env.ctx, worker, program, agent.ServeConfig{
		Agent: program.Description(), Concurrency: c.Concurrency, AckWait: service.AckWait, ProgressEvery: every, Crashes: crashes, Log: env.log,
	})
	if bus.IsAny(err, bus.ErrClosed, bus.ErrDenied, bus.ErrRefused) {
		return fmt.Errorf("podium does not let %s in: it was revoked, its key is another one by now, or podium.yaml does not have it as \"kind: external\"; "+
			"`podium agents` tells, and `podium agents add %s` takes it in again, with a new key: %w", c.Name, c.Name, err)
	}
	return err
}

// openCrashLog opens the crash log of this process beside the instance that it works for; nil where there is no data directory.
func (c *agentExecCommand) openCrashLog(env *environment) *agent.CrashLog {
	if _, err := os.Stat(env.data); err != nil {
		return nil
	}
	crashes, err := agent.OpenCrashLog(installation.CrashLogDirectory(env.data), "agent-"+c.Name, env.log)
	if err != nil {
		env.log.Warn().Err(err).Msg("what the agent works on is not noted; a request that ends this process is given out again after each start")
	}
	return crashes
}

func (c *agentExecCommand) connect(env *environment) (worker *worker.Worker, about installation.ExternalAgent, err error) {
	if err = env.chooseLedger(); err != nil {
		return nil, about, err
	}
	if env.nats != nil {
		if c.Config != "" {
			settings, err := loadConfig(c.Config)
			if err != nil {
				return nil, about, err
			}
			if agent, known := settings.Agents[c.Name]; known {
				about = installation.DescribeExternalAgent(&agent, settings.WorkDeadlines(c.Name), "")
			}
		}
		worker, err = installation.JoinWorker(env.ctx, env.ledgerSettings(), env.named.Credentials, c.Name, env.log)
		return worker, about, err
	}
	return installation.AttachWorker(env.ctx, env.data, c.Name, env.log)
}

// defaultBeat is the time between two progress updates where podium.yaml promises none.
const defaultBeat = 10 * time.Second

// beat returns the time between two progress updates: the heartbeat that podium.yaml promises, or a shorter one. It adds
// to what is said where a longer one was asked for.
func (c *agentExecCommand) beat(about *installation.ExternalAgent, says []string) (time.Duration, []string) {
	promised := time.Duration(about.Heartbeat)
	if promised > 0 && c.Heartbeat > promised {
		says = append(says, fmt.Sprintf("--heartbeat %s gives way: podium.yaml promises one every %s for %s, and after three that are missing its attempt has failed",
			c.Heartbeat, promised, c.Name))
		return promised, says
	}
	return cmp.Or(max(c.Heartbeat, 0), promised, defaultBeat), says
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

type agentNewCommand struct {
	Lang string `help:"go, js, py or sh." required:"" enum:"go,js,py,sh" placeholder:"LANGUAGE"`
	Dir  string `help:"The directory to write into; it is made, or has to be empty. Default: one of the agent's name." placeholder:"DIR"`
	Name string `arg:"" help:"The agent's name, as podium.yaml is to have it."`
}

func (agentNewCommand) Help() string {
	return `Writes a program that is complete: it keeps its requests, says how far it is, stops when nobody waits any
more and goes on when Podium was stopped and started. What you replace is one function, and its test.
Beside it stands a podium.yaml with the agent. No file is overwritten.

  podium agent new --lang py otters
  podium agent new --lang go --dir ~/agents/otters otters`
}

func (c *agentNewCommand) Run(env *environment) error {
	if c.Name == config.MailAgent || c.Name == config.ChatAgent {
		return usage(fmt.Errorf("%w: %s is the name of the agent that delivers answers so", starter.ErrName, c.Name))
	}
	made, err := starter.Write(starter.Config{Language: c.Lang, Name: c.Name, Dir: cmp.Or(c.Dir, c.Name)})
	switch {
	case errors.Is(err, starter.ErrName), errors.Is(err, starter.ErrInTheWay):
		return usage(err)
	case err != nil:
		return err
	}
	return env.answer(made, "wrote %s\n\nNext:\n\n  %s\n", strings.Join(made.Files, ", "), strings.Join(made.Next, "\n  "))
}
