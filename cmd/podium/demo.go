package main

import (
	"podium/cmd/podium/demo"
	"podium/deploy/examples/summary/summarize"
)

// demoCommand shows the main job on real parts.
type demoCommand struct {
	Once bool `help:"Exit when the mail and the chat message are answered."`
}

func (demoCommand) Help() string {
	return `Starts everything in this process: a ledger, a mailbox (IMAP), a mail server (SMTP), the supervisor
and three agents. A mail asks for a calculation and a summary, a chat message for a calculation. You
see what becomes of them; the ledger is kept, and the last lines say how to replay it.

  podium demo
  podium demo --once -o json       # one JSON object; exit code 0 only if all of it happened`
}

func (c *demoCommand) Run(env *environment) error {
	given := demo.Config{Once: c.Once, Out: env.stdout, JSON: env.json, Log: env.log}
	if env.given {
		given.Data = env.data
	}
	return demo.Show(env.ctx, given)
}

// summarizeCommand is the demo's program: it answers one request on standard input.
type summarizeCommand struct{}

func (summarizeCommand) Run(env *environment) error {
	if code := summarize.Main(nil, env.stdin, env.raw, env.stderr); code != exitOK {
		return &exitError{code: code} // it has said why
	}
	return nil
}
