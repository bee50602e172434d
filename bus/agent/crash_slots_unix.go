//go:build unix

package agent

import (
	"errors"
	"os"
	"runtime/debug"
	"syscall"
)

// slotMemory is a file as memory, so that a write costs no call of the system.
type slotMemory struct{ mapped []byte }

// errSlots reports that the file behind the memory is gone, or that its disk is full.
var errSlots = errors.New("its file cannot be used")

func openSlots(path string, size int) (slotMemory, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // in the data directory
	if err != nil {
		return slotMemory{}, err
	}
	defer func() { _ = file.Close() }() // the memory stays
	info, err := file.Stat()
	if err != nil {
		return slotMemory{}, err
	}
	if missing := size - int(info.Size()); missing > 0 { // written, not only extended: memory without a block behind it may fail later
		if _, err := file.WriteAt(make([]byte, missing), info.Size()); err != nil {
			return slotMemory{}, err
		}
	}
	mapped, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return slotMemory{mapped}, err
}

func (m slotMemory) read(to []byte, at int) error { return guard(func() { copy(to, m.mapped[at:]) }) }

func (m slotMemory) write(from []byte, at int) error {
	return guard(func() { copy(m.mapped[at:], from) })
}
func (m slotMemory) close() error { return syscall.Munmap(m.mapped) }

// guard fails where the system cannot bring or keep a page of the file, which would end the process.
func guard(touch func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = errSlots
		}
	}()
	touch()
	return nil
}
