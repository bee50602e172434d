//go:build windows

package exec

// How files are opened that a program has made: Windows has neither flag, and os.Root follows no link
// out of the folder.
const (
	notFollowed = 0
	notBlocking = 0
)
