//go:build windows

package subprocess

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// inherited names the variables of our own environment that every program gets.
func inherited() []string {
	return []string{
		"PATH", "HOME", "LANG", "TMPDIR",
		"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE",
	}
}

// Group makes the program the leader of a new process group.
func Group(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// SignalOf returns no name: there are no signals.
func SignalOf(*os.ProcessState) string { return "" }

// Tells reports whether End leaves programs the time to end by themselves.
const Tells = false

// End ends the program and its descendants: there is no way to tell them to.
func End(command *exec.Cmd) error { return Kill(command) }

// Kill kills the program and its descendants. Descendants are found by
// their parent, so those whose parent has ended before stay.
func Kill(command *exec.Cmd) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	tree := exec.CommandContext(ctx, "taskkill", "/T", "/F", "/PID", strconv.Itoa(command.Process.Pid))
	if err := tree.Run(); err == nil {
		return nil
	}
	return command.Process.Kill()
}

// Sweep does nothing: without its parent, a process cannot be told from others.
func Sweep(*exec.Cmd) {}
