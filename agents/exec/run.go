package exec

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"podium/bus/agent"
	"podium/schemas"
	"podium/subprocess"
)

// pipeGrace is how long pipes may stay open after the program has ended:
// something that left its process group may hold them.
const pipeGrace = 2 * time.Second

const (
	termGrace  = 500 * time.Millisecond // that a program has to end in when it is told to
	watchEvery = 500 * time.Millisecond // how often it is looked at what it makes
)

var (
	errTimeout       = errors.New("the program took too long")
	errTooMuch       = errors.New("the program printed too much")
	errFilesTooLarge = errors.New("the program made files that are too large")
)

// Handle implements agent.Handler; see the package's documentation.
func (a *Agent) Handle(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
	language := request.Task().Context.Language()
	body, err := schemas.Marshal(request.ExecutionRequest)
	if err != nil {
		return agent.Outcome{}, err
	}
	files, err := a.newFolder()
	if err != nil {
		return agent.Outcome{}, a.fail(language, "start", fmt.Errorf("make a folder for the request: %w", err))
	}
	defer files.remove()
	if err = files.write(ctx, request, body, a.config.MaxFiles); err != nil {
		return agent.Outcome{}, err
	}
	if a.acts() {
		if err := request.Permit(ctx); err != nil {
			return agent.Outcome{}, err
		}
	}
	printed, err := a.run(ctx, language, request, report, body, files)
	if err != nil {
		return agent.Outcome{}, err
	}
	outcome, err := agent.ReadOutcome(printed, request)
	nothing := err
	if errors.Is(err, agent.ErrNothing) {
		err = nil // its files may be all that it has
	}
	if outcome.Usage != nil { // how long the program has run is measured, whatever it says
		outcome.Usage.TimeElapsedSeconds, outcome.Usage.AgentExecutionTimes = 0, nil
	}
	if errors.Is(err, agent.ErrUnreadable) {
		return agent.Outcome{}, a.unreadable(language, err)
	}
	if failure, failed := errors.AsType[*agent.Failure](err); failed && failure.Message == "" {
		failure.Message = a.words.Say(language, "failed")
	}
	if lost := a.collect(ctx, language, request, files, &outcome); lost != nil && err == nil {
		if !a.acts() {
			return agent.Outcome{}, lost
		}
		outcome.Issues = append(outcome.Issues, schemas.Issue{ // what was done is not done again for a file
			Severity: "high", Description: a.words.Say(language, "not_kept"), Resolution: schemas.ResolutionDeferred,
		})
	}
	if errors.Is(nothing, agent.ErrNothing) && len(outcome.Deliverables) == 0 {
		return outcome, a.silent(language, "nothing", nothing)
	}
	return outcome, err
}

// run runs the program and returns what it has printed, after it and its group are gone.
func (a *Agent) run(ctx context.Context, language string, request *agent.Request, report agent.Report, body []byte, files *folder) ([]byte, error) {
	limited, cancel := context.WithTimeoutCause(ctx, a.config.Timeout, errTimeout)
	defer cancel()
	running, stop := context.WithCancelCause(limited)
	defer stop(nil)

	output := &boundedBuffer{limit: a.config.MaxOutput, overflow: func() { stop(errTooMuch) }}
	if request.Streams() {
		output.tell = request.Partial
	}
	progress := newProgress(report)
	command := osexec.CommandContext(running, a.path, a.config.Command[1:]...)
	command.Args[0] = a.config.Command[0]
	command.Dir = a.config.Dir
	command.Env = a.environment(request, files)
	command.Stdin = bytes.NewReader(body)
	command.Stdout = output
	command.Stderr = progress
	command.WaitDelay = pipeGrace
	subprocess.Group(command)
	var killing *time.Timer
	command.Cancel = func() error {
		killing = time.AfterFunc(termGrace, func() { _ = subprocess.Kill(command) })
		return subprocess.End(command)
	}

	if err := command.Start(); err != nil {
		return nil, a.fail(language, "start", fmt.Errorf("start the program: %w", cause(err)))
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		a.watch(running, files, func() { stop(errFilesTooLarge) })
	}()
	err := command.Wait()
	if killing != nil {
		killing.Stop()
	}
	subprocess.Sweep(command)
	said := progress.finish()
	reason := context.Cause(running)
	stop(nil)
	<-watched

	if ctx.Err() != nil {
		return nil, fmt.Errorf("the program was stopped: %w", context.Cause(ctx))
	}
	if reason != nil {
		return nil, a.stopped(language, reason)
	}
	if err != nil && !errors.Is(err, osexec.ErrWaitDelay) {
		return nil, a.exited(language, said, err)
	}
	return output.kept.Bytes(), nil
}

// watch stops a program that fills out/ beyond the bounds, so that it cannot fill the disk.
func (a *Agent) watch(ctx context.Context, files *folder, stop func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if bytes, count := files.size(); bytes > 2*a.config.MaxFiles || count >= maxEntries {
				stop()
				return
			}
		}
	}
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
	if errors.Is(cause, errFilesTooLarge) {
		failure := a.silent(language, "files_too_large", cause, "{limit}", strconv.FormatInt(a.config.MaxFiles, 10))
		failure.Permanent = true
		return failure
	}
	return a.silent(language, "timeout", cause, "{timeout}", a.config.Timeout.String())
}

func (a *Agent) unreadable(language string, err error) error {
	failure := a.silent(language, "unreadable", err)
	failure.Permanent = true
	return failure
}

// exDataErr is the exit code of a program that can do nothing with what it was given (sysexits(3)).
const exDataErr = 65

// exited explains an exit code other than 0.
func (a *Agent) exited(language, said string, err error) error {
	exit, ended := errors.AsType[*osexec.ExitError](err)
	if !ended {
		return a.silent(language, "start", fmt.Errorf("wait for the program: %w", cause(err)))
	}
	code := exit.ExitCode()
	signal := subprocess.SignalOf(exit.ProcessState)
	if code < 0 {
		signal = cmp.Or(signal, "of no known name")
		return a.silent(language, "signal", errors.New("the program was ended by the signal "+signal), "{signal}", signal)
	}
	key := "exit"
	switch {
	case said == "" && signal != "":
		key = "exit_signal"
	case said != "" && code == exDataErr:
		key = "refused_said" // it works, and says what is wrong with what it was given
	case said != "":
		key = "exit_said"
	}
	failure := a.fail(language, key, fmt.Errorf("the program exited with code %d", code),
		"{code}", strconv.Itoa(code), "{signal}", signal, "{said}", strings.TrimSpace(said))
	failure.Permanent = slices.Contains([]int{64, exDataErr, 66, 67, 68, 76, 77, 78}, code) // no other attempt can help (sysexits(3))
	return failure
}

// bounded reads at most limit bytes, and fails at the first byte more: the file has grown since it was
// looked at.
func bounded(from io.Reader, limit int64) io.Reader { return &boundedReader{from: from, room: limit} }

type boundedReader struct {
	from io.Reader
	room int64
}

// Read implements io.Reader.
func (r *boundedReader) Read(into []byte) (int, error) {
	n, err := r.from.Read(into)
	if r.room -= int64(n); r.room < 0 {
		return 0, errFilesTooLarge
	}
	return n, err
}

// A boundedBuffer keeps up to limit bytes and calls overflow at the first byte
// more. It embeds no buffer, whose ReadFrom would go around the limit. It tells the words that it holds, unless
// they begin as data do, if there is somebody to tell.
type boundedBuffer struct {
	kept     bytes.Buffer
	limit    int
	overflow func()
	tell     func(text string)
}

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.limit {
		b.overflow()
		return 0, errTooMuch
	}
	_, _ = b.kept.Write(p)
	if b.tell == nil {
		return len(p), nil
	}
	words := bytes.TrimSpace(bytes.TrimPrefix(b.kept.Bytes()[:min(b.kept.Len(), schemas.MaxPartial)], []byte("\xef\xbb\xbf")))
	if len(words) > 0 && words[0] != '{' && words[0] != '[' {
		b.tell(string(bytes.ToValidUTF8(words, nil)))
	}
	return len(p), nil
}
