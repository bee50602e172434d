package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"podium/schemas"
)

// A Config is one podium.yaml.
type Config struct {
	Ledger   Ledger             `yaml:"ledger" doc:"Where the state is kept."`
	HTTP     HTTP               `yaml:"http" doc:"The listener of chat doors and console."`
	Mail     Mail               `yaml:"mail" doc:"Mailboxes that are read and answered."`
	Chat     Chat               `yaml:"chat" doc:"Chat channels that post to the webhook."`
	Agents   map[string]Agent   `yaml:"agents" doc:"Who can be given work, by name."`
	Profiles map[string]Profile `yaml:"profiles" doc:"How a conversation is handled, by name."`

	// Directory is where the file lies; programs of exec agents start there.
	Directory string `yaml:"-"`

	places map[string]place
	file   string
}

// Ledger says where the state is kept.
type Ledger struct {
	Data       string     `yaml:"data" default:"./podium-data" doc:"Directory of the ledger and its credentials, relative to where podium is started."`
	Durability Durability `yaml:"durability" enum:"fsync interval" default:"fsync" doc:"fsync: what was acknowledged survives power loss. interval: it survives a crash of the process, and is several times faster."`
	Shards     int        `yaml:"shards" min:"1" max:"256" doc:"Units of ownership, fixed when the ledger is created; another number for an existing ledger is an error. Default: as the ledger has, and for a new one the processor's cores, at most 4."`
	NATS       *NATS      `yaml:"nats" doc:"A NATS cluster instead of the embedded server."`
}

// Durability says what an acknowledged message survives.
type Durability string

// The durabilities.
const (
	DurabilityFsync    Durability = "fsync"    // power loss
	DurabilityInterval Durability = "interval" // a crash of the process
)

// NATS names a cluster that holds the ledger.
type NATS struct {
	URL         string `yaml:"url" required:"true" doc:"nats://, tls://, ws:// or wss://; several separated by commas."`
	Credentials string `yaml:"credentials" doc:"Path of the credentials file of the core account."`
}

// HTTP is the listener of chat doors and console.
type HTTP struct {
	Listen string `yaml:"listen" default:"127.0.0.1:8080" doc:"Address and port; loopback unless you say otherwise."`
}

// Mail holds the mail accounts.
type Mail struct {
	Accounts []Account `yaml:"accounts" doc:"Mailboxes, each with the server that sends its answers."`
}

// An Account is one mailbox and the server that sends its answers.
type Account struct {
	Name    string `yaml:"name" required:"true" doc:"Short name: a-z, 0-9, _ and -, at most 63."`
	Profile string `yaml:"profile" required:"true" doc:"The profile that handles its mail."`
	IMAP    IMAP   `yaml:"imap" required:"true" doc:"Where mail comes in."`
	SMTP    SMTP   `yaml:"smtp" required:"true" doc:"Where answers go out."`
	Since   Since  `yaml:"since" default:"now" doc:"What of an existing mailbox is answered: now (only mail that arrives from now on), all, or a date such as 2026-01-31."`
}

// Encryption says how a connection to a mail server is protected.
type Encryption string

// The encryptions (RFC 8314 prefers implicit).
const (
	EncryptionImplicit Encryption = "implicit" // TLS from the first byte
	EncryptionStartTLS Encryption = "starttls" // TLS after a greeting; refused when the server does not offer it
	EncryptionNone     Encryption = "none"     // only to this machine
)

// IMAP is where mail comes in.
type IMAP struct {
	Host     string           `yaml:"host" required:"true" doc:"Name or address of the server."`
	Port     int              `yaml:"port" min:"1" max:"65535" doc:"Default: 993 with implicit TLS, else 143."`
	TLS      Encryption       `yaml:"tls" enum:"implicit starttls none" default:"implicit" doc:"none is for a server on this machine only."`
	Username string           `yaml:"username" required:"true"`
	Password Secret           `yaml:"password" required:"true"`
	Mailbox  string           `yaml:"mailbox" default:"INBOX"`
	Poll     schemas.Duration `yaml:"poll" default:"1m" doc:"Between looks at the mailbox, as long as its announcements of new mail have not proved trustworthy."`
}

// SMTP is where answers go out.
type SMTP struct {
	Host     string     `yaml:"host" required:"true" doc:"Name or address of the server."`
	Port     int        `yaml:"port" min:"1" max:"65535" doc:"Default: 465 with implicit TLS, 587 with starttls, else 25."`
	TLS      Encryption `yaml:"tls" enum:"implicit starttls none" default:"implicit" doc:"none is for a server on this machine only."`
	Username string     `yaml:"username" doc:"Absent: the server asks for none."`
	Password Secret     `yaml:"password"`
	From     string     `yaml:"from" required:"true" doc:"The address that answers come from, such as: Support <support@example.org>."`
}

// Chat holds the chat channels.
type Chat struct {
	Channels map[string]Channel `yaml:"channels" doc:"Channels by name; each posts to /v1/chat/<name>."`
}

// A Channel is one sender of chat messages. It proves itself by a signature
// (Standard Webhooks) or by a bearer token.
type Channel struct {
	Profile  string  `yaml:"profile" required:"true" doc:"The profile that handles its messages."`
	Secrets  Secrets `yaml:"secret" min:"1" doc:"Signing secret, or a list while one replaces the other; every one of them is accepted."`
	Token    Secret  `yaml:"token" doc:"Bearer token for a sender that cannot sign."`
	Callback string  `yaml:"callback" doc:"URL that answers are posted to. Without it the sender waits or asks."`
}

// AgentKind is what an agent is made of.
type AgentKind string

// The agent kinds.
const (
	KindCalculator AgentKind = "calculator"
	KindEcho       AgentKind = "echo"
	KindExec       AgentKind = "exec"       // a program: the request on stdin, the answer on stdout
	KindExternal   AgentKind = "external"   // runs elsewhere and joins by NATS
	KindSupervisor AgentKind = "supervisor" // a profile of this file: its work is other agents' work
	KindMail       AgentKind = "mail"       // delivers answers by SMTP
	KindChat       AgentKind = "chat"       // delivers answers to a channel
)

// An Agent is one entry of the agents section.
type Agent struct {
	Kind         AgentKind        `yaml:"kind" required:"true" enum:"calculator echo exec external supervisor mail chat" doc:"What it is made of."`
	Description  string           `yaml:"description" doc:"What it can do, in one sentence."`
	Concurrency  int              `yaml:"concurrency" min:"1" max:"1024" default:"3" doc:"Requests at a time, over all its processes."`
	Command      []string         `yaml:"command" min:"1" doc:"exec: program and arguments. It starts in the directory of this file."`
	Timeout      schemas.Duration `yaml:"timeout" default:"30s" doc:"exec: after this the program and all it started are killed."`
	Env          []string         `yaml:"env" min:"1" doc:"exec: NAME=value, or NAME to hand a variable on."`
	SideEffects  string           `yaml:"side_effects" enum:"external" doc:"external when it reaches people or systems outside: it asks before it acts, so that it does so once, and not after the run was cancelled."`
	Profile      string           `yaml:"profile" doc:"supervisor: the profile that handles its requests."`
	Heartbeat    schemas.Duration `yaml:"heartbeat" doc:"external: how often it promises a sign of life while it works; after three that did not come it has crashed."`
	Breaker      Breaker          `yaml:"breaker" doc:"When it is not asked for a while, because it fails."`
	InputSchema  JSON             `yaml:"input_schema" doc:"JSON Schema of the arguments that it takes; a request that breaks it is never sent."`
	OutputSchema JSON             `yaml:"output_schema" doc:"JSON Schema of the data that it answers; an answer that breaks it is asked for again."`
}

// A Breaker says when an agent is not asked any more, and how long (M-28).
type Breaker struct {
	Failures int              `yaml:"failures" min:"1" max:"1000" default:"5" doc:"After so many in a row; a success in between counts anew."`
	Within   schemas.Duration `yaml:"within" default:"30s" doc:"The time in which they have to fall."`
	Open     schemas.Duration `yaml:"open" default:"30s" doc:"How long it is not asked. Then one request decides."`
}

// Load reads a file and returns it as Parse does.
func Load(path string) (*Config, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	config, err := Parse(body, path)
	if err != nil {
		return nil, err
	}
	if config.Directory, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("find the directory of the configuration: %w", err)
	}
	return config, nil
}

// Parse reads a configuration, validates it and returns it with its defaults.
// The name stands for the file in errors, which are Problems.
func Parse(body []byte, name string) (*Config, error) { return parse(body, name, os.LookupEnv) }

func parse(body []byte, name string, lookup lookupFunc) (*Config, error) {
	config, err := decode(body, name, lookup)
	if err != nil {
		return nil, err
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	complete := config.WithDefaults()
	return &complete, nil
}

// ProblemsOf returns the problems that an error of Load or Parse holds, in the
// order of the file; nil when it is another kind of error.
func ProblemsOf(err error) Problems {
	problems, _ := errors.AsType[Problems](err)
	return problems
}
