package subprocess

import "syscall"

// outlivesNobody has the kernel tell the program to end when the thread that has started it is gone. Threads of Go end with the process: none of
// ours is locked. What the program has started itself is not told.
func outlivesNobody(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGTERM }
