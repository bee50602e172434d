package config

import (
	"cmp"

	"podium/schemas"
)

// Chat holds the chat channels.
type Chat struct {
	URL      string             `yaml:"url" doc:"Address of this service as the outside knows it, such as https://podium.example.org; it begins the URLs that are given out."`
	Channels map[string]Channel `yaml:"channels" doc:"Channels by name; each posts to /v1/chat/<name>."`
}

// ChatProgress says what a chat shows of the work under way.
type ChatProgress string

// The kinds of progress.
const (
	ProgressNone ChatProgress = "none"
	ProgressEdit ChatProgress = "edit" // one message that changes and at last becomes the answer
)

// A Channel is one sender of chat messages.
type Channel struct {
	Provider schemas.ChatProvider `yaml:"provider" enum:"webhook slack mattermost telegram teams" default:"webhook" doc:"Which protocol the sender speaks."`
	Profile  string               `yaml:"profile" required:"true" doc:"The profile that handles its messages."`
	Secrets  Secrets              `yaml:"secret" single:"true" min:"1" doc:"What proves the sender, or a list while one replaces the other. webhook: whsec_… or whpk_…; slack: the signing secret; mattermost: the integration's token; telegram: the secret_token; teams: the security token."`
	Token    Secret               `yaml:"token" doc:"webhook: bearer token for a sender that cannot sign, of 16 characters or more."`
	Callback string               `yaml:"callback" doc:"webhook: URL that answers are posted to. Without it the sender waits or asks."`
	BotToken Secret               `yaml:"bot_token" doc:"slack, mattermost, telegram: the token that answers are posted with."`
	BotUser  string               `yaml:"bot_user" doc:"mattermost: id or name of the account that the bot_token belongs to; what it writes is ignored."`
	URL      string               `yaml:"url" doc:"mattermost: base URL of the server."`
	Page     bool                 `yaml:"page" doc:"webhook: true serves a chat page at /chat/<name>, where people sign in with the token."`
	Progress ChatProgress         `yaml:"progress" enum:"none edit" default:"none" doc:"slack, mattermost, telegram: edit shows one message that tells how far the work is and becomes the answer."`
}

func (c Channel) withDefaults() Channel {
	c.Provider = cmp.Or(c.Provider, schemas.ProviderWebhook)
	c.Progress = cmp.Or(c.Progress, ProgressNone)
	return c
}
