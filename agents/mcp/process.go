package mcp

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"podium/subprocess"
)

// How a server that we run is ended: it is asked to by the end of its input, told to, and made to.
const (
	closeGrace = 300 * time.Millisecond
	termGrace  = 500 * time.Millisecond
	pipeGrace  = 2 * time.Second // that pipes may stay open after it has ended: something that left its group may hold them
)

// A process is a server that we run.
type process struct {
	command *exec.Cmd
	input   *os.File // it reads from
	output  *os.File // it writes to
	lines   *lines   // of its output
	said    *lastLine

	stopping sync.Once
	ended    chan struct{} // closed once it and its group are gone
}

// startProcess starts a program in a process group of its own.
func startProcess(config *Config, path string) (*process, error) {
	theirInput, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	output, theirOutput, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirInput.Close(), input.Close())
	}
	command := exec.Command(path, config.Command[1:]...) //nolint:noctx // it outlives every request, and is ended by stop
	command.Args[0] = config.Command[0]
	command.Dir = config.Dir
	command.Env = subprocess.Environment(config.Env)
	p := &process{command: command, input: input, output: output, said: &lastLine{}, ended: make(chan struct{})}
	p.lines = newLines(output, config.MaxMessage)
	command.Stdin, command.Stdout, command.Stderr = theirInput, theirOutput, p.said
	command.WaitDelay = pipeGrace
	subprocess.Group(command)
	err = command.Start()
	_ = theirInput.Close()
	_ = theirOutput.Close()
	if err != nil {
		_ = input.Close()
		_ = output.Close()
		return nil, cause(err)
	}
	go p.wait()
	return p, nil
}

// wait ends what the program leaves behind, and lets its last words be read.
func (p *process) wait() {
	defer close(p.ended)
	_ = p.command.Wait()
	subprocess.Sweep(p.command)
	_ = p.output.SetReadDeadline(time.Now().Add(pipeGrace))
}

// stop ends the program with all that it has started, and returns when they are gone.
func (p *process) stop() {
	p.stopping.Do(func() {
		_ = p.input.Close()
		if p.endsWithin(closeGrace) {
			return
		}
		_ = subprocess.End(p.command)
		if !p.endsWithin(termGrace) {
			_ = subprocess.Kill(p.command)
		}
	})
	<-p.ended
	_ = p.output.Close()
}

func (p *process) endsWithin(grace time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(grace):
		return false
	}
}

// reader is the program's output as its client reads it. Closing it ends a read that waits.
func (p *process) reader() io.ReadCloser { return readCloser{p.lines, p.output} }

type readCloser struct {
	io.Reader

	from *os.File
}

// Close implements io.Closer.
func (r readCloser) Close() error { return r.from.SetReadDeadline(time.Unix(1, 0)) }

// cause drops the path from an error of the operating system: it may hold a name.
func cause(err error) error {
	if lookup, ok := errors.AsType[*exec.Error](err); ok {
		return lookup.Err
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// maxSaid bounds what is kept of a line on standard error, in bytes.
const maxSaid = 1 << 10

// A lastLine keeps the newest line that is not empty, or, where one has named an error, the newest of these: some runtimes end what they
// say of an error with their own name. It is written by one goroutine.
type lastLine struct {
	mu                sync.Mutex
	line, last, fault []byte
}

// Write implements io.Writer. It never fails: what a server says on the way must not end it.
func (l *lastLine) Write(chunk []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range chunk {
		switch {
		case c != '\n' && len(l.line) < maxSaid:
			l.line = append(l.line, c)
		case c == '\n' && len(l.line) > 0:
			if namesError(l.line) {
				l.fault = l.line
			}
			l.last, l.line = l.line, nil
		}
	}
	return len(chunk), nil
}

// namesError reports whether a line begins as Error: …, SyntaxError: … or Error [CODE]: … do.
func namesError(line []byte) bool {
	first, _, found := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
	name, _, _ := bytes.Cut(first, []byte(" ["))
	return found && bytes.HasSuffix(bytes.ToLower(name), []byte("error")) && !bytes.ContainsAny(name, " \t(")
}

func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.line) > 0:
		return plain(string(l.line), maxSaid)
	case l.fault != nil:
		return plain(string(l.fault), maxSaid)
	}
	return plain(string(l.last), maxSaid)
}
