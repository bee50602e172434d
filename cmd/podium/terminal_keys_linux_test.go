package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// press types keys.
func (w *terminal) press(keys string) {
	w.t.Helper()
	if _, err := w.master.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

// modes returns how the terminal treats what is typed.
func (w *terminal) modes() unix.Termios {
	w.t.Helper()
	modes, err := unix.IoctlGetTermios(int(w.master.Fd()), unix.TCGETS)
	if err != nil {
		w.t.Fatal(err)
	}
	return *modes
}

// TestPagesAreTurned: in a run of more tasks than rows, keys turn pages while it goes on, and
// are not shown; the terminal is as it was afterwards, also for whoever interrupts. While a
// picture fits, what is typed is left to the shell.
func TestPagesAreTurned(t *testing.T) {
	t.Parallel()
	i := install(t, manyConfig, oneShard)
	i.up()
	agent := connectPlain(t, i, "alpha")
	w := i.inTerminal(80, 24, nil, "send", "--profile", "desk", "--plan", i.sixtyTasks(), "--wait")
	before := w.modes()
	agent.reads(10)
	w.waitsFor("(Space: 4 pages) not shown: ", "a page of t10 is torn")
	for _, turn := range []struct {
		key  string
		want []string
	}{
		{" ", []string{"page 1 of 4 ", " t14 ", "✓ t1 "}},
		{"\x1b[6~", []string{"page 2 of 4 ", " t30 "}},
		{"f", []string{"page 3 of 4 ", " t40 "}},
		{"x", []string{"page 3 of 4 "}},
		{"b", []string{"page 2 of 4 "}},
		{"  ", []string{"page 4 of 4 ", " t60 "}},
		{" ", []string{"(Space: 4 pages) not shown: "}},
		{"\x1b[5~", []string{"page 4 of 4 "}},
		{"\x1b", []string{"(Space: 4 pages) not shown: "}},
		{" ", []string{"page 1 of 4 "}},
	} {
		w.press(turn.key)
		w.waitsFor(turn.want...)
	}
	request := agent.pull()
	agent.publish("podium.agent.alpha.progress", request.progress("alpha", 40, "reading on"))
	w.waitsFor("page 1 of 4 ", "40 %: reading on")
	second := i.inTerminal(80, 24, nil, "runs", "watch", i.runs()[0].ID)
	second.waitsFor("(Space: 4 pages)")
	second.press("\x03") // Ctrl-C, of the terminal
	if lines, _ := second.left(exitFailed); strings.Contains(strings.Join(lines, "\n"), "^C") || second.modes() != before {
		t.Errorf("interrupted, it leaves\n%s", strings.Join(lines, "\n"))
	}
	agent.answer(request)
	agent.reads(49)
	lines, _ := w.left(exitFailed)
	if told := strings.Join(lines, "\n"); strings.Contains(told, "page 1 of") || strings.Contains(told, "Space") || w.modes() != before {
		t.Errorf("it leaves\n%s", told)
	}
	small := i.inTerminal(80, 90, nil, "runs", "watch", i.runs()[0].ID)
	small.press("ls\n")
	if lines, _ := small.left(exitFailed); !slices.Contains(lines, "ls") || small.modes() != before {
		t.Errorf("with room for all, what is typed is not left to the shell:\n%s", strings.Join(lines, "\n"))
	}
	i.stop()
}

// TestSuspendedViewGoesOn: whoever suspends the view and takes it up again finds it as it was,
// with its keys.
func TestSuspendedViewGoesOn(t *testing.T) {
	t.Parallel()
	i := install(t, manyConfig, oneShard)
	i.up()
	i.podium("send", "--profile", "desk", "--plan", i.sixtyTasks()).succeeds(t)
	w := i.inTerminal(80, 24, nil, "runs", "watch", i.runs()[0].ID)
	w.waitsFor("(Space: ")
	before := w.modes()
	if before.Lflag&unix.ICANON != 0 {
		t.Fatal("keys are not read as they are pressed")
	}
	if err := w.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	shells := before
	shells.Lflag |= unix.ICANON | unix.ECHO
	if err := unix.IoctlSetTermios(int(w.master.Fd()), unix.TCSETS, &shells); err != nil {
		t.Fatal(err)
	}
	if err := w.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it reads keys again", func() bool { return w.modes() == before })
	w.press(" ")
	w.waitsFor("page 1 of ")
	if err := w.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.left(exitFailed)
	if w.modes() != shells {
		t.Error("the terminal is not left as the shell had set it")
	}
	i.stop()
}
