package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"podium/ingest/webhook"
	"podium/schemas"
)

// The bounds of Standard Webhooks 1.0, and what makes a token hard to guess.
const (
	secretPrefix    = "whsec_"
	publicKeyPrefix = "whpk_"
	minKey          = 24 // bytes
	maxKey          = 64 // bytes
	maxSecrets      = 2
	minToken        = webhook.MinToken // characters
	minTeamsKey     = 16               // bytes
)

// telegramSecret is what setWebhook allows as a secret_token (Bot API).
var telegramSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{16,256}$`)

func (v *validator) chat() {
	if url := v.config.Chat.URL; url != "" && !isURL(url, "https", "http") {
		v.problem("chat.url", "it is not a URL such as https://podium.example.org")
	}
	for _, name := range slices.Sorted(maps.Keys(v.config.Chat.Channels)) {
		channel, path := v.config.Chat.Channels[name].withDefaults(), "chat.channels."+name
		v.name(path, name)
		v.profileExists(path+".profile", channel.Profile)
		v.providerKeys(path, &channel)
		v.secrets(path, channel.Provider, channel.Secrets, channel.Token)
		v.sender(path, &channel)
		v.answers(path, &channel)
	}
}

// providerKeys names what a channel's provider has no use for: a key without
// effect is a mistake about something that matters.
func (v *validator) providerKeys(path string, channel *Channel) {
	for _, key := range []struct {
		name  string
		set   bool
		forms []schemas.ChatProvider
	}{
		{"token", channel.Token != "", []schemas.ChatProvider{schemas.ProviderWebhook}},
		{"callback", channel.Callback != "", []schemas.ChatProvider{schemas.ProviderWebhook}},
		{"page", channel.Page, []schemas.ChatProvider{schemas.ProviderWebhook}},
		{"bot_token", channel.BotToken != "", []schemas.ChatProvider{schemas.ProviderSlack, schemas.ProviderMattermost, schemas.ProviderTelegram}},
		{"bot_user", channel.BotUser != "", []schemas.ChatProvider{schemas.ProviderMattermost}},
		{"url", channel.URL != "", []schemas.ChatProvider{schemas.ProviderMattermost}},
		{"progress", channel.Progress != ProgressNone, []schemas.ChatProvider{schemas.ProviderSlack, schemas.ProviderMattermost, schemas.ProviderTelegram}},
	} {
		if key.set && !slices.Contains(key.forms, channel.Provider) {
			v.problem(path+"."+key.name, "a channel of %s has no use for it", channel.Provider)
		}
	}
}

// secrets checks the form of what a sender proves itself by.
func (v *validator) secrets(path string, provider schemas.ChatProvider, secrets Secrets, token Secret) {
	if len(secrets) > maxSecrets {
		v.problem(path+".secret", "there are %d secrets; at most %d are allowed, one and its successor", len(secrets), maxSecrets)
	}
	for i, secret := range secrets {
		if wrong := wrongSecret(provider, string(secret)); wrong != "" {
			v.problem(fmt.Sprintf("%s.secret[%d]", path, i), "%s", wrong)
		}
	}
	if n := len(token); n > 0 && n < minToken {
		v.problem(path+".token", "it has %d characters; at least %d are needed", n, minToken)
	}
}

// wrongSecret says what a secret would have to be; nothing when it is that.
func wrongSecret(p schemas.ChatProvider, secret string) string {
	switch p {
	case schemas.ProviderWebhook:
		encoded, public := strings.CutPrefix(secret, publicKeyPrefix)
		encoded, prefixed := strings.CutPrefix(encoded, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		fits := prefixed && len(key) >= minKey && len(key) <= maxKey
		if public {
			fits = len(key) == ed25519.PublicKeySize
		}
		if err != nil || public && prefixed || !fits {
			return fmt.Sprintf("a secret is %q and the base64 of %d to %d random bytes, or %q and that of an Ed25519 public key", secretPrefix, minKey, maxKey, publicKeyPrefix)
		}
	case schemas.ProviderSlack, schemas.ProviderMattermost:
		if len(secret) < minToken {
			return fmt.Sprintf("it has %d characters; at least %d are needed", len(secret), minToken)
		}
	case schemas.ProviderTelegram:
		if !telegramSecret.MatchString(secret) {
			return fmt.Sprintf("a secret_token has %d to 256 letters, digits, _ and -", minToken)
		}
	case schemas.ProviderTeams:
		if key, err := base64.StdEncoding.DecodeString(secret); err != nil || len(key) < minTeamsKey {
			return fmt.Sprintf("a security token is the base64 of at least %d bytes, as Teams shows it once", minTeamsKey)
		}
	}
	return ""
}

// sender checks that the channel's sender can prove itself.
func (v *validator) sender(path string, channel *Channel) {
	switch {
	case channel.Provider == schemas.ProviderWebhook && len(channel.Secrets) == 0 && channel.Token == "":
		v.problem(path, "nobody could prove to be this channel: it needs a secret or a token")
	case channel.Provider != schemas.ProviderWebhook && len(channel.Secrets) == 0:
		v.problem(path, "nobody could prove to be this channel: it needs a secret")
	}
	if channel.Page && channel.Provider == schemas.ProviderWebhook && channel.Token == "" {
		v.problem(path+".page", "nobody could sign in: it needs a token")
	}
}

// answers checks that what is needed to answer goes together.
func (v *validator) answers(path string, channel *Channel) {
	switch channel.Provider {
	case schemas.ProviderWebhook:
		v.callback(path, channel)
	case schemas.ProviderSlack, schemas.ProviderTelegram:
		if channel.BotToken == "" {
			v.problem(path, "answers could not be sent: it needs a bot_token")
		}
	case schemas.ProviderMattermost:
		v.mattermost(path, channel)
	case schemas.ProviderTeams: // answers in the response to its request
	}
}

func (v *validator) callback(path string, channel *Channel) {
	if channel.Callback == "" {
		return
	}
	if !isURL(channel.Callback, "https", "http") {
		v.problem(path+".callback", "it is not a URL such as https://example.org/answers")
	}
	if channel.SigningSecret() == "" {
		v.problem(path+".callback", "answers to a callback are signed: it needs a secret that begins with %s", secretPrefix)
	}
}

func (v *validator) mattermost(path string, channel *Channel) {
	if channel.URL != "" && !isURL(channel.URL, "https", "http") {
		v.problem(path+".url", "it is not a URL such as https://mattermost.example.org")
	}
	if channel.BotToken != "" && channel.URL == "" {
		v.problem(path+".bot_token", "it needs the url of the server that it is for")
	}
	if (channel.BotToken == "") != (channel.BotUser == "") {
		v.problem(path, "bot_token and bot_user go together, so that the bot does not answer itself")
	}
	if channel.Progress == ProgressEdit && channel.BotToken == "" {
		v.problem(path+".progress", "messages can be edited only with a bot_token")
	}
}

// SigningSecret returns the secret that answers to a callback are signed with:
// the first that both sides have. Empty when there is none.
func (c *Channel) SigningSecret() string {
	for _, secret := range c.Secrets {
		if strings.HasPrefix(string(secret), secretPrefix) {
			return string(secret)
		}
	}
	return ""
}
