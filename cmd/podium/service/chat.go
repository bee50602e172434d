package service

import (
	"context"
	"path/filepath"

	agent "podium/agents/chat"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/replyref"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

// openChat opens the adapter of the chat channels, which shares the key of reply_refs
// and the way to show progress with the agent that delivers answers.
func (s *Service) openChat() (*chat.Adapter, error) {
	file := filepath.Join(installation.CredentialsDir(s.settings.Ledger.Data), "capability.key") // it signs the URLs of runs
	key, err := installation.KeepKey(file, "run URLs given out before will not open any more")
	if err != nil {
		return nil, err
	}
	sealer := replySealer(s.settings)
	if err = sealer.Check(); err != nil {
		return nil, err
	}
	return chat.New(chat.Config{
		Channels: s.chatAdapters(), Sealer: sealer,
		Runs:   runs.Config{CapabilityKey: key, BaseURL: s.settings.Chat.URL, Said: s.partials.Said},
		Render: agent.Render,
		Note:   s.note(),

		Pseudonym: s.Pseudonym,
	}, s.Ledger.Core, s.log)
}

// replySealer has the key of reply_refs, and makes it the first time that it is used.
func replySealer(settings *config.Config) *replyref.Sealer {
	return replyref.New(replyKey(settings))
}

// note is how progress is shown; nil when the chat agent runs elsewhere.
func (s *Service) note() func(ctx context.Context, channel, ref string, questions int, text string) error {
	if notes, ok := s.handlers[config.ChatAgent].(*agent.Agent); ok {
		return notes.Note
	}
	return nil
}

func (s *Service) chatAdapters() map[string]chat.Channel {
	channels := make(map[string]chat.Channel, len(s.settings.Chat.Channels))
	for name, channel := range s.settings.Chat.Channels {
		made := chat.Channel{
			Provider: channel.Provider, Profile: channel.Profile, Token: string(channel.Token),
			OwnUser: channel.BotUser, Bot: channel.BotToken != "", Links: channel.URL != "",
			Progress: channel.Progress == config.ProgressEdit,
		}
		if language := s.settings.Profiles[channel.Profile].Language; language != schemas.LanguageOfWriter {
			made.Language = language
		}
		for _, secret := range channel.Secrets {
			made.Secrets = append(made.Secrets, string(secret))
		}
		channels[name] = made
	}
	return channels
}
