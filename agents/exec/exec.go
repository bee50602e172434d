package exec

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/sentences"
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
	// Files is where the folders of requests are made, PODIUM_DIR; empty means that of
	// temporary files. MaxFiles bounds, in bytes, what a program gets in files, and what it may
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
	Kinds []schemas.TaskKind
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
	if question := slices.IndexFunc(config.Kinds, func(kind schemas.TaskKind) bool { return !kind.IsWork() }); question >= 0 &&
		config.SideEffects == schemas.SideEffectsExternal {
		return nil, fmt.Errorf("exec: a program with side effects outside cannot answer requests of kind %s: it starts only with a permit, "+
			"which there is for work alone; let another agent answer them", config.Kinds[question])
	}
	for _, variable := range config.Env {
		if name, _, _ := strings.Cut(variable, "="); name == "" || strings.ContainsRune(variable, 0) {
			return nil, fmt.Errorf("exec: %q is neither NAME nor NAME=value", name)
		}
	}
	if config.Dir != "" {
		if info, err := os.Stat(config.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("exec: the directory %q does not exist", config.Dir)
		}
	}
	path, err := resolve(config.Command[0], config.Dir)
	if err != nil {
		return nil, fmt.Errorf("exec: the program %q cannot be run: %w", config.Command[0], err)
	}
	config.Files = cmp.Or(config.Files, os.TempDir())
	return &Agent{config: config, path: path, words: loaded}, nil
}

// resolve finds the program once, so that a wrong name shows at the start and
// not at the first request.
func resolve(name, dir string) (string, error) {
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		absolute, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		name = absolute
	}
	return osexec.LookPath(name)
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
	var variables []string
	for _, name := range inherited() {
		if value, set := os.LookupEnv(name); set {
			variables = append(variables, name+"="+value)
		}
	}
	for _, variable := range a.config.Env {
		if strings.Contains(variable, "=") {
			variables = append(variables, variable)
		} else if value, set := os.LookupEnv(variable); set {
			variables = append(variables, variable+"="+value)
		}
	}
	return append(variables,
		"PODIUM_RUN="+request.Run,
		"PODIUM_TASK="+request.Task().TaskID,
		fmt.Sprintf("PODIUM_ATTEMPT=%d", request.Attempt),
		"PODIUM_EFFECT="+request.EffectID,
		"PODIUM_DIR="+files.path,
		"PODIUM_KIND="+string(cmp.Or(request.Task().Context.Kind, schemas.KindWork)),
		"PODIUM_LANGUAGE="+request.Task().Context.Language(),
	)
}
