//go:build windows

package exec

import (
	"context"
	osexec "os/exec"
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

// ownGroup makes the program the leader of a new process group.
func ownGroup(command *osexec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// endGroup ends the program and its descendants: there is no way to tell them to.
func endGroup(command *osexec.Cmd) error { return killGroup(command) }

// killGroup kills the program and its descendants. Descendants are found by
// their parent, so those whose parent has ended before stay.
func killGroup(command *osexec.Cmd) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	tree := osexec.CommandContext(ctx, "taskkill", "/T", "/F", "/PID", strconv.Itoa(command.Process.Pid))
	if err := tree.Run(); err == nil {
		return nil
	}
	return command.Process.Kill()
}

// sweepGroup does nothing: without its parent, a process cannot be told from others.
func sweepGroup(*osexec.Cmd) {}
