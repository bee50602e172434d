package service_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	agent "podium/agents/chat"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

// TestChatProviders: messages of every chat provider come in, and answers go out. Which
// places a new one needs, TestRecipes in cmd tells.
func TestChatProviders(t *testing.T) {
	t.Parallel()
	secrets := map[schemas.ChatProvider]string{
		schemas.ProviderWebhook: "whsec_" + signingKey, schemas.ProviderSlack: strings.Repeat("5", 32),
		schemas.ProviderMattermost: strings.Repeat("m", 26), schemas.ProviderTelegram: "a_secret_token_1234", schemas.ProviderTeams: signingKey,
	}
	if len(secrets) != len(schemas.ChatProviders()) {
		t.Errorf("of %d providers %d have a secret here", len(schemas.ChatProviders()), len(secrets))
	}
	for _, provider := range schemas.ChatProviders() {
		_, err := chat.New(chat.Config{
			Runs:     runs.Config{CapabilityKey: bytes.Repeat([]byte{7}, 32)},
			Channels: map[string]chat.Channel{"one": {Provider: provider, Profile: "desk", Secrets: []string{secrets[provider]}}},
		}, memory.New(1), zerolog.Nop())
		if err != nil {
			t.Errorf("%s: messages do not come in: %v", provider, err)
		}
		_, err = agent.New(agent.Config{
			Channels: map[string]agent.Channel{"one": {Provider: provider, BotToken: "token", URL: "https://chat.example.org"}},
		})
		if err != nil {
			t.Errorf("%s: answers do not go out: %v", provider, err)
		}
		if words := "2 + 2"; agent.Render(provider, words) != words {
			t.Errorf("%s: plain words are changed", provider)
		}
	}
}
