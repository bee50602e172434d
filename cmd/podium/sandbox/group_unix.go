//go:build unix

package sandbox

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup makes a program the leader of a new process group.
func ownGroup(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup tells a program and everything in its group to end, as a service manager does.
func endGroup(command *exec.Cmd) error {
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
