package installation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/embedded"
	"podium/bus/embedded/recovery"
	"podium/bus/embedded/wholefile"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
	"podium/cmd/podium/config"
	"podium/schemas"
)

// An Instance is what a running podium says of itself in DATA/instance.json, so
// that every other verb finds it.
type Instance struct {
	PID     int       `json:"pid"`
	Data    string    `json:"data"` // absolute path of its data directory
	Started time.Time `json:"started"`
	NATS    string    `json:"nats"`
	// Embedded says that the ledger is in the data directory, on the disk under it.
	Embedded    bool     `json:"embedded,omitempty"`
	HTTP        string   `json:"http,omitempty"`
	Config      string   `json:"config,omitempty"` // absolute path of the configuration in force
	Credentials string   `json:"credentials"`      // directory of the keys that the instance has made
	Core        string   `json:"core"`             // file of the core account's seed
	Profiles    []string `json:"profiles"`         // in force, in lexical order
	// Entry is the one of them that words go to which name none; empty when there are several.
	Entry  string   `json:"entry,omitzero"` // the one of them that words go to which name none; empty when there are several
	Agents []string `json:"agents"`         // of the configuration, in lexical order
	// People are who is asked by those of the agents that are people, by the agent's name.
	People map[string][]string `json:"people,omitempty"`
	// External are those of the agents that other processes may serve, by name.
	External map[string]ExternalAgent `json:"external"`
}

// An ExternalAgent is what a process needs to know that serves one.
type ExternalAgent struct {
	Seed string `json:"seed"` // file of its key
	// Timeout is how long podium.yaml lets it work on a request; Work is how long the
	// profiles that use it wait for an answer, by name.
	Timeout schemas.Duration            `json:"timeout,omitzero"`
	Work    map[string]schemas.Duration `json:"work,omitempty"`
	// SideEffects and Heartbeat are what podium.yaml says of it: a process that serves it has to announce the one, and to
	// keep the other.
	SideEffects string           `json:"side_effects,omitzero"`
	Heartbeat   schemas.Duration `json:"heartbeat,omitzero"`
}

// DescribeExternalAgent returns what podium.yaml says of an external agent to the process that serves it: seed is the file
// of its key, and work how long the profiles that use it wait.
func DescribeExternalAgent(agent *config.Agent, work map[string]schemas.Duration, seed string) ExternalAgent {
	return ExternalAgent{Seed: seed, Timeout: agent.Timeout, Work: work, SideEffects: agent.SideEffects, Heartbeat: agent.Heartbeat}
}

// ErrNotRunning reports a data directory that no instance runs on.
var ErrNotRunning = errors.New("no podium runs")

// ErrNoAgent reports an agent that the running instance does not know.
var ErrNoAgent = errors.New("there is no agent")

func instanceFile(data string) string { return filepath.Join(data, "instance.json") }

// Write says of an instance what other verbs need to find it.
func (i Instance) Write() error {
	body, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Replace(instanceFile(i.Data), append(body, '\n'))
}

// FindInstance returns the instance that runs on a data directory. It reports
// false when there is none, or when the one that wrote the file is gone: there
// is no such process, or nobody listens where it did. A file that cannot be read to
// its end is that of a start whose machine lost its power, and one that names another
// directory has come with a copy of that.
func FindInstance(data string) (Instance, bool, error) {
	body, err := os.ReadFile(instanceFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return Instance{}, false, nil
	}
	if err != nil {
		return Instance{}, false, fmt.Errorf("find the running instance: %w", err)
	}
	var instance Instance
	if whole := json.Unmarshal(body, &instance) == nil; !whole || !sameFolder(data, instance.Data) {
		return Instance{}, false, nil
	}
	// The listener is its own; a NATS cluster goes on without it.
	return instance, alive(instance.PID) && answers(cmp.Or(instance.HTTP, instance.NATS)), nil
}

func sameFolder(a, b string) bool {
	one, missing := os.Stat(a)
	other, err := os.Stat(b)
	return missing == nil && err == nil && os.SameFile(one, other)
}

func alive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = process.Signal(syscall.Signal(0))
	// Windows cannot ask so; there, a process that is gone is not found.
	return err == nil || errors.Is(err, os.ErrPermission) || errors.Is(err, errors.ErrUnsupported)
}

// dialTimeout bounds the look at whether a server answers.
const dialTimeout = 2 * time.Second

// answers reports whether one of the servers of a list takes connections. A
// process id alone proves nothing: after a crash of the machine, or in a
// container, the same number is soon somebody else's.
func answers(servers string) bool {
	for server := range strings.SplitSeq(servers, ",") {
		parsed, err := url.Parse(strings.TrimSpace(server))
		if err != nil {
			continue
		}
		host := parsed.Hostname()
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		address := net.JoinHostPort(host, cmp.Or(parsed.Port(), "4222"))
		if connection, err := net.DialTimeout("tcp", address, dialTimeout); err == nil { //nolint:noctx // it has a timeout
			_ = connection.Close()
			return true
		}
	}
	return false
}

// An Opening opens a ledger at rest: LookAtRest or OpenAtRest.
type Opening func(ctx context.Context, data string, log zerolog.Logger) (*Ledger, error)

// Attach connects to the ledger of a running instance, or opens it at rest.
func Attach(ctx context.Context, data string, atRest Opening, log zerolog.Logger) (*Ledger, error) {
	instance, running, err := FindInstance(data)
	if err != nil {
		return nil, err
	}
	if !running {
		return atRest(ctx, data, log)
	}
	lost, err := recovery.Known(data)
	if err != nil {
		return nil, err
	}
	settings := jetstream.Config{URL: instance.NATS, SeedFile: instance.Core, Name: "command line", Logger: log}
	if instance.Embedded {
		settings.Free = embedded.Free(data)
	}
	core, err := jetstream.Connect(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("connect to the running instance (process %d): %w", instance.PID, err)
	}
	return &Ledger{Core: core, Data: data, URL: instance.NATS, Losses: SortLosses(lost, nil), log: log}, nil
}

// ErrNotExternal reports an agent that no other process may serve.
var ErrNotExternal = errors.New("this agent is not let in")

// AttachWorker connects to a running instance as an external agent, with the key
// that the instance has made for it, and says what the instance knows of it.
func AttachWorker(ctx context.Context, data, agent string, log zerolog.Logger) (*worker.Worker, ExternalAgent, error) {
	var none ExternalAgent
	instance, running, err := FindInstance(data)
	if err != nil {
		return nil, none, err
	}
	if !running {
		return nil, none, fmt.Errorf("%w on %s; start one with `podium up --data %s`", ErrNotRunning, data, data)
	}
	external, ok := instance.External[agent]
	switch {
	case ok:
	case slices.Contains(instance.Agents, agent):
		return nil, none, fmt.Errorf("%w: the running instance serves %s itself, or has revoked it (`podium agents` tells which); with `%s: {kind: external}` in podium.yaml `podium agents add %s` takes it in",
			ErrNotExternal, agent, agent, agent)
	default:
		return nil, none, fmt.Errorf("%w %q: add `%s: {kind: external}` to agents in podium.yaml and restart", ErrNoAgent, agent, agent)
	}
	worker, err := worker.Connect(ctx, worker.Config{URL: instance.NATS, SeedFile: external.Seed, Agent: agent, Logger: log})
	return worker, external, err
}
