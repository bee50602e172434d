package config

import (
	"os"
	"strings"
	"testing"

	"podium/schemas"
)

// TestChatProblems shows what each mistake about a chat channel is answered with.
func TestChatProblems(t *testing.T) {
	t.Parallel()
	tellsProblems(t, "chat_problems")
}

// A channel says what it is when the file does not.
func TestChatDefaults(t *testing.T) {
	t.Parallel()
	channels := read(t, "full.yaml").Chat.Channels
	for name, want := range map[string]Channel{
		"web":    {Provider: schemas.ProviderWebhook, Progress: ProgressNone},
		"team":   {Provider: schemas.ProviderSlack, Progress: ProgressEdit},
		"office": {Provider: schemas.ProviderMattermost, Progress: ProgressNone},
	} {
		if got := channels[name]; got.Provider != want.Provider || got.Progress != want.Progress {
			t.Errorf("%s: %s %s, want %s %s", name, got.Provider, got.Progress, want.Provider, want.Progress)
		}
	}
}

// TestChatGuide keeps the example of the guide valid.
func TestChatGuide(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("../../../docs/chat.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(body), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("there is no example")
	}
	variables := map[string]string{
		"WEB_SECRET": webSecret, "SLACK_SIGNING_SECRET": "8f742231b10e8888abcd99yyyzzz85a5", "SLACK_BOT_TOKEN": "xoxb-1",
		"MM_TOKEN": "xr3j5x3p4pfk7kk6ck7b4e6ghh", "MM_BOT_TOKEN": "9xuqwrwgstrb3mzrxb83nb357a",
		"TELEGRAM_SECRET": "0123456789abcdef", "TELEGRAM_BOT_TOKEN": "1:x", "TEAMS_TOKEN": "HEprP2GEZNoCBqAc6GTY0gzYkRJ+EPwzoMqVfhXPEZc=",
	}
	example += "agents: {echo: {kind: echo}}\nprofiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}]}}\n"
	config, err := parse([]byte(example), "chat.md", func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, provider := range map[string]schemas.ChatProvider{
		"web": schemas.ProviderWebhook, "team": schemas.ProviderSlack, "office": schemas.ProviderMattermost, "phone": schemas.ProviderTelegram, "class": schemas.ProviderTeams,
	} {
		if config.Chat.Channels[name].Provider != provider || !strings.Contains(string(body), "/v1/chat/"+name) && provider != schemas.ProviderWebhook {
			t.Errorf("%s: %+v", name, config.Chat.Channels[name])
		}
	}
}
