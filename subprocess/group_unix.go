//go:build unix

package subprocess

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// inherited names the variables of our own environment that every program gets.
func inherited() []string { return []string{"PATH", "HOME", "LANG", "TMPDIR"} }

// Group makes the program the leader of a new process group. On Linux it is told to end, too, when we are killed.
func Group(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	outlivesNobody(command.SysProcAttr)
}

// Tells reports whether End leaves programs the time to end by themselves.
const Tells = true

// End tells the program and everything in its group to end.
func End(command *exec.Cmd) error {
	err := syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// Kill kills the program and everything in its group.
func Kill(command *exec.Cmd) error {
	err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// Sweep kills what the program has left behind in its group. It is called
// after the program has ended.
func Sweep(command *exec.Cmd) { _ = Kill(command) }

// SignalOf returns the name of the signal that ended a program, such as SIGSEGV: its own end, or that of a program which a shell
// has run as its last one and tells by a code above 128. Empty is none.
func SignalOf(ended *os.ProcessState) string {
	status, is := ended.Sys().(syscall.WaitStatus)
	switch {
	case is && status.Signaled():
		return unix.SignalName(status.Signal())
	case is && status.ExitStatus() > shellSignals:
		return unix.SignalName(syscall.Signal(status.ExitStatus() - shellSignals))
	}
	return ""
}

// shellSignals is what shells add to the number of a signal to make an exit code of it.
const shellSignals = 128
