package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/bus/jetstream"
	"podium/bus/jetstream/barebus"
)

// An assignment is what an agents' process is told: the first line that it reads.
// Each further line asks for its processor time; the end of input ends it.
type assignment struct {
	Workload    string            `json:"workload"`
	URL         string            `json:"url"`
	Seeds       map[string]string `json:"seeds"` // key files by agent
	Concurrency int               `json:"concurrency"`
	Bare        *sample           `json:"bare,omitempty"` // set for agents of the bare bus
}

// A report is one line that an agents' process says: the first when it is ready,
// then one for each question.
type report struct {
	CPU   time.Duration `json:"cpu"`
	Error string        `json:"error,omitempty"`
}

// Agent is the life of an agents' process. It returns when input has ended.
func Agent(ctx context.Context, input io.Reader, output io.Writer, log zerolog.Logger) error {
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return errors.Join(errors.New("no assignment on standard input"), lines.Err())
	}
	var given assignment
	if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
		return fmt.Errorf("read the assignment: %w", err)
	}
	serve, err := connectAgents(ctx, given, log)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- serve(working) }()
	answers := json.NewEncoder(output)
	for more := true; more; more = lines.Scan() { // the first answer says that it is ready
		cpu, err := processorTime()
		said := report{CPU: cpu}
		if err != nil {
			said.Error = err.Error()
		}
		if err = answers.Encode(said); err != nil {
			break
		}
	}
	stop()
	return errors.Join(<-done, lines.Err())
}

// connectAgents connects every agent and returns what makes them work until a
// context ends.
func connectAgents(ctx context.Context, given assignment, log zerolog.Logger) (func(context.Context) error, error) {
	if given.Bare != nil {
		return connectBareAgents(ctx, given)
	}
	work, ok := workloads()[given.Workload]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownWorkload, given.Workload)
	}
	workers := make(map[string]*jetstream.Worker, len(work.agents))
	closeAll := func() {
		for _, worker := range workers {
			worker.Close()
		}
	}
	for name := range work.agents {
		worker, err := jetstream.ConnectWorker(ctx, jetstream.WorkerConfig{
			URL: given.URL, SeedFile: given.Seeds[name], Agent: name, Logger: log,
		})
		if err != nil {
			closeAll()
			return nil, err
		}
		workers[name] = worker
	}
	return func(ctx context.Context) error {
		defer closeAll()
		var serving errgroup.Group
		for name, worker := range workers {
			serving.Go(func() error {
				return bus.Serve(ctx, worker, work.agents[name], bus.ServeConfig{Concurrency: given.Concurrency, AckWait: ackWait, Log: log})
			})
		}
		return serving.Wait()
	}, nil
}

func connectBareAgents(ctx context.Context, given assignment) (func(context.Context) error, error) {
	var clients []*barebus.Client
	closeAll := func() error {
		var failed error
		for _, client := range clients {
			failed = errors.Join(failed, client.Close())
		}
		return failed
	}
	failures := make(chan error, 1)
	for name, seed := range given.Seeds {
		client, err := barebus.ConnectAgent(given.URL, seed, name)
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		clients = append(clients, client)
		response := given.Bare.Responses[name]
		answer := func(request bus.Message) bus.Message {
			return addressed(response, request.Header[replyHeader][0], request.Header[runHeader][0])
		}
		err = client.Answer(ctx, name, given.Concurrency, answer, func(err error) {
			select {
			case failures <- err:
			default: // one is enough
			}
		})
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
	}
	return func(ctx context.Context) error {
		<-ctx.Done()
		failed := closeAll()
		select {
		case err := <-failures:
			failed = errors.Join(failed, err)
		default:
		}
		return failed
	}, nil
}

// agents is the other process, as the driver sees it.
type agents struct {
	command *exec.Cmd
	input   io.WriteCloser
	lines   *json.Decoder
}

func startAgents(ctx context.Context, config Config, given assignment) (*agents, error) {
	if len(config.Agent) == 0 {
		return nil, errors.New("no command runs the agents")
	}
	// It ends with its input; a context would end it in the middle of the last ack.
	command := exec.CommandContext(context.WithoutCancel(ctx), config.Agent[0], config.Agent[1:]...) //nolint:gosec // our own binary
	command.Stderr = config.Stderr
	command.Env = append(os.Environ(), config.Env...)
	input, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the agents: %w", err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the agents: %w", err)
	}
	if err = command.Start(); err != nil {
		return nil, fmt.Errorf("start the agents: %w", err)
	}
	a := &agents{command: command, input: input, lines: json.NewDecoder(output)}
	if err = json.NewEncoder(input).Encode(given); err == nil {
		_, err = a.heard()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the agents: %w", err), a.stop())
	}
	return a, nil
}

func (a *agents) heard() (time.Duration, error) {
	var said report
	if err := a.lines.Decode(&said); err != nil {
		return 0, fmt.Errorf("the agents' process does not answer: %w", err)
	}
	if said.Error != "" {
		return 0, errors.New(said.Error)
	}
	return said.CPU, nil
}

// processorTime returns that of both processes.
func (a *agents) processorTime() (time.Duration, error) {
	if _, err := io.WriteString(a.input, "\n"); err != nil {
		return 0, fmt.Errorf("ask the agents' process: %w", err)
	}
	theirs, err := a.heard()
	if err != nil {
		return 0, err
	}
	ours, err := processorTime()
	return ours + theirs, err
}

// stop ends the process in order.
func (a *agents) stop() error {
	if err := a.input.Close(); err != nil {
		return err
	}
	if err := a.command.Wait(); err != nil {
		return fmt.Errorf("the agents' process: %w", err)
	}
	return nil
}
