//go:build !unix

package agent

import "os"

// slotMemory is a file.
type slotMemory struct{ file *os.File }

func openSlots(path string, size int) (slotMemory, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return slotMemory{}, err
	}
	if info, err := file.Stat(); err != nil || info.Size() < int64(size) {
		if err == nil {
			err = file.Truncate(int64(size))
		}
		if err != nil {
			_ = file.Close()
			return slotMemory{}, err
		}
	}
	return slotMemory{file}, nil
}

func (m slotMemory) read(to []byte, at int) error {
	_, err := m.file.ReadAt(to, int64(at))
	return err
}

func (m slotMemory) write(from []byte, at int) error {
	_, err := m.file.WriteAt(from, int64(at))
	return err
}

func (m slotMemory) close() error { return m.file.Close() }
