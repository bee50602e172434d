package structure

import (
	"archive/zip"
	"bytes"
	"strings"

	"podium/ingest/mime/charset"
	"podium/ingest/mime/defect"
	"podium/schemas"
)

const (
	maxEntries     = 100       // of one archive
	maxEntryName   = 255       // bytes
	maxArchiveSize = 1<<53 - 1 // what JSON can say
)

// entries lists what a zip archive says that it holds. Nothing is unpacked, and
// a directory that is malformed or larger than the kept end gives nothing.
func (i *inspection) entries(left int) []schemas.ArchiveEntry {
	tail := i.tail[max(0, len(i.tail)-maxTail):]
	archive, err := zip.NewReader(archiveTail{content: tail, start: i.size - int64(len(tail))}, i.size)
	if archive == nil || err != nil && len(archive.File) == 0 {
		return nil
	}
	var entries []schemas.ArchiveEntry
	for _, file := range archive.File[:min(len(archive.File), maxEntries, left)] {
		name := charset.Truncate(strings.Map(charset.Visible, charset.ToUTF8([]byte(file.Name), "", &defect.List{})), maxEntryName)
		entries = append(entries, schemas.ArchiveEntry{
			Name: name, Size: int64(min(file.UncompressedSize64, maxArchiveSize)), Encrypted: file.Flags&1 != 0, //nolint:gosec // bounded
		})
	}
	return entries
}

// An archiveTail reads the end of something of which only that was kept.
type archiveTail struct {
	content []byte
	start   int64
}

// ReadAt implements io.ReaderAt.
func (e archiveTail) ReadAt(p []byte, offset int64) (int, error) {
	return bytes.NewReader(e.content).ReadAt(p, offset-e.start)
}
