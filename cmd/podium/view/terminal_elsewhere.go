//go:build !windows

package view

import "os"

// understands reports whether a terminal obeys control sequences.
func understands(*os.File) bool { return true }
