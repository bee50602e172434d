package config

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"podium/schemas"
)

// Validate checks what needs more than one value of the file to be seen, or more
// than a tag to be said. The error is Problems, in the order of the file.
func (c *Config) Validate() error {
	v := &validator{config: c, languages: Languages()}
	v.ledger()
	v.listen()
	v.mail()
	v.chat()
	v.agents()
	v.tiers()
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		v.profile(name)
	}
	return v.problems.sorted()
}

type validator struct {
	config    *Config
	languages []schemas.Language
	problems  Problems
}

// problem names the value at a path, or the section around one that was left out.
func (v *validator) problem(path, format string, args ...any) {
	at, inner := v.config.places[path], path
	for at.line == 0 && inner != "" {
		inner = inner[:max(0, strings.LastIndexAny(inner, ".["))]
		at = v.config.places[inner]
	}
	v.problems = append(v.problems, &Problem{
		File: v.config.file, Line: at.line, Column: at.column, Path: path, Message: fmt.Sprintf(format, args...),
	})
}

func (v *validator) ledger() {
	if nats := v.config.Ledger.NATS; nats != nil {
		for server := range strings.SplitSeq(nats.URL, ",") {
			if !isURL(strings.TrimSpace(server), "nats", "tls", "ws", "wss") {
				v.problem("ledger.nats.url", "it is not a list of addresses such as nats://host:4222")
			}
		}
	}
}

func (v *validator) listen() {
	if listen := v.config.HTTP.Listen; listen != "" {
		if _, port, err := net.SplitHostPort(listen); err != nil || port == "" {
			v.problem("http.listen", "%q is not an address with a port, such as 127.0.0.1:8080", listen)
		}
	}
}

func (v *validator) mail() {
	seen := map[string]bool{}
	for i := range v.config.Mail.Accounts {
		account := &v.config.Mail.Accounts[i]
		path := fmt.Sprintf("mail.accounts[%d]", i)
		v.name(path+".name", account.Name)
		if seen[account.Name] {
			v.problem(path+".name", "there are two accounts %q", account.Name)
		}
		seen[account.Name] = true
		v.profileExists(path+".profile", account.Profile)
		v.encryption(path+".imap.tls", account.IMAP.TLS, account.IMAP.Host)
		v.encryption(path+".smtp.tls", account.SMTP.TLS, account.SMTP.Host)
		if (account.SMTP.Username == "") != (account.SMTP.Password == "") {
			v.problem(path+".smtp", "username and password go together")
		}
		if _, err := mail.ParseAddress(account.SMTP.From); err != nil {
			v.problem(path+".smtp.from", "it is not an address such as Support <support@example.org>")
		}
	}
}

func (v *validator) encryption(path string, encryption Encryption, host string) {
	if encryption == EncryptionNone && !isLoopback(host) {
		v.problem(path, "none would send mail and password readable over the network; it is for a server on this machine only")
	}
}

// The bounds of Standard Webhooks 1.0, and what makes a token hard to guess.
const (
	secretPrefix = "whsec_"
	minKey       = 24 // bytes
	maxKey       = 64 // bytes
	maxSecrets   = 2
	minToken     = 16 // characters
)

func (v *validator) chat() {
	for _, name := range slices.Sorted(maps.Keys(v.config.Chat.Channels)) {
		channel, path := v.config.Chat.Channels[name], "chat.channels."+name
		v.name(path, name)
		v.profileExists(path+".profile", channel.Profile)
		if len(channel.Secrets) == 0 && channel.Token == "" {
			v.problem(path, "nobody could prove to be this channel: it needs a secret or a token")
		}
		if len(channel.Secrets) > maxSecrets {
			v.problem(path+".secret", "there are %d secrets; at most %d are allowed, one and its successor", len(channel.Secrets), maxSecrets)
		}
		for i, secret := range channel.Secrets {
			encoded, prefixed := strings.CutPrefix(string(secret), secretPrefix)
			key, err := base64.StdEncoding.DecodeString(encoded)
			if !prefixed || err != nil || len(key) < minKey || len(key) > maxKey {
				v.problem(fmt.Sprintf("%s.secret[%d]", path, i), "a secret is %q and the base64 of %d to %d random bytes", secretPrefix, minKey, maxKey)
			}
		}
		if n := len(channel.Token); n > 0 && n < minToken {
			v.problem(path+".token", "it has %d characters; at least %d are needed", n, minToken)
		}
		v.callback(path, &channel)
	}
}

func (v *validator) callback(path string, channel *Channel) {
	if channel.Callback == "" {
		return
	}
	if !isURL(channel.Callback, "https", "http") {
		v.problem(path+".callback", "it is not a URL such as https://example.org/answers")
	}
	if len(channel.Secrets) == 0 {
		v.problem(path+".callback", "answers to a callback are signed: it needs a secret")
	}
}

func (v *validator) agents() {
	for _, name := range slices.Sorted(maps.Keys(v.config.Agents)) {
		agent, path := v.config.Agents[name], "agents."+name
		v.name(path, name)
		if (agent.Kind == KindMail) != (name == MailAgent) || (agent.Kind == KindChat) != (name == ChatAgent) {
			v.problem(path, "the agents that deliver answers are named as their kind: %s and %s", MailAgent, ChatAgent)
		}
		v.agentKeys(path, &agent)
		if agent.Kind != KindExec {
			continue
		}
		if len(agent.Command) == 0 || agent.Command[0] == "" {
			v.problem(path, "an agent of kind exec needs a command")
		}
		for i, variable := range agent.Env {
			if name, _, _ := strings.Cut(variable, "="); name == "" {
				v.problem(fmt.Sprintf("%s.env[%d]", path, i), "it is neither NAME nor NAME=value")
			}
		}
	}
}

// agentKeys refuses keys that mean nothing for an agent's kind.
func (v *validator) agentKeys(path string, agent *Agent) {
	for _, key := range []struct {
		name  string
		set   bool
		kinds []AgentKind
	}{
		{"command", len(agent.Command) > 0, []AgentKind{KindExec}},
		{"timeout", agent.Timeout != 0, []AgentKind{KindExec}},
		{"env", len(agent.Env) > 0, []AgentKind{KindExec}},
		{"side_effects", agent.SideEffects != "", []AgentKind{KindExec, KindExternal}},
		{"heartbeat", agent.Heartbeat != 0, []AgentKind{KindExternal}},
		{"profile", agent.Profile != "", []AgentKind{KindSupervisor}},
	} {
		if key.set && !slices.Contains(key.kinds, agent.Kind) {
			v.problem(path+"."+key.name, "only agents of kind %s have it", kindsOf(key.kinds))
		}
	}
	if agent.Kind == KindSupervisor {
		v.profileExists(path+".profile", agent.Profile)
	}
	for name, schema := range map[string]JSON{"input_schema": agent.InputSchema, "output_schema": agent.OutputSchema} {
		if len(schema) == 0 {
			continue
		}
		if _, err := schemas.CompileCheck(schema); err != nil {
			v.problem(path+"."+name, "%v", err)
		}
	}
}

func kindsOf(kinds []AgentKind) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return strings.Join(names, " and ")
}

func (v *validator) name(path, name string) {
	if !schemas.ValidAgentName(name) {
		v.problem(path, "%q is not a name: 1 to 63 of a-z, 0-9, _ and -", name)
	}
}

func (v *validator) profileExists(path, name string) {
	if _, ok := v.config.Profiles[name]; !ok {
		v.problem(path, "%s", suggest(fmt.Sprintf("there is no profile %q", name), name, slices.Collect(maps.Keys(v.config.Profiles))))
	}
}

func isURL(text string, schemes ...string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Host != "" && slices.Contains(schemes, parsed.Scheme)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
