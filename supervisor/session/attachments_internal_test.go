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
	for edition, want := range map[int][2]int{schemas.Edition8: {32, 268}, schemas.Edition9: {256, 44}} {
		list := attachmentList{env: &Env{}, most: schemas.AttachmentsOf(edition)}
		for range 2 {
			for n := range 300 {
				hash := sha256.Sum256([]byte{byte(n), byte(n >> 8)})
				list.add("t1", "file "+strconv.Itoa(n), "text/plain", schemas.Artifact{SHA256: hex.EncodeToString(hash[:]), Size: 1})
			}
		}
		if got := [2]int{len(list.made), len(list.leftOut)}; got != want {
			t.Errorf("edition %d lists and leaves out %d files, want %d", edition, got, want)
		}
		if last := list.made[len(list.made)-1]; last.ID != schemas.AttachmentID(want[0]) || last.Name != "file "+strconv.Itoa(want[0]-1) {
			t.Errorf("edition %d lists as the last %s %q", edition, last.ID, last.Name)
		}
	}
}
