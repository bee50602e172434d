package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"podium/cmd/podium/runfiles"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// A terminal is a program in a pseudo-terminal, with what that shows.
type terminal struct {
	*background

	t      *testing.T
	master *os.File
	mu     sync.Mutex
	shows  *emulation
	broken error
}

// openTerminal makes a terminal of a size, which is read until nobody has the slave open.
func openTerminal(t *testing.T, columns, rows int) (w *terminal, slave *os.File, read chan struct{}) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w = &terminal{t: t, master: master, shows: emulate(columns, rows), background: &background{stdout: &transcript{}, stderr: &transcript{}, exited: make(chan struct{})}}
	err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	number, failed := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	w.size(columns, rows)
	if slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	read = make(chan struct{})
	go func() {
		defer close(read)
		w.read()
	}()
	return w, slave, read
}

// inTerminal starts the program in a terminal of a size. It is killed when the test ends.
func (i *deployment) inTerminal(columns, rows int, environment []string, arguments ...string) *terminal {
	i.t.Helper()
	w, slave, read := openTerminal(i.t, columns, rows)
	w.command = exec.CommandContext(context.WithoutCancel(i.t.Context()), binary(i.t), append([]string{"--data", i.data}, arguments...)...)
	w.command.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "NO_COLOR=") }), "TERM=xterm-256color")
	w.command.Env = append(w.command.Env, environment...)
	w.command.Stdin, w.command.Stdout, w.command.Stderr = slave, slave, slave
	w.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.command.Start(); err != nil {
		i.t.Fatal(err)
	}
	_ = slave.Close() // the process has its own
	go func() {
		defer close(w.exited)
		_ = w.command.Wait() // its state says how it ended
		<-read
	}()
	i.t.Cleanup(func() {
		w.kill()
		if i.t.Failed() {
			i.t.Logf("podium %s shows\n%s", strings.Join(arguments, " "), w.sees())
		}
	})
	return w
}

// lastByte ends what is written to a terminal, see leaves.
const lastByte = 0x05

// read takes what the program writes until it has ended.
func (w *terminal) read() {
	piece := make([]byte, 4096)
	for {
		n, err := w.master.Read(piece)
		written, _, last := bytes.Cut(piece[:n], []byte{lastByte})
		w.mu.Lock()
		if len(written) > 0 && w.broken == nil {
			_, w.broken = w.shows.Write(written)
		}
		w.mu.Unlock()
		if err != nil || last { // nobody has the other end any more
			return
		}
	}
}

// leaves returns what is left of all that was written to the slave of the terminal, as restored does. What was written last may be lost when the slave is closed before it is read.
func (w *terminal) leaves(slave *os.File, read chan struct{}) (lines []string, raw string) {
	w.t.Helper()
	if _, err := slave.Write([]byte{lastByte}); err != nil {
		w.t.Fatal(err)
	}
	<-read
	_ = slave.Close()
	return w.restored()
}

func (w *terminal) size(columns, rows int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shows.resize(columns, rows)
	if err := unix.IoctlSetWinsize(int(w.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *terminal) sees() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shows.shown()
}

// TestArtifactsAndTerminals: text of an artifact is shown in a terminal, without what commands it; what is no text is not.
func TestArtifactsAndTerminals(t *testing.T) {
	t.Parallel()
	i := install(t, strings.Replace(makingConfig, "echo two", `printf "two\033[2J\000"`, 1))
	i.up()
	i.podium("send", "--wait", "Please.").succeeds(t)
	for _, file := range lines[runfiles.File](t, i.podium("runs", "files", i.runs()[0].ID, "-o", "json")) {
		code, want := exitOK, "one"
		if file.Path == "b.txt" {
			code, want = exitFailed, "it is not text"
		}
		if shown, raw := i.inTerminal(80, 24, nil, "artifact", "get", file.SHA256).left(code); !strings.Contains(strings.Join(shown, " "), want) || strings.Contains(raw, "two") {
			t.Errorf("%s shows %q", file.Path, shown)
		}
	}
}

// waitsFor waits until the terminal shows all the words.
func (w *terminal) waitsFor(words ...string) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("it shows %q", words), func() bool {
		seen := w.sees()
		return !slices.ContainsFunc(words, func(words string) bool { return !strings.Contains(seen, words) })
	})
}

// left waits for the end, and returns what one can scroll back to then.
func (w *terminal) left(code int) (lines []string, raw string) {
	w.t.Helper()
	w.ends(w.t, code)
	return w.restored()
}

// restored returns the same of a terminal that has to be as it was.
func (w *terminal) restored() (lines []string, raw string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil || w.shows.alternate || w.shows.hidden || !w.shows.wraps {
		w.t.Errorf("it leaves the terminal otherwise than it was: %v, alternate screen %v, hidden cursor %v, wraps %v", w.broken, w.shows.alternate, w.shows.hidden, w.shows.wraps)
	}
	return w.shows.kept(), string(w.shows.raw)
}

const manyConfig = `
agents: {alpha: {kind: external}}
profiles:
  desk: {language: en, agents: [alpha], routers: [{kind: default, agent: alpha}], retry: {attempts: 1}}
`

// sixtyTasks writes a plan of 60 tasks that depend on nothing.
func (i *deployment) sixtyTasks() (file string) {
	i.t.Helper()
	type task struct {
		TaskID      string `json:"task_id"`
		Description string `json:"description"`
		AssignedTo  string `json:"assigned_to"`
	}
	var plan struct {
		Tasks []task `json:"tasks"`
	}
	for n := range 60 {
		plan.Tasks = append(plan.Tasks, task{fmt.Sprintf("t%d", n+1), fmt.Sprintf("Read chapter %d of 第%d巻", n+1, n+1), "alpha"})
	}
	body, err := json.Marshal(plan)
	if err != nil {
		i.t.Fatal(err)
	}
	i.write("sixty.json", string(body))
	return filepath.Join(i.folder, "sixty.json")
}

// reads does so many of the tasks; t10, t30 and t50 fail.
func (a *plainAgent) reads(tasks int) {
	a.t.Helper()
	for range tasks {
		a.answer(a.pull())
	}
}

func (a *plainAgent) answer(request plainRequest) {
	a.t.Helper()
	id := request.Payload.Tasks[0].TaskID
	body := request.response(a.name, "completed", "read "+id)
	if id == "t10" || id == "t30" || id == "t50" {
		body = strings.Replace(request.response(a.name, "failed", ""), `"payload":{`, `"payload":{"issues_encountered":[{"issue_id":"i","severity":"high",`+
			`"description":"a page of `+id+` is torn","resolution":"deferred"}],`, 1)
	}
	a.publish(request.replyTo, body)
	a.acknowledge(request)
}

// TestManyTasksLeaveNoGarbage: 60 tasks in a window of 24 rows, which changes its size, are
// drawn in place. In the end there is nothing to scroll back to but the outcome, with what
// has failed and why, and the answer.
func TestManyTasksLeaveNoGarbage(t *testing.T) {
	t.Parallel()
	i := install(t, manyConfig, oneShard)
	i.up()
	agent := connectPlain(t, i, "alpha")
	w := i.inTerminal(80, 24, nil, "send", "--profile", "desk", "--plan", i.sixtyTasks(), "--wait")
	agent.reads(20)
	w.waitsFor("60 tasks: ", " completed", "1 failed", "not shown: ", "第", "a page of t10 is torn")
	held := []plainRequest{agent.pull(), agent.pull(), agent.pull()}
	agent.publish("podium.agent.alpha.progress", held[0].progress("alpha", 40, "reading on"))
	w.waitsFor("40 %: reading on", held[2].Payload.Tasks[0].TaskID+" ")
	w.size(50, 10)
	w.waitsFor("40 %: reading on", "not shown: ")
	id := i.runs()[0].ID
	second := i.inTerminal(100, 30, nil, "runs", "watch", id)
	second.waitsFor("40 %: reading on", "not shown: ")
	if err := second.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines, _ := second.left(exitFailed); !strings.Contains(lines[0], "executing") || !strings.Contains(strings.Join(lines, "\n"), "the run goes on") {
		t.Errorf("whoever stops to watch reads\n%s", strings.Join(lines, "\n"))
	}
	w.size(90, 20)
	w.waitsFor("a page of t10 is torn", "40 %: reading on")
	for _, request := range held {
		agent.answer(request)
	}
	agent.reads(37)
	lines, raw := w.left(exitFailed)
	told := strings.Join(lines, "\n")
	if len(lines) == 0 || !strings.HasSuffix(lines[0], " 95 %  partial (task_failed)") {
		t.Errorf("it leaves\n%s", told)
	}
	for _, want := range []string{
		"3 failed, 57 completed", "agent_failed a page of t10 is torn", "agent_failed a page of t30 is torn", "agent_failed a page of t50 is torn",
		"Read chapter 30 of 第30巻", "not shown: 57 completed", "podium runs show " + id, "read t60", "podium: run " + id + " ended partial",
	} {
		if strings.Count(told, want) != 1 {
			t.Errorf("%q is there %d times in\n%s", want, strings.Count(told, want), told)
		}
	}
	if !strings.Contains(raw, "\x1b[?1049h") || !strings.Contains(raw, "\x1b[31mfailed") {
		t.Error("it is not drawn aside, or not in color")
	}
	i.stop()
	i.verify()
}

// TestWatcherIsSafe: runs are shown by several goroutines at once, each of which changes its
// own in place, while they are drawn.
func TestWatcherIsSafe(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	w, slave, read := openTerminal(t, 80, 24)
	watcher := view.Watch(slave, view.Story)
	plan := func(id, profile string) *workflow.RunHistory {
		run := &workflow.RunHistory{ID: id, Run: workflow.Run{Number: 1, Profile: profile, Phase: workflow.PhaseExecuting}}
		for range 40 {
			run.Tasks = append(run.Tasks, &workflow.Task{})
		}
		return run
	}
	root := plan("root", "desk")
	watcher.Show(view.Place{}, &schemas.Record{}, root)
	var showing sync.WaitGroup
	for n := range 4 {
		nested := plan("nested"+strconv.Itoa(n), "inner")
		showing.Go(func() {
			for i := range nested.Tasks {
				nested.Tasks[i] = &workflow.Task{ID: strconv.Itoa(i), State: workflow.TaskFailed, LastFailure: &schemas.TaskFailed{Detail: "torn", Cause: schemas.FailurePermanent}}
				watcher.Show(view.Place{Run: "root", Task: "7"}, &schemas.Record{Transitions: []schemas.Transition{{Facts: []schemas.Fact{&schemas.TaskStarted{Run: 1, Task: strconv.Itoa(i)}}}}}, nested)
			}
		})
	}
	for i := range root.Tasks {
		root.Tasks[i] = &workflow.Task{ID: strconv.Itoa(i), State: workflow.TaskRunning}
		watcher.Show(view.Place{}, &schemas.Record{}, root)
	}
	showing.Wait()
	if err := watcher.Close(); err != nil {
		t.Error(err)
	}
	lines, _ := w.leaves(slave, read)
	if told := strings.Join(lines, "\n"); strings.Count(told, "↳ inner ") != 4 || strings.Count(told, " failed") != 160 || strings.Count(told, "  7 › 39: the agent works on it") != 4 {
		t.Errorf("it leaves\n%s", told)
	}
}

// TestSmallPictureStandsAmongTheLines: what fits is drawn below what was there, until the
// window changes its size; in the end what was there is above the outcome.
func TestSmallPictureStandsAmongTheLines(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	for name, resized := range map[string]bool{"as it is": false, "resized": true} {
		w, slave, read := openTerminal(t, 80, 24)
		for range 30 {
			_, _ = slave.WriteString("before\n")
		}
		watcher := view.Watch(slave, view.Live)
		run := &workflow.RunHistory{ID: "run-1", Run: workflow.Run{Phase: workflow.PhaseDecomposing}}
		watcher.Show(view.Place{}, &schemas.Record{}, run)
		w.waitsFor("before\nbefore\n░", "0 %  decomposing")
		run.Phase, run.Tasks = workflow.PhaseExecuting, []*workflow.Task{{ID: "t1", State: workflow.TaskRunning}, {ID: "t2"}}
		watcher.Show(view.Place{}, &schemas.Record{}, run)
		w.waitsFor("before\nbefore\n░", "t1")
		if resized {
			w.size(60, 12)
			eventually(t, "it is drawn aside", func() bool { return !strings.Contains(w.sees(), "before") && strings.Contains(w.sees(), "t1") })
		}
		if err := watcher.Close(); err != nil {
			t.Error(err)
		}
		lines, raw := w.leaves(slave, read)
		if told := strings.Join(lines, "\n"); !strings.HasPrefix(told, strings.Repeat("before\n", 30)+"░") || strings.Count(told, "░\n") > 0 || strings.Count(told, "executing") != 1 || strings.Contains(told, "decomposing") {
			t.Errorf("%s: it leaves\n%s", name, told)
		}
		if strings.Contains(raw, "1049") != resized {
			t.Errorf("%s: it was drawn aside: %v", name, !resized)
		}
	}
}

// TestColorsMayBeRefused: without colors the same is said, and a terminal that only knows
// lines gets lines.
func TestColorsMayBeRefused(t *testing.T) {
	t.Parallel()
	i := install(t, nestedDesk)
	i.up()
	i.podium("send", "--profile", "desk", "--wait", "otters").succeeds(t)
	id := slices.DeleteFunc(i.runs(), func(run workflow.RunHistory) bool { return run.Message.Upstream != nil })[0].ID
	outcome := func(environment ...string) (string, string) {
		lines, raw := i.inTerminal(80, 24, environment, "runs", "watch", id).left(exitOK)
		return strings.Join(lines, "\n"), raw
	}
	colored, raw := outcome("NO_COLOR=") // empty is not set
	if !strings.Contains(raw, "\x1b[32mcompleted") || !strings.Contains(colored, "\n    ↳ inner 100 %  completed, run ") {
		t.Errorf("with colors it leaves\n%s", colored)
	}
	plain, raw := outcome("NO_COLOR=no")
	if plain != colored || strings.Contains(strings.ReplaceAll(raw, "\x1b[m", ""), "m\x1b") || strings.Contains(raw, "\x1b[32m") {
		t.Errorf("without it leaves\n%s\nof %q", plain, raw)
	}
	if dumb, raw := outcome("TERM=dumb"); strings.Contains(raw, "\x1b") || !strings.Contains(dumb, "t1 › t1: done: otters") {
		t.Errorf("a terminal that knows lines shows\n%s", dumb)
	}
	i.stop()
}
