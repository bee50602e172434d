package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"podium/bus"
	"podium/bus/embedded"
)

// Role is what a process that a measurement starts does.
type role string

const (
	roleAgents    role = "agents"    // the agents of Podium
	roleBare      role = "bare"      // the agents of the bare bus
	roleServer    role = "server"    // the ledger
	roleConductor role = "conductor" // what conducts, with the ledger when no URL is given
)

// An assignment is what a process is told: the first line that it reads. Each
// further line is a question; the end of input ends it.
type assignment struct {
	Role        role                   `json:"role"`
	Workload    string                 `json:"workload"`
	URL         string                 `json:"url,omitempty"`
	Seed        string                 `json:"seed,omitempty"`        // the core's key file
	Seeds       map[string]string      `json:"seeds,omitempty"`       // key files of the agents to be, by name
	Concurrency int                    `json:"concurrency,omitempty"` // of each agent
	Responses   map[string]bus.Message `json:"responses,omitempty"`   // of the bare bus, by task
	Dir         string                 `json:"dir,omitempty"`         // of the ledger
	Durability  embedded.Durability    `json:"durability,omitempty"`
	Shards      int                    `json:"shards,omitempty"`
	Open        []int                  `json:"open,omitempty"` // by shard, the open runs that it must have loaded to be ready
}

// A question asks a process for a report.
type question struct {
	Heap    bool   `json:"heap,omitempty"`    // collect garbage and say what is left
	Profile string `json:"profile,omitempty"` // write a profile of the processor's time to this file from now on
	Rest    bool   `json:"rest,omitempty"`    // end that profile
}

// A report is one line that a process says: the first when it is ready, then one
// for each question.
type report struct {
	CPU   time.Duration `json:"cpu"`
	Heap  uint64        `json:"heap,omitempty"` // bytes
	URL   string        `json:"url,omitempty"`  // of the ledger in it
	Error string        `json:"error,omitempty"`
}

// A process is another process, as the driver sees it.
type process struct {
	assigned role
	command  *exec.Cmd
	input    io.WriteCloser
	output   *os.File
	reports  *json.Decoder
	url      string

	exited chan struct{}
	failed error // set before exited is closed
}

// start runs a process and returns when it is ready.
func start(ctx context.Context, config Config, given assignment) (*process, error) {
	if len(config.Process) == 0 {
		return nil, errors.New("no command runs the other processes")
	}
	// It ends with its input; a context would end it in the middle of the last ack.
	command := exec.CommandContext(context.WithoutCancel(ctx), config.Process[0], config.Process[1:]...) //nolint:gosec // our own binary
	command.Stderr = config.Stderr
	command.Env = append(os.Environ(), config.Env...)
	p := &process{assigned: given.Role, command: command, exited: make(chan struct{})}
	var err error
	if p.input, err = command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", given.Role, err)
	}
	var writing *os.File
	if p.output, writing, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", given.Role, err)
	}
	command.Stdout = writing
	p.reports = json.NewDecoder(p.output)
	err = errors.Join(command.Start(), writing.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the %s: %w", given.Role, err), p.output.Close())
	}
	go func() {
		p.failed = command.Wait()
		close(p.exited)
	}()
	var ready report
	if err = json.NewEncoder(p.input).Encode(given); err == nil {
		ready, err = p.hear()
	}
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.url = ready.URL
	return p, nil
}

func (p *process) hear() (report, error) {
	var said report
	if err := p.reports.Decode(&said); err != nil {
		return said, fmt.Errorf("the process of the %s does not answer: %w", p.assigned, err)
	}
	if said.Error != "" {
		return said, fmt.Errorf("the %s: %s", p.assigned, said.Error)
	}
	return said, nil
}

func (p *process) ask(asked question) (report, error) {
	if err := json.NewEncoder(p.input).Encode(asked); err != nil {
		return report{}, fmt.Errorf("ask the process of the %s: %w", p.assigned, err)
	}
	return p.hear()
}

// alive returns nil when the context has ended, and an error when the process
// has before.
func (p *process) alive(ctx context.Context) error {
	select {
	case <-p.exited:
		return errors.Join(fmt.Errorf("the process of the %s has ended", p.assigned), p.failed)
	case <-ctx.Done():
		return nil
	}
}

// stop ends the process in order.
func (p *process) stop() error {
	err := p.input.Close()
	<-p.exited
	if errors.Is(err, os.ErrClosed) {
		err = nil // it has ended before, and p.failed says how
	}
	if p.failed != nil {
		err = errors.Join(err, fmt.Errorf("the process of the %s: %w", p.assigned, p.failed))
	}
	return errors.Join(err, p.output.Close())
}

// kill ends the process as a crash would.
func (p *process) kill() error {
	if err := p.command.Process.Kill(); err != nil {
		return fmt.Errorf("kill the %s: %w", p.assigned, err)
	}
	<-p.exited
	return p.output.Close()
}

// busy returns the processor time of this process and of others.
func busy(processes ...*process) (time.Duration, error) {
	sum, err := processorTime()
	for _, p := range processes {
		if err != nil {
			break
		}
		var said report
		said, err = p.ask(question{})
		sum += said.CPU
	}
	return sum, err
}
