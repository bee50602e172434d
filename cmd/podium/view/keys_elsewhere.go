//go:build !linux && !darwin

package view

// A keyboard is not read on this system: the window follows the work.
type keyboard struct{}

func (*Terminal) keys() *keyboard { return nil }

func (*keyboard) close() {}

func (*keyboard) pressed() <-chan turn { return nil }
