//go:build unix

package exec

import "syscall"

// How files are opened that a program has made: no link is followed, and no pipe is waited for.
const (
	notFollowed = syscall.O_NOFOLLOW
	notBlocking = syscall.O_NONBLOCK
)
