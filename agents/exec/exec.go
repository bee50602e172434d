package exec

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
	"podium/subprocess"
)

// The bounds of a program that the configuration does not bound.
const (
	DefaultTimeout   = 5 * time.Minute
	DefaultMaxOutput = 8 << 20   // bytes
	DefaultMaxFiles  = 100 << 20 // bytes
)

// A Config names a program and bounds it.
type Config struct {
	// Command is the program and its arguments. A name without a separator is
	// looked up in PATH; a relative path is relative to Dir.
	Command []string
	// Dir is the working directory; empty means the agent's own.
	Dir string
	// Env lists variables for the program: "NAME" hands on the agent's own
	// value, "NAME=value" sets one.
	Env []string
	// Timeout bounds one run of the program; 0 means DefaultTimeout.
	Timeout time.Duration
	// MaxOutput bounds standard output, in bytes; 0 means DefaultMaxOutput.
	MaxOutput int
	// Files is where the folders of requests are made, PODIUM_DIR; empty means one of this
	// user's among the temporary files. MaxFiles bounds, in bytes, what a program gets in files, and what it may
	// make; 0 means DefaultMaxFiles.
	Files    string
	MaxFiles int64

	// Description, both schemas and SideEffects go to the registry; all may be empty.
	// With schemas.SideEffectsExternal the program is started only once it is permitted.
	Description  string
	InputSchema  jsontext.Value
	OutputSchema jsontext.Value
	SideEffects  string
	// Kinds are those of the requests that it answers, for agent.Serve; none is work. A
	// program with side effects outside can answer no questions, because for these
	// nobody is permitted to start it.
	Kinds []schemas.RequestKind
}

// An Agent runs a program for each request. It is safe for use by several
// goroutines at once.
type Agent struct {
	config Config
	path   string
	words  sentences.Catalog
	swept  sync.Once // what killed processes have left in Config.Files
}

var _ agent.Handler = (*Agent)(nil)

// New returns the agent. It fails when the program does not exist or may not be
// executed, or when the configuration contradicts itself.
func New(config Config) (*Agent, error) {
	loaded, err := sentences.Read(wordsFile)
	if err != nil {
		return nil, err
	}
	if len(config.Command) == 0 || config.Command[0] == "" {
		return nil, errors.New("exec: the command is empty; name a program")
	}
	if config.Timeout < 0 || config.MaxOutput < 0 || config.MaxFiles < 0 {
		return nil, errors.New("exec: timeout, max_output and max_files must not be negative")
	}
	config.Timeout = cmp.Or(config.Timeout, DefaultTimeout)
	config.MaxOutput, config.MaxFiles = cmp.Or(config.MaxOutput, DefaultMaxOutput), cmp.Or(config.MaxFiles, DefaultMaxFiles)
	if question := slices.IndexFunc(config.Kinds, func(kind schemas.RequestKind) bool { return !kind.IsWork() }); question >= 0 &&
		config.SideEffects == schemas.SideEffectsExternal {
		return nil, fmt.Errorf("exec: a program with side effects outside cannot answer requests of kind %s: it starts only with a permit, "+
			"which there is for work alone; let another agent answer them", config.Kinds[question])
	}
	if err := subprocess.CheckEnvironment(config.Env); err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	if config.Dir != "" {
		if info, err := os.Stat(config.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("exec: the directory %q does not exist", config.Dir)
		}
	}
	path, err := subprocess.Find(config.Command[0], config.Dir) // a wrong name shows at the start, and not at the first request
	if err != nil {
		return nil, fmt.Errorf("exec: the program %q cannot be run: %w", config.Command[0], err)
	}
	if err = subprocess.FindScript(config.Command, config.Dir); err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	config.Files = cmp.Or(config.Files, filepath.Join(os.TempDir(), fmt.Sprintf("podium-requests-%d", os.Getuid())))
	return &Agent{config: config, path: path, words: loaded}, nil
}

// Description is the agent's entry in the registry, but for its name.
func (a *Agent) Description() schemas.Agent {
	entry := schemas.Agent{
		Kind:        "exec",
		Description: cmp.Or(a.config.Description, "Runs the program "+filepath.Base(a.path)+"."),
		InputSchema: a.config.InputSchema, OutputSchema: a.config.OutputSchema,
		SideEffects: a.config.SideEffects,
		Kinds:       a.config.Kinds,
	}
	if len(entry.InputSchema) == 0 {
		entry.InputSchema = jsontext.Value(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`)
	}
	return entry
}

// environment is everything that the program sees of ours.
func (a *Agent) environment(request *agent.Request, files *folder) []string {
	return append(subprocess.Environment(a.config.Env),
		"PODIUM_RUN="+plainVariable(request.Run),
		"PODIUM_TASK="+plainVariable(request.Task().TaskID),
		fmt.Sprintf("PODIUM_ATTEMPT=%d", request.Attempt),
		"PODIUM_EFFECT="+plainVariable(request.EffectID),
		"PODIUM_DIR="+files.path,
		"PODIUM_KIND="+string(cmp.Or(request.Task().Context.Kind, schemas.KindWork)),
		"PODIUM_LANGUAGE="+plainVariable(request.Task().Context.Language()),
	)
}

// maxVariable bounds what a request contributes to the environment, in bytes for each variable.
const maxVariable = 1 << 10

// plainVariable is what a request says, as an environment may hold it: no program fails to start by it.
func plainVariable(text string) string {
	return strings.ReplaceAll(text[:min(len(text), maxVariable)], "\x00", "")
}
