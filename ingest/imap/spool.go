package imap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// spoolMemory is the size in bytes above which a message waits on disk.
const spoolMemory = 256 << 10

// errSpool reports a failure of this machine, which is no message's fault.
var errSpool = errors.New("there is no room to spool the mail")

// A spool takes the bytes of one message off the connection, so that the
// connection never waits for what is done with them.
type spool struct {
	folder string
	memory bytes.Buffer
	file   *os.File // nil while memory suffices
	named  bool     // the file has a name that is to be removed
	sum    hash.Hash
	size   int64
}

// newSpool makes room for a message of about a size, as far as memory is used for it.
func newSpool(folder string, size int64) *spool {
	s := &spool{folder: folder, sum: sha256.New()}
	if size > 0 && size <= spoolMemory {
		s.memory.Grow(int(size))
	}
	return s
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) > spoolMemory {
		file, err := os.CreateTemp(s.folder, "podium-mail-*")
		if err != nil {
			return 0, fmt.Errorf("%w: %w", errSpool, err)
		}
		// Without a name it ends with the process, however that ends. Not every system
		// removes a file that is open.
		s.file, s.named = file, os.Remove(file.Name()) != nil
		if _, err := file.Write(s.memory.Bytes()); err != nil {
			return 0, fmt.Errorf("%w: %w", errSpool, err)
		}
		s.memory = bytes.Buffer{}
	}
	_, _ = s.sum.Write(p) // a hash never fails
	s.size += int64(len(p))
	if s.file == nil {
		return s.memory.Write(p)
	}
	n, err := s.file.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errSpool, err)
	}
	return n, err
}

// sha256 returns the hash of all bytes, in hex.
func (s *spool) sha256() string { return hex.EncodeToString(s.sum.Sum(nil)) }

// open returns the bytes from the beginning. Only one reader is in use at a time.
func (s *spool) open() (io.Reader, error) {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes()), nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	return s.file, nil
}

// close frees what the message took.
func (s *spool) close() error {
	s.memory = bytes.Buffer{}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	s.file = nil
	return err
}
