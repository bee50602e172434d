package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"podium/ingest/runs"
	"podium/schemas"
)

// MaxBody is the size limit of a POST in bytes, but for files that come along: see MaxBodyWithFiles.
const MaxBody = 1 << 20

// A Config is what a Adapter needs to know. Fields at zero take the default named.
type Config struct {
	// Channels are the webhooks by name, which is part of their URL.
	Channels map[string]Channel
	// Runs is how what becomes of a message is read.
	Runs runs.Config
	// PublishTimeout bounds the wait for the ledger's acknowledgment; 2 s.
	PublishTimeout time.Duration
	// Receipts bounds how many recent deliveries are remembered; 4096.
	Receipts int
	// BodyTimeout bounds how long a body may take to arrive; 10 s.
	BodyTimeout time.Duration
	// Sealer seals what it takes to answer; without one only the providers that
	// wait for an answer get one.
	Sealer Sealer
	// ReplyWithin is how long an answer can be sent after its message; 30 days.
	ReplyWithin time.Duration
	// Render writes an answer as a provider shows it, so that nothing in it pings
	// or fetches anything; as it is.
	Render func(provider schemas.ChatProvider, text string) string
	// Note shows a line about a run in the chat that its message came from, in the
	// place of the line before; nil shows none. The line is of the time after so many
	// questions of the run were asked.
	Note func(ctx context.Context, channel, replyRef string, questions int, text string) error
	// NoteEvery is the least time before the first line and between two; 2 s.
	NoteEvery time.Duration
	// Pseudonym is what stands in the log for the id of who wrote, so that lines about the same person are found;
	// nil leaves it out.
	Pseudonym func(value string) string
	// Now is the clock that signatures are checked against; time.Now.
	Now func() time.Time
}

// A Channel is one sender of messages and the profile that handles them.
type Channel struct {
	// Provider says which protocol the sender speaks; schemas.ProviderWebhook when empty.
	Provider schemas.ChatProvider
	// Profile handles the messages.
	Profile string
	// Secrets prove the sender, each one by itself. Two are allowed, so that one
	// can replace the other. Webhook: "whsec_" and the base64 of 24 to 64 bytes, or
	// "whpk_" and the base64 of an Ed25519 public key; none are needed with a Token.
	// Slack: the app's signing secret. Mattermost: the token that the integration
	// was given. Telegram: the secret_token of setWebhook. Teams: the security token.
	Secrets []string
	// Token is the bearer token of senders that cannot sign, at least 16
	// characters. It also reads every run of the channel. Webhook only.
	Token string
	// OwnUser is the id or name of the account that answers are posted by: what it
	// says itself is ignored. Mattermost only; the others mark their bots' words.
	OwnUser string
	// Bot says that answers can be posted with a token of the provider, and Links
	// that the URLs are trusted which a message brings for its answer. Without the
	// one that it takes, Mattermost's request is held for the answer.
	Bot, Links bool
	// Progress shows how far a run is by Config.Note.
	Progress bool
	// Language is that of the adapter's own words to those whose language nothing tells.
	Language string
}

// A Sealer makes what only the agent that delivers answers can open.
type Sealer interface {
	// Seal returns text that says nothing to anybody else, and nothing to the agent
	// from the moment expires on or for another channel. It is at most 4 KiB long
	// when the route is at most 2 KiB.
	Seal(channel string, route *schemas.ChatRoute, expires time.Time) (string, error)
}

// channelName keeps a channel's name a plain part of URLs and of event ids.
var channelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (c Config) withDefaults() Config {
	c.PublishTimeout = cmp.Or(c.PublishTimeout, 2*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 10*time.Second)
	c.ReplyWithin = cmp.Or(c.ReplyWithin, 30*24*time.Hour)
	c.NoteEvery = cmp.Or(c.NoteEvery, 2*time.Second)
	c.Receipts = cmp.Or(c.Receipts, 4096)
	c.Runs = c.Runs.WithDefaults()
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Render == nil {
		c.Render = func(_ schemas.ChatProvider, text string) string { return text }
	}
	return c
}

// channels checks every channel and names all that is wrong with them.
func (c Config) channels() (map[string]*channel, error) {
	made := make(map[string]*channel, len(c.Channels))
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		checked, err := c.Channels[name].check()
		if err == nil && !channelName.MatchString(name) {
			err = errors.New("the name may have letters, digits, '.', '_' and '-', at most 63, and begins with a letter or digit")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("chat channel %q: %w", name, err))
			continue
		}
		made[name] = checked
	}
	return made, errors.Join(wrong...)
}

func (c Channel) check() (*channel, error) {
	if c.Profile == "" {
		return nil, errors.New("it names no profile")
	}
	made := &channel{
		kind: cmp.Or(c.Provider, schemas.ProviderWebhook), profile: c.Profile, language: c.Language, progress: c.Progress,
	}
	var err error
	made.provider, err = c.provider()
	return made, err
}
