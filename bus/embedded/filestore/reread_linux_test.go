package filestore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"podium/bus/bustest/smalldisk"
	"podium/bus/embedded/filestore"
)

// TestPageCacheIsNotBelieved: after a flush that failed, a file that is opened anew reads as it was
// written, and a further flush succeeds. ReadFromDisk shows what the disk holds.
func TestPageCacheIsNotBelieved(t *testing.T) {
	t.Parallel()
	disk := smalldisk.Mount(t, smalldisk.Thin, 24<<20)
	name := filepath.Join(disk.Path, "1.blk")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	disk.Fill(0)
	content := bytes.Repeat([]byte("acknowledged"), 1<<18)
	if _, err = file.Write(content); err != nil {
		t.Fatalf("a write that finds no room below: %v", err)
	}
	if err = file.Sync(); err == nil {
		t.Fatal("the flush has succeeded on a full disk")
	}
	if err = file.Close(); err != nil {
		t.Fatal(err)
	}
	if read, err := os.ReadFile(name); err != nil || !bytes.Equal(read, content) {
		t.Fatalf("the page cache holds %d of %d bytes, %v", len(read), len(content), err)
	}
	if err = filestore.ReadFromDisk(disk.Path); err != nil {
		t.Fatal(err)
	}
	if read, err := os.ReadFile(name); err == nil && bytes.Equal(read, content) {
		t.Error("the file reads as if the disk held it")
	}
}
