package service_test

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	agent "podium/agents/chat"
	"podium/bus/memory"
	"podium/cmd/podium/config"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

// TestChatProviders walks the places that know every chat provider: whoever adds one to
// schemas.ChatProviders is told here where it is missing. That each switch has it, the
// linter sees to.
func TestChatProviders(t *testing.T) {
	t.Parallel()
	secrets := map[schemas.ChatProvider]string{
		schemas.ProviderWebhook: "whsec_" + signingKey, schemas.ProviderSlack: strings.Repeat("5", 32),
		schemas.ProviderMattermost: strings.Repeat("m", 26), schemas.ProviderTelegram: "a_secret_token_1234", schemas.ProviderTeams: signingKey,
	}
	field, _ := reflect.TypeFor[config.Channel]().FieldByName("Provider")
	words := strings.Fields(field.Tag.Get("enum"))
	page, err := os.ReadFile("../../../docs/chat.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, provider := range schemas.ChatProviders() {
		if i >= len(words) || words[i] != string(provider) || len(words) != len(schemas.ChatProviders()) {
			t.Errorf("%s: the configuration takes %q", provider, words)
		}
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
		if !bytes.Contains(page, []byte(provider)) {
			t.Errorf("%s: docs/chat.md does not speak of it", provider)
		}
	}
}
