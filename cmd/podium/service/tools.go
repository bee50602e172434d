package service

import (
	"errors"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"podium/agents/mcp"
	"podium/cmd/podium/config"
	"podium/cmd/podium/egress"
)

// ToolConfig is what an agent of kind mcp is made of. Own is where Podium itself listens, and no call leads.
func ToolConfig(settings *config.Config, name string, own func() []netip.AddrPort, log zerolog.Logger) mcp.Config {
	agent := settings.Agents[name]
	made := mcp.Config{
		Agent: name, Command: agent.Command, Dir: settings.Directory, Env: agent.Env, URL: agent.URL, Key: string(agent.Key),
		Tool: agent.Tool, Pin: agent.Pinned, Timeout: time.Duration(agent.Timeout), Log: log.With().Str("agent", name).Logger(),
		Description: agent.Description, InputSchema: agent.InputSchema, OutputSchema: agent.OutputSchema, SideEffects: agent.SideEffects,
	}
	if agent.URL != "" {
		guard := egress.Guard{Policy: agent.Leads(), Own: own, Limits: egress.Limits{Body: 2 * mcp.DefaultMaxMessage}}
		made.Client = guard.Client()
		made.TooLarge = func(err error) bool { return errors.Is(err, egress.ErrTooLarge) }
		made.Barred = func(err error) bool { return errors.Is(err, egress.ErrEgress) }
	}
	return made
}

func toolAgent(settings *config.Config, name string, own func() []netip.AddrPort, log zerolog.Logger) (*mcp.Agent, error) {
	return mcp.New(ToolConfig(settings, name, own, log))
}
