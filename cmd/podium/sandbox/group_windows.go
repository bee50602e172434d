//go:build windows

package sandbox

import (
	"os/exec"
	"syscall"

	"podium/bus/agent/conformance"
)

func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// endGroup fails: there is no way to tell a program to end.
func endGroup(*exec.Cmd) error { return conformance.ErrNotOurs }

func killGroup(command *exec.Cmd) { _ = command.Process.Kill() }
