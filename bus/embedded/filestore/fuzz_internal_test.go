package filestore

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// record is a whole one, as the server writes it.
func record(tb testing.TB, stream string, block uint32, sequence uint64, subject, headers, body string) []byte {
	tb.Helper()
	d, err := newDecoder(stream, block)
	if err != nil {
		tb.Fatal(err)
	}
	size := recordHeader + len(subject) + len(headers) + len(body) + checksumSize
	length := uint32(size) //nolint:gosec // small
	if headers != "" {
		size += headersLength
		length = uint32(size) | hasHeaders //nolint:gosec // small
	}
	content := binary.LittleEndian.AppendUint32(nil, length)
	content = binary.LittleEndian.AppendUint64(content, sequence)
	content = binary.LittleEndian.AppendUint64(content, 1)
	content = binary.LittleEndian.AppendUint16(content, uint16(len(subject))) //nolint:gosec // small
	content = append(content, subject...)
	if headers != "" {
		content = append(binary.LittleEndian.AppendUint32(content, uint32(len(headers))), headers...) //nolint:gosec // small
	}
	content = append(content, body...)
	for _, piece := range []string{string(content[4:20]), subject, headers, body} {
		_, _ = d.sum.Write([]byte(piece))
	}
	return binary.LittleEndian.AppendUint64(content, d.sum.Sum64())
}

// FuzzBlock: whatever a file holds, every byte of it is a record's or damaged, in order,
// and looking changes none of them.
func FuzzBlock(f *testing.F) {
	whole := record(f, "PODIUM_0", 1, 7, "podium.in.chat.0", "NATS/1.0\r\nce-id: 1\r\n\r\n", `{"text":1}`)
	f.Add([]byte{})
	f.Add(whole)
	f.Add(append(whole[:20:20], whole...))
	f.Add(record(f, "PODIUM_0", 1, 8|tombstone, "", "", ""))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := newDecoder("PODIUM_0", 1)
		if err != nil {
			t.Fatal(err)
		}
		at := int64(0)
		before := bytes.Clone(content)
		d.each(content, func(offset int64, _ *Record) {
			if offset < at {
				t.Fatalf("a record at %d, behind %d", offset, at)
			}
			at = offset + 1
		}, func(offset, length int64, reason string) {
			if offset < at || length <= 0 || reason == "" {
				t.Fatalf("damage %q at %d of %d bytes, behind %d", reason, offset, length, at)
			}
			at = offset + length
		})
		if !bytes.Equal(before, content) {
			t.Error("looking has changed it")
		}
		if _, err := readBlock("PODIUM_0", 1, content, int64(len(content))/2); err != nil {
			t.Error(err)
		}
	})
}

// FuzzConsumerState ends, whatever a file holds.
func FuzzConsumerState(f *testing.F) {
	f.Add([]byte{22, 2, 1, 1, 2, 2, 1, 2, 1, 1, 1, 0})
	f.Add([]byte{22, 2, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		if readableConsumer(content) && len(content) < 8 {
			t.Errorf("%x is too short to be whole", content)
		}
	})
}
