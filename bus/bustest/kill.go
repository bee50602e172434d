package bustest

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Effects is work that a process of its own performs and that a kill interrupts: effect 0, effect 1, and so on.
type Effects struct {
	// Test names the test that calls Kill: the process of its own runs nothing else.
	Test string
	// Count is how many effects there are.
	Count int
	// Rounds is how many processes are killed before the last one may end.
	Rounds int
	// Perform performs all effects in the directory. It calls next before each one.
	Perform func(t *testing.T, directory string, next func())
}

// killedEnv names, for the process that Kill starts, the directory in which it performs the effects.
const killedEnv = "PODIUM_TEST_KILLED"

// Kill starts the test binary again and again as a process that performs the effects in a directory, kills each of
// the first processes with SIGKILL, and lets the last one end. It returns the directory, and whether the caller is the
// test itself; in the process that performs the effects it reports false, and the test returns.
//
// No kill depends on the speed of the machine: a process asks before each effect and waits for the answer, so it cannot
// end before it is killed. The kill comes as soon as the effect is allowed, once the effect has changed the directory,
// or once the effect is done, in turn.
func Kill(t *testing.T, effects Effects) (directory string, isTest bool) {
	t.Helper()
	if inherited := os.Getenv(killedEnv); inherited != "" {
		lines := bufio.NewReader(os.Stdin)
		effects.Perform(t, inherited, func() {
			fmt.Println("next") //nolint:forbidigo // the question to the process that kills
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		})
		return "", false
	}
	directory = filepath.Join(t.TempDir(), "effects") // made here, since a process that is killed removes nothing
	for round := range effects.Rounds {
		child := startKilled(t, effects.Test, directory)
		for range round*effects.Count/effects.Rounds + 1 {
			child.allow()
		}
		switch round % 3 {
		case 1:
			child.awaitChange(directory)
		case 2:
			child.awaitQuestion()
		}
		child.kill()
	}
	last := startKilled(t, effects.Test, directory)
	for range effects.Count {
		last.allow()
	}
	if err := last.command.Wait(); err != nil {
		t.Fatalf("the last process failed: %v", err)
	}
	return directory, true
}

// A killedProcess performs effects, one for each answer that it gets.
type killedProcess struct {
	t         *testing.T
	command   *exec.Cmd
	questions <-chan struct{} // closed when the process has ended
	answers   *os.File
	asked     bool // a question waits for its answer
}

func startKilled(t *testing.T, test, directory string) *killedProcess {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^"+test+"$") //nolint:noctx // it is killed, or waited for
	command.Env = append(os.Environ(), killedEnv+"="+directory)
	hears, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdin = hears
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(command.Start(), hears.Close()); err != nil {
		t.Fatal(err)
	}
	questions := make(chan struct{})
	go func() {
		defer close(questions)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "next") {
				questions <- struct{}{}
			}
		}
	}()
	t.Cleanup(func() { _ = answers.Close() })
	return &killedProcess{t: t, command: command, questions: questions, answers: answers}
}

// awaitQuestion waits until the process asks to go on.
func (p *killedProcess) awaitQuestion() {
	p.t.Helper()
	if p.asked {
		return
	}
	if _, p.asked = <-p.questions; !p.asked {
		p.t.Fatal("the process ended before all effects were performed")
	}
}

// allow lets the process perform its next effect.
func (p *killedProcess) allow() {
	p.t.Helper()
	p.awaitQuestion()
	if _, err := p.answers.WriteString("\n"); err != nil {
		p.t.Fatal(err)
	}
	p.asked = false
}

// awaitChange waits until the effect has changed the directory, or is done.
func (p *killedProcess) awaitChange(directory string) {
	p.t.Helper()
	for before := listFiles(p.t, directory); listFiles(p.t, directory) == before; {
		select {
		case _, p.asked = <-p.questions:
			return
		default:
		}
	}
}

// listFiles returns the names and sizes of all files in a directory.
func listFiles(t *testing.T, directory string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(directory, func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			var about fs.FileInfo
			if about, err = entry.Info(); err == nil {
				fmt.Fprintln(&list, name, about.Size())
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since it was listed
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// kill ends the process by SIGKILL. It fails the test when the process ended by itself.
func (p *killedProcess) kill() {
	p.t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	for range p.questions { // the last one may have come with the kill
	}
	if err := p.command.Wait(); err == nil {
		p.t.Error("the process ended before it was killed")
	}
}
