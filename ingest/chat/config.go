package chat

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MaxBody is the size limit of a POST in bytes.
const MaxBody = 1 << 20

// minCapabilityKey is the least that a keyed hash needs to be unguessable, in bytes.
const minCapabilityKey = 32

// A Config is what a Door needs to know. Fields at zero take the default named.
type Config struct {
	// Channels are the webhooks by name, which is part of their URL.
	Channels map[string]Channel
	// CapabilityKey signs the keys in run URLs: at least 32 random bytes, the
	// same after a restart, or the URLs given out before open nothing.
	CapabilityKey []byte
	// BaseURL stands before the path of every URL given out, such as
	// "https://podium.example.org". Without it they are relative to the host.
	BaseURL string
	// MaxWait bounds "Prefer: wait=N"; 60 s.
	MaxWait time.Duration
	// PublishTimeout bounds the wait for the ledger's acknowledgment; 2 s.
	PublishTimeout time.Duration
	// Heartbeat is the pause after which an idle event stream gets a comment; 15 s.
	Heartbeat time.Duration
	// WriteTimeout bounds one write to an event stream's reader; 30 s.
	WriteTimeout time.Duration
	// Receipts bounds how many recent deliveries are remembered; 4096.
	Receipts int
	// Readers bounds how many requests may wait or follow events at once; 1024.
	Readers int
	// Now is the clock that signatures are checked against; time.Now.
	Now func() time.Time
}

// A Channel is one webhook. It needs a secret, a token, or both; either will do
// for a sender.
type Channel struct {
	// Profile handles the messages.
	Profile string
	// Secrets sign requests by Standard Webhooks 1.0: "whsec_" and the base64 of
	// 24 to 64 bytes. Two are allowed, so that one can replace the other.
	Secrets []string
	// Token is the bearer token of senders that cannot sign, at least 16
	// characters. It also reads every run of the channel.
	Token string
}

// channelName keeps a channel's name a plain part of URLs and of event ids.
var channelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (c Config) withDefaults() Config {
	setDefault(&c.MaxWait, time.Minute)
	setDefault(&c.PublishTimeout, 2*time.Second)
	setDefault(&c.Heartbeat, 15*time.Second)
	setDefault(&c.WriteTimeout, 30*time.Second)
	setDefault(&c.Receipts, 4096)
	setDefault(&c.Readers, 1024)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return c
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// channels checks every channel and names all that is wrong with them.
func (c Config) channels() (map[string]channel, error) {
	if len(c.CapabilityKey) < minCapabilityKey {
		return nil, fmt.Errorf("the capability key has %d bytes: at least %d are needed", len(c.CapabilityKey), minCapabilityKey)
	}
	made := make(map[string]channel, len(c.Channels))
	var wrong []error
	for name, configured := range c.Channels {
		checked, err := configured.check()
		if err == nil && !channelName.MatchString(name) {
			err = errors.New("the name may have letters, digits, '.', '_' and '-', at most 63, and begins with a letter or digit")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("chat channel %q: %w", name, err))
			continue
		}
		made[name] = checked
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return made, errors.Join(wrong...)
}

func (c Channel) check() (channel, error) {
	switch {
	case c.Profile == "":
		return channel{}, errors.New("it names no profile")
	case len(c.Secrets) == 0 && c.Token == "":
		return channel{}, errors.New("it has neither a secret nor a token, so that anybody could send")
	}
	verifier, err := newVerifier(c.Secrets, c.Token)
	return channel{profile: c.Profile, verifier: verifier}, err
}
