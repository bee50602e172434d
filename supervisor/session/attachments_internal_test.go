package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"

	"podium/schemas"
)

// TestFilesWithoutRoomAreCounted: a request lists each file once, and says how many more there are.
func TestFilesWithoutRoomAreCounted(t *testing.T) {
	t.Parallel()
	list := attachmentList{env: &Env{}}
	for range 2 {
		for n := range 300 {
			hash := sha256.Sum256([]byte{byte(n), byte(n >> 8)})
			list.add("t1", "file "+strconv.Itoa(n), "text/plain", schemas.Artifact{SHA256: hex.EncodeToString(hash[:]), Size: 1})
		}
	}
	if len(list.made) != 256 || len(list.leftOut) != 44 {
		t.Errorf("it lists %d files and leaves out %d", len(list.made), len(list.leftOut))
	}
	if last := list.made[len(list.made)-1]; last.ID != schemas.AttachmentID(256) || last.Name != "file 255" {
		t.Errorf("it lists as the last %s %q", last.ID, last.Name)
	}
}
