package service

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"podium/agents/mcp"
	"podium/bus/backoff"
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

// A connected handler works by something outside that it keeps open.
type connected interface {
	// Check says why it cannot do its work at this moment, and tries to change that.
	Check(ctx context.Context) error
	// Close lets go of what it keeps open, until the next request or check.
	Close() error
}

// lookAfterToolsEvery is how often it is looked whether what an agent works by is there.
const lookAfterToolsEvery = AckWait

// keepConnected looks after what an agent works by while do is under way, and lets go of it then.
func (s *Service) keepConnected(ctx context.Context, name string, unwell func(string), h connected, do func() error) error {
	looking, stop := context.WithCancel(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		said := ""
		look := func() {
			problem := ""
			if err := h.Check(looking); err != nil && looking.Err() == nil {
				problem = err.Error()
			}
			if problem != said && looking.Err() == nil {
				s.log.Warn().Str("agent", name).Str("problem", problem).Msg("what the agent works by has changed its health")
			}
			said = problem
			unwell(problem)
		}
		look()
		backoff.Every(looking, lookAfterToolsEvery, look)
	}()
	err := do()
	stop()
	<-looked
	return errors.Join(err, h.Close())
}

// unwell is why what an agent of this process works by cannot be used at this moment; empty when it can.
func (s *Service) unwell(name string) string {
	for _, agent := range s.serving {
		if agent.name == name {
			why, _ := agent.unwell.Load().(string)
			return why
		}
	}
	return ""
}
