//go:build linux || darwin

package keyboard

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Keyboard reads keys as they are pressed. The terminal shows none of them meanwhile;
// what interrupts and suspends goes on doing so.
type Keyboard struct {
	turns chan Turn
	stop  chan struct{}
	ended chan struct{}
}

// keysEvery is how often it is looked for keys, and whether the process is in the
// foreground. Nothing waits in a read: what suspends a program may also set the terminal so
// that a read ends only with a line.
const keysEvery = 50 * time.Millisecond

// Open begins to read from the terminal that controls the process. It returns nil, which gives no turns, when
// that is not the one that is drawn on: its keys are meant for somebody else.
func Open(drawn *os.File) *Keyboard {
	if !foreground(drawn) {
		return nil
	}
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	k := &Keyboard{make(chan Turn), make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(k.ended)
		defer func() { _ = unix.Close(tty) }()
		k.read(drawn, tty)
	}()
	return k
}

// foreground reports whether a terminal is the one that controls the process, and the
// process is not in the background: there, whoever touches a terminal is stopped by it.
func foreground(drawn *os.File) bool {
	group, err := unix.IoctlGetInt(int(drawn.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Close gives the terminal back as it was.
func (k *Keyboard) Close() {
	if k != nil {
		close(k.stop)
		<-k.ended
	}
}

// Turns is where they come from; nothing comes without a keyboard.
func (k *Keyboard) Turns() <-chan Turn {
	if k == nil {
		return nil
	}
	return k.turns
}

// read reads keys until Close. A shell may have set the terminal anew while the process
// was suspended: then its modes are the ones that are given back.
func (k *Keyboard) read(drawn *os.File, tty int) {
	var before *unix.Termios
	defer func() {
		if before != nil && foreground(drawn) {
			_ = unix.IoctlSetTermios(tty, setTermios, before)
		}
	}()
	every := time.NewTicker(keysEvery)
	defer every.Stop()
	keys := make([]byte, 64)
	for {
		if foreground(drawn) {
			if changed := single(tty); changed != nil {
				before = changed
			}
			if n, err := unix.Read(tty, keys); err == nil {
				k.turn(turnsOf(keys[:n]))
			}
		}
		select {
		case <-every.C:
		case <-k.stop:
			return
		}
	}
}

// single has a terminal give every key as it is pressed, and show none. It returns the
// modes of before when they were others.
func single(tty int) (before *unix.Termios) {
	before, err := unix.IoctlGetTermios(tty, getTermios)
	if err != nil || before.Lflag&unix.ICANON == 0 {
		return nil
	}
	modes := *before
	modes.Lflag &^= unix.ICANON | unix.ECHO
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(tty, setTermios, &modes) != nil {
		return nil
	}
	return before
}

func (k *Keyboard) turn(turns []Turn) {
	for _, to := range turns {
		select {
		case k.turns <- to:
		case <-k.stop:
			return
		}
	}
}
