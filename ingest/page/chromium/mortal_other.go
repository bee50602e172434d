//go:build !linux

package chromium

import "syscall"

// mortal does nothing here: a browser that is left behind ends when it finds its pipe closed.
func mortal() *syscall.SysProcAttr { return nil }
