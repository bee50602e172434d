package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/bus/agent"
	"podium/schemas"
)

// pipeGrace is how long pipes may stay open after the program has ended:
// something that left its process group may hold them.
const pipeGrace = 2 * time.Second

var (
	errTimeout = errors.New("the program took too long")
	errTooMuch = errors.New("the program printed too much")
)

// Handle implements agent.Handler; see the package's documentation.
func (a *Agent) Handle(ctx context.Context, request agent.Request, report agent.Report) (schemas.Result, error) {
	language := request.Task().Context.Language()
	input, err := schemas.Marshal(request.ExecutionRequest)
	if err != nil {
		return schemas.Result{}, err
	}
	if a.acts() {
		if err := request.Permit(ctx); err != nil {
			return schemas.Result{}, err
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, a.config.Timeout, errTimeout)
	defer cancel()
	running, stop := context.WithCancelCause(limited)
	defer stop(nil)

	output := &boundedBuffer{limit: a.config.MaxOutput, overflow: func() { stop(errTooMuch) }}
	progress := newProgress(report)
	command := osexec.CommandContext(running, a.path, a.config.Command[1:]...)
	command.Args[0] = a.config.Command[0]
	command.Dir = a.config.Dir
	command.Env = a.environment(&request)
	command.Stdin = bytes.NewReader(input)
	command.Stdout = output
	command.Stderr = progress
	command.WaitDelay = pipeGrace
	ownGroup(command)
	command.Cancel = func() error { return killGroup(command) }

	if err := command.Start(); err != nil {
		return schemas.Result{}, a.fail(language, "start", fmt.Errorf("start the program: %w", cause(err)))
	}
	err = command.Wait()
	sweepGroup(command)
	said := progress.finish()

	if ctx.Err() != nil {
		return schemas.Result{}, fmt.Errorf("the program was stopped: %w", context.Cause(ctx))
	}
	if running.Err() != nil {
		return schemas.Result{}, a.stopped(language, context.Cause(running))
	}
	if err != nil && !errors.Is(err, osexec.ErrWaitDelay) {
		return schemas.Result{}, a.exited(language, said, err)
	}
	return a.read(language, &request, output.kept.Bytes())
}

// cause drops the path from an error of the operating system: it may hold a name.
func cause(err error) error {
	if lookup, ok := errors.AsType[*osexec.Error](err); ok {
		return lookup.Err
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func (a *Agent) fail(language, key string, err error, places ...string) *agent.Failure {
	return &agent.Failure{Message: a.words.Say(language, key, places...), Err: err}
}

// acts reports whether the program reaches people or systems outside. Then it
// needs a permit, and when it says nothing in the end, nobody knows what it did.
func (a *Agent) acts() bool { return a.config.SideEffects == schemas.SideEffectsExternal }

// silent is a failure of a program that could not say what it did.
func (a *Agent) silent(language, key string, err error, places ...string) *agent.Failure {
	failure := a.fail(language, key, err, places...)
	failure.Unknown = a.acts()
	return failure
}

// stopped explains why we killed the program.
func (a *Agent) stopped(language string, cause error) error {
	if errors.Is(cause, errTooMuch) {
		failure := a.silent(language, "too_much", cause, "{limit}", strconv.Itoa(a.config.MaxOutput))
		failure.Permanent = true
		return failure
	}
	return a.silent(language, "timeout", cause, "{timeout}", a.config.Timeout.String())
}

// exited explains an exit code other than 0.
func (a *Agent) exited(language, said string, err error) error {
	exit, ended := errors.AsType[*osexec.ExitError](err)
	if !ended {
		return a.silent(language, "start", fmt.Errorf("wait for the program: %w", cause(err)))
	}
	code := exit.ExitCode()
	if code < 0 {
		return a.silent(language, "signal", errors.New("the program was ended by a signal"))
	}
	key := "exit"
	if said != "" {
		key = "exit_said"
	}
	failure := a.fail(language, key, fmt.Errorf("the program exited with code %d", code),
		"{code}", strconv.Itoa(code), "{said}", strings.TrimSpace(said))
	failure.Permanent = slices.Contains([]int{64, 65, 66, 67, 68, 76, 77, 78}, code) // no other attempt can help (sysexits(3))
	return failure
}

// A boundedBuffer keeps up to limit bytes and calls overflow at the first byte
// more. It embeds no buffer, whose ReadFrom would go around the limit.
type boundedBuffer struct {
	kept     bytes.Buffer
	limit    int
	overflow func()
}

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.limit {
		b.overflow()
		return 0, errTooMuch
	}
	return b.kept.Write(p)
}
