//go:build !linux && !darwin

package keyboard

import "os"

// A Keyboard is not read on this system: the window follows the work.
type Keyboard struct{}

// Open returns nil, which gives no turns.
func Open(*os.File) *Keyboard { return nil }

// Close has nothing to give back.
func (*Keyboard) Close() {}

// Turns is nil: none comes.
func (*Keyboard) Turns() <-chan Turn { return nil }
