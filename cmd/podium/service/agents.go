package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"podium/agents/calculator"
	"podium/agents/chat"
	"podium/agents/document"
	"podium/agents/echo"
	"podium/agents/exec"
	"podium/agents/file"
	agenthttp "podium/agents/http"
	"podium/agents/llm"
	"podium/agents/mcp"
	"podium/agents/retrieval"
	"podium/agents/scripted"
	"podium/bus"
	"podium/bus/agent"
	"podium/cmd/podium/config"
	"podium/cmd/podium/egress"
	"podium/cmd/podium/messageid"
	"podium/cmd/podium/oauth"
	"podium/schemas"
)

// AckWait is how long the bus waits for a sign of life of an agent. M-47: a
// crash is found after this time, not after the work deadline.
const AckWait = schemas.Redelivery

// described is a handler that says what it is.
type described interface {
	agent.Handler
	Description() schemas.Agent
}

// handler makes the agent that a configuration names; nil for one that runs elsewhere.
func handler(settings *config.Config, name string) (described, error) {
	agent := settings.Agents[name]
	switch agent.Kind {
	case config.KindEcho:
		return echo.New()
	case config.KindCalculator:
		return calculator.New()
	case config.KindExec:
		return exec.New(exec.Config{
			Command: agent.Command, Dir: settings.StartIn(&agent), Env: agent.Env, Timeout: time.Duration(agent.Timeout),
			Description: agent.Description, SideEffects: agent.SideEffects, Kinds: agent.Kinds,
			InputSchema: agent.InputSchema, OutputSchema: agent.OutputSchema, Files: filepath.Join(settings.Ledger.Data, "requests"),
		})
	case config.KindScripted:
		return scripted.New(scripted.Config{
			Script: agent.Answers, Description: agent.Description, SideEffects: agent.SideEffects, Kinds: agent.Kinds,
			InputSchema: agent.InputSchema, OutputSchema: agent.OutputSchema,
		})
	case config.KindDocument:
		return document.New(document.Config{
			Templates: agent.TemplatesRead, Formats: agent.Formats, Description: agent.Description, InputSchema: agent.InputSchema,
		})
	case config.KindFile:
		return fileAgent(settings, &agent)
	case config.KindRetrieval:
		return retrieval.New(retrieval.Config{
			Directory: filepath.Join(settings.Ledger.Data, "indexes", agent.Index), Mode: agent.Mode, Compounds: agent.CompoundsRead, Members: agent.Members,
			Description: agent.Description, InputSchema: agent.InputSchema,
		})
	case config.KindHTTP:
		return httpAgent(&agent, nil, nil)
	case config.KindLLM:
		return llmAgent(&agent, nil)
	case config.KindMCP:
		return toolAgent(settings, name, nil, zerolog.Nop())
	case config.KindCaldav:
		return calendarAgent(&agent, nil)
	case config.KindCarddav:
		return contactsAgent(&agent, nil)
	case config.KindMail:
		return mailAgent(settings, func(account *config.Account) (*oauth.Source, error) {
			return tokenSource(settings, settings.Ledger.Data, account)
		}, messageid.New(replyKey(settings)), zerolog.Nop())
	case config.KindChat:
		return chat.New(chat.Config{
			Channels: chatChannels(settings), Opener: replySealer(settings),
		})
	case config.KindExternal, config.KindSupervisor, config.KindPerson:
		return nil, nil //nolint:nilnil // its work is done elsewhere: there is nothing to make and nothing wrong
	}
	return nil, fmt.Errorf("kind %q is not one of an agent", agent.Kind)
}

// handler makes an agent; the one for mail works with the service's tokens and log.
func (s *Service) handler(name string, agent config.Agent) (described, error) {
	if agent.Kind == config.KindMail {
		return mailAgent(s.settings, s.source, s.letters, s.log)
	}
	switch agent.Kind { //nolint:exhaustive // all others are made without the service
	case config.KindHTTP:
		return httpAgent(&agent, s.listeners, s.callbackAddress(name))
	case config.KindLLM:
		return llmAgent(&agent, s.listeners)
	case config.KindMCP:
		return toolAgent(s.settings, name, s.listeners, s.log)
	case config.KindCaldav:
		return calendarAgent(&agent, s.listeners)
	case config.KindCarddav:
		return contactsAgent(&agent, s.listeners)
	}
	return handler(s.settings, name)
}

func fileAgent(settings *config.Config, agent *config.Agent) (*file.Agent, error) {
	name, err := file.ParsePattern(agent.Name)
	if err != nil {
		return nil, err
	}
	return file.New(file.Config{
		Directory: settings.In(agent.Dir), Name: name, Description: agent.Description, SideEffects: agent.SideEffects, InputSchema: agent.InputSchema,
	})
}

// httpAgent makes an agent of kind http. Own is where Podium itself listens, and no call leads; callback gives calls
// the address of their callback, nil none.
func httpAgent(settings *config.Agent, own func() []netip.AddrPort, callback func(*agent.Request) (string, error)) (*agenthttp.Agent, error) {
	guard := egress.Guard{
		Policy: settings.Leads(), Own: own,
		Limits: egress.Limits{Body: agenthttp.DefaultMaxBody + 1}, // the agent itself says what is too much
	}
	return agenthttp.New(agenthttp.Config{
		URL: settings.URL, Secret: string(settings.Secret), Client: guard.Client(), Timeout: time.Duration(settings.Timeout), Callback: callback,
		Barred:      func(err error) bool { return errors.Is(err, egress.ErrEgress) },
		Description: settings.Description, SideEffects: settings.SideEffects, Kinds: settings.Kinds,
		InputSchema: settings.InputSchema, OutputSchema: settings.OutputSchema,
	})
}

// maxStream bounds the events of a streamed answer, which are many times as long as its words.
const maxStream = 32 << 20

// llmAgent makes an agent of kind llm, in the same way.
func llmAgent(settings *config.Agent, own func() []netip.AddrPort) (*llm.Agent, error) {
	guard := egress.Guard{Policy: settings.Leads(), Own: own, Limits: egress.Limits{FirstByte: time.Duration(settings.FirstByte), Idle: time.Duration(settings.Idle)}}
	if settings.Role.Streams() {
		guard.Limits.Body = maxStream
	}
	return llmAgentBy(settings, guard)
}

// llmAgentBy makes one whose calls pass a guard.
func llmAgentBy(settings *config.Agent, guard egress.Guard) (*llm.Agent, error) {
	return llm.New(llm.Config{
		Role: settings.Role, BaseURL: settings.BaseURL, Model: settings.Model, API: settings.API, APIVersion: settings.APIVersion, Key: string(settings.Key), Client: guard.Client(), Reason: reasonOf,
		Temperature: settings.Temperature, MaxTokens: settings.MaxTokens, Timeout: time.Duration(settings.Timeout),
		Structured: settings.Structured, Prompt: settings.PromptRead, Vision: settings.Vision, Description: settings.Description,
		InputSchema: settings.InputSchema, OutputSchema: settings.OutputSchema,
	})
}

// reasonOf says why the client of an agent has brought no answer.
func reasonOf(err error) llm.Reason {
	switch {
	case errors.Is(err, egress.ErrEgress):
		return llm.ReasonBarred
	case errors.Is(err, egress.ErrTooLarge):
		return llm.ReasonTooLarge
	case errors.Is(err, egress.ErrSilent):
		return llm.ReasonSilent
	}
	return llm.ReasonOther
}

// localGuard holds what delivers the answers of a profile with local_only.
func localGuard() egress.Guard { return egress.Guard{Policy: config.Local()} }

// listeners are where this process listens.
func (s *Service) listeners() []netip.AddrPort {
	var own []netip.AddrPort
	if s.listener != nil {
		if at, err := netip.ParseAddrPort(s.listener.Addr().String()); err == nil {
			own = append(own, at)
		}
	}
	if server, err := url.Parse(s.Ledger.URL); err == nil {
		if at, err := netip.ParseAddrPort(server.Host); err == nil {
			own = append(own, at)
		}
	}
	return own
}

// CheckAgents makes every agent of a configuration and forgets it: it names
// those that could not start, such as one whose program is missing.
func CheckAgents(settings *config.Config) error {
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(settings.Agents)) {
		if _, err := handler(settings, name); err != nil {
			failed = append(failed, fmt.Errorf("agent %q: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

func chatChannels(settings *config.Config) map[string]chat.Channel {
	channels := make(map[string]chat.Channel, len(settings.Chat.Channels))
	for name, channel := range settings.Chat.Channels {
		channels[name] = chat.Channel{
			Provider: channel.Provider, Callback: channel.Callback, Secret: channel.SigningSecret(),
			BotToken: string(channel.BotToken), URL: channel.URL,
		}
		if settings.Profiles[channel.Profile].LocalOnly {
			held := channels[name]
			held.Transport = localGuard().Client().Transport
			channels[name] = held
		}
	}
	return channels
}

// serveAgent runs one agent until ctx ends, and lets go of what it keeps open.
func (s *Service) serveAgent(ctx context.Context, worker bus.Worker, served *inProcess, h described) error {
	settings := s.serveConfig(s.settings.Agents[served.name], h)
	settings.Health = func(problem error) {
		said := ""
		if problem != nil {
			said = problem.Error()
		}
		served.unwell.Store(said)
	}
	err := agent.Serve(ctx, worker, h, settings)
	if open, is := h.(io.Closer); is {
		err = errors.Join(err, open.Close())
	}
	return err
}

const (
	// ownInstance is the id of the one process that serves the agents of an installation.
	ownInstance = "podium"
	// checkEvery is how often an agent whose work goes elsewhere is asked whether it could do it: servers of others are
	// not to be bothered with each sign of life.
	checkEvery = time.Minute
)

func (s *Service) serveConfig(configured config.Agent, h described) agent.ServeConfig {
	about := h.Description()
	about.Instance, about.ID = s.instance, ownInstance
	if configured.Description != "" {
		about.Description = configured.Description
	}
	return agent.ServeConfig{
		Agent: about, Concurrency: configured.Concurrency, AckWait: AckWait, DrainTimeout: drainTimeout,
		CheckEvery: everyCheck(configured.Kind), CheckTimeout: checkTimeout(configured), Crashes: s.crashes, Log: s.log,
	}
}

// everyCheck is how often an agent of a kind is asked whether it could do its work.
func everyCheck(kind config.AgentKind) time.Duration {
	switch kind { //nolint:exhaustive // all others look at what is on this machine
	case config.KindHTTP, config.KindLLM, config.KindCaldav, config.KindCarddav, config.KindMail, config.KindRetrieval:
		return checkEvery
	}
	return bus.DefaultHeartbeat
}

// checkTimeout is how long that may take: a server of tools may have to be fetched and started for it.
func checkTimeout(configured config.Agent) time.Duration {
	if configured.Kind == config.KindMCP {
		return max(time.Duration(configured.Timeout), agent.DefaultCheckTimeout)
	}
	return agent.DefaultCheckTimeout
}

// ToolConfig is what an agent of kind mcp is made of. Own is where Podium itself listens, and no call leads.
func ToolConfig(settings *config.Config, name string, own func() []netip.AddrPort, log zerolog.Logger) mcp.Config {
	agent := settings.Agents[name]
	made := mcp.Config{
		Agent: name, Command: agent.Command, Dir: settings.StartIn(&agent), Env: agent.Env, URL: agent.URL, Key: string(agent.Key),
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
