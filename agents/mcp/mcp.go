package mcp

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rs/zerolog"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
	"podium/schemas/validation"
	"podium/subprocess"
)

// The bounds of a server that the configuration does not bound.
const (
	DefaultTimeout    = time.Minute
	DefaultStart      = 30 * time.Second
	DefaultMaxMessage = 8 << 20 // bytes
	DefaultMaxFiles   = 4 << 20 // bytes
)

// A Config names a tool and the server that has it.
type Config struct {
	// Agent is the name of the agent, for the command that pins its tool.
	Agent string
	// Command is the program of the server and its arguments. A name without a separator is looked up in PATH; a relative
	// path is relative to Dir, where the program starts.
	Command []string
	Dir     string
	// Env lists variables for the program: "NAME" hands on the agent's own value, "NAME=value" sets one.
	Env []string
	// URL is where the server is, instead of a Command. Client makes the calls, and decides where they may go. Key is sent as
	// a bearer token, unless it is empty.
	URL    string
	Client *http.Client
	Key    string
	// Barred reports whether the client has refused to connect, so that no attempt can help; nil is never.
	Barred func(error) bool
	// TooLarge reports whether the client has cut an answer short; nil is never.
	TooLarge func(error) bool
	// Tool is the name of the tool, and Pin what was agreed to of it. Without a pin the agent does nothing.
	Tool string
	Pin  *Pin
	// Timeout bounds one call, and Start how long the server may take until it is ready; 0 means their defaults.
	Timeout, Start time.Duration
	// MaxMessage bounds one message of the server, and MaxFiles the files of one answer, in bytes; 0 means their defaults.
	MaxMessage int
	MaxFiles   int64
	Log        zerolog.Logger

	// Description, both schemas and SideEffects go to the registry; the first three are those of the pinned tool when empty.
	Description  string
	InputSchema  jsontext.Value
	OutputSchema jsontext.Value
	SideEffects  string
}

// An Agent calls a tool for each request. It is safe for use by several goroutines at once.
type Agent struct {
	config Config
	path   string // of the program
	input  *validation.Schema
	words  sentences.Catalog

	connection connection
	calls      calls
}

var _ agent.Handler = (*Agent)(nil)

//go:embed words.json
var wordsFile []byte

// New returns the agent, and starts nothing. It fails when the program of the server does not exist, on an address that
// is none, and on schemas that cannot be read.
func New(config Config) (*Agent, error) {
	words, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	made := &Agent{config: config, words: words}
	if err = made.reachable(); err != nil {
		return nil, err
	}
	if config.Tool == "" {
		return nil, errors.New("mcp: the tool has no name")
	}
	if config.Timeout < 0 || config.Start < 0 || config.MaxMessage < 0 || config.MaxFiles < 0 {
		return nil, errors.New("mcp: timeout, start, max_message and max_files must not be negative")
	}
	made.config.Timeout, made.config.Start = cmp.Or(config.Timeout, DefaultTimeout), cmp.Or(config.Start, DefaultStart)
	made.config.MaxMessage, made.config.MaxFiles = cmp.Or(config.MaxMessage, DefaultMaxMessage), cmp.Or(config.MaxFiles, DefaultMaxFiles)
	if pin := config.Pin; pin != nil {
		if pin.Tool.Name != config.Tool {
			return nil, fmt.Errorf("mcp: the pin is for the tool %q, and not for %q", pin.Tool.Name, config.Tool)
		}
		if len(config.InputSchema) == 0 {
			made.config.InputSchema = pin.Tool.HeldInput()
		}
		if len(config.OutputSchema) == 0 {
			made.config.OutputSchema = pin.Tool.HeldOutput()
		}
	}
	if len(made.config.InputSchema) > 0 {
		if made.input, err = validation.Compile(made.config.InputSchema); err != nil {
			return nil, fmt.Errorf("mcp: the input schema: %w", err)
		}
	}
	made.connection.turn = make(chan struct{}, 1)
	return made, nil
}

// reachable checks where the server is.
func (a *Agent) reachable() (err error) {
	config := &a.config
	switch {
	case len(config.Command) > 0 && config.Command[0] != "" && config.URL == "":
		if err := subprocess.CheckEnvironment(config.Env); err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
		if a.path, err = subprocess.Find(config.Command[0], config.Dir); err != nil {
			return fmt.Errorf("mcp: the program %q cannot be run: %w", config.Command[0], err)
		}
		if err = subprocess.FindScript(config.Command, config.Dir); err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
		return nil
	case config.URL == "" || len(config.Command) > 0:
		return errors.New("mcp: the server needs either a command or a url")
	case config.Client == nil:
		return errors.New("mcp: there is no client, so that nobody decides where calls may go")
	}
	target, err := url.Parse(config.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return errors.New("mcp: the url has to begin with https:// or http://")
	}
	return nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	about := a.config.Description
	if about == "" && a.config.Pin != nil {
		about = a.config.Pin.Tool.Summary()
	}
	if about == "" && a.path != "" {
		about = "Calls the tool " + a.config.Tool + " of " + filepath.Base(a.path) + "."
	}
	return schemas.Agent{
		Kind: "mcp", Description: cmp.Or(about, "Calls the tool "+a.config.Tool+" of a server."),
		InputSchema: a.config.InputSchema, OutputSchema: a.config.OutputSchema, SideEffects: a.config.SideEffects,
	}
}

func (a *Agent) acts() bool { return a.config.SideEffects == schemas.SideEffectsExternal }
