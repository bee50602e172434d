//go:build unix

package exec

import (
	"errors"
	"os"
	osexec "os/exec"
	"syscall"
)

// inherited names the variables of our own environment that every program gets.
func inherited() []string { return []string{"PATH", "HOME", "LANG", "TMPDIR"} }

// ownGroup makes the program the leader of a new process group.
func ownGroup(command *osexec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// endGroup tells the program and everything in its group to end.
func endGroup(command *osexec.Cmd) error {
	err := syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// killGroup kills the program and everything in its group.
func killGroup(command *osexec.Cmd) error {
	err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// sweepGroup kills what the program has left behind in its group. It is called
// after the program has ended.
func sweepGroup(command *osexec.Cmd) { _ = killGroup(command) }
