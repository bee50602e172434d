package chromium

import "syscall"

// mortal has the kernel kill a process when the thread that has started it ends.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
