package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"podium/bus/agent/conformance"
	"podium/subprocess"
)

// A program is a process of the agent, with all that it starts.
type program struct {
	command *exec.Cmd
	output  *tail
	ended   chan struct{} // closed when it has ended
	unasked chan struct{} // closed when it has, and nobody had told it to
	err     error         // of its end; read after ended

	mu   sync.Mutex
	told bool
}

// pipeGrace is how long pipes may stay open after the program has ended.
const pipeGrace = time.Second

func startProgram(command, environment []string, output *tail) (*program, error) {
	p := &program{command: exec.Command(command[0], command[1:]...), output: output, ended: make(chan struct{}), unasked: make(chan struct{})} //nolint:gosec,noctx // whoever checks an agent names it
	p.command.Env = append(os.Environ(), environment...)
	p.command.Stdout, p.command.Stderr = output, output
	p.command.WaitDelay = pipeGrace
	subprocess.Group(p.command)
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCommand, err)
	}
	go func() {
		p.err = p.command.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		if close(p.ended); !p.told {
			close(p.unasked)
		}
	}()
	return p, nil
}

// how says how it has ended.
func (p *program) how() string {
	if p.err != nil {
		return p.err.Error()
	}
	return "exit status 0"
}

// end tells it to end and waits until it has.
func (p *program) end(ctx context.Context) error {
	if !subprocess.Tells {
		return conformance.ErrNotOurs
	}
	p.mu.Lock()
	p.told = true
	p.mu.Unlock()
	if err := subprocess.End(p.command); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		subprocess.Sweep(p.command)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kill ends it and all that it has started.
func (p *program) kill() {
	p.mu.Lock()
	p.told = true
	p.mu.Unlock()
	_ = subprocess.Kill(p.command)
	<-p.ended
}

// Start implements conformance.Process.
func (p *place) Start(ctx context.Context) (err error) {
	if len(p.config.Command) == 0 {
		return conformance.ErrNotOurs
	}
	if p.program, err = startProgram(p.config.Command, p.environment, &tail{}); err != nil {
		return err
	}
	return p.takes(ctx, connectWithin)
}

// End implements conformance.Process.
func (p *place) End(ctx context.Context) error {
	if p.program == nil {
		return conformance.ErrNotOurs
	}
	return p.program.end(ctx)
}

// Ended implements conformance.Process.
func (p *place) Ended() <-chan struct{} {
	if p.program == nil {
		return nil
	}
	return p.program.unasked
}

// lastWords is what the program has written last.
func (p *place) lastWords() string {
	if p == nil || p.program == nil {
		return ""
	}
	return p.program.output.last()
}

// tailBytes is how much of what a program writes is kept, from its end.
const tailBytes = 4 << 10

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append([]byte(nil), t.kept[over:]...)
	}
	return len(p), nil
}

// last returns the last line that says something.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.kept), []byte("\n"))
	return strings.TrimSpace(string(lines[len(lines)-1]))
}
