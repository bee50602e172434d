//go:build unix && !linux

package subprocess

import "syscall"

// outlivesNobody does nothing: only Linux tells a program that its parent is gone.
func outlivesNobody(*syscall.SysProcAttr) {}
