package view

import (
	"os"

	"golang.org/x/sys/windows"
)

// understands has a console obey control sequences. Those before Windows 10 do not.
func understands(file *os.File) bool {
	console, mode := windows.Handle(file.Fd()), uint32(0)
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	mode |= windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return windows.SetConsoleMode(console, mode) == nil
}
