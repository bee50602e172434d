package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"podium/ingest/mime/defect"
)

// A uuencodeReader decodes uuencoded data (POSIX uuencode). Lines before "begin" and
// behind "end" are passed over; a line that ends early gives what it has.
type uuencodeReader struct {
	r        *bufio.Reader
	found    *defect.List
	began    bool
	ended    bool
	output   []byte
	pending  []byte
	finished error
}

// Read implements io.Reader.
func (u *uuencodeReader) Read(p []byte) (int, error) {
	for len(u.pending) == 0 {
		if u.finished != nil {
			return 0, u.finished
		}
		line, err := u.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			u.found.Add(defect.UUEncode)
			err = nil
		}
		u.output = u.output[:0]
		u.line(bytes.TrimRight(line, "\r\n"))
		u.pending = u.output
		if u.finished = err; errors.Is(err, io.EOF) && !u.ended {
			u.found.Add(defect.UUEncode)
		}
	}
	n := copy(p, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

func (u *uuencodeReader) line(line []byte) {
	switch {
	case u.ended:
	case !u.began:
		u.began = bytes.HasPrefix(line, []byte("begin "))
	case bytes.Equal(line, []byte("end")):
		u.ended = true
	case len(line) > 0:
		u.decode(line)
	}
}

// decode takes the count of bytes at the beginning of a line, then four
// characters for every three bytes.
func (u *uuencodeReader) decode(line []byte) {
	count := int(line[0]-' ') & 0x3f
	if line[0] < ' ' || line[0] > '`' {
		u.found.Add(defect.UUEncode)
		return
	}
	line = line[1:]
	for at := 0; count > 0; at += 4 {
		var group [4]byte
		for i := range group {
			if at+i < len(line) {
				group[i] = (line[at+i] - ' ') & 0x3f
			}
		}
		if at >= len(line) {
			u.found.Add(defect.UUEncode)
			return
		}
		triple := [3]byte{group[0]<<2 | group[1]>>4, group[1]<<4 | group[2]>>2, group[2]<<6 | group[3]}
		u.output = append(u.output, triple[:min(3, count)]...)
		count -= 3
	}
}
