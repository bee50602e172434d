package connection

import (
	"testing"

	goimap "github.com/emersion/go-imap/v2"
)

// TestSearchThatAnswersInOtherNumbers_I05: an answer without UIDs is an error; to
// take it for nothing would leave mail where it is, and call that complete.
func TestSearchThatAnswersInOtherNumbers_I05(t *testing.T) {
	t.Parallel()
	if uids, err := expand(goimap.SeqSetNum(1, 2), 1, 9); err == nil {
		t.Errorf("sequence numbers are taken for %v", uids)
	}
	for _, nothing := range []goimap.NumSet{nil, goimap.UIDSet(nil), goimap.UIDSet{}, goimap.SeqSet(nil)} {
		if uids, err := expand(nothing, 1, 9); len(uids) != 0 || err != nil {
			t.Errorf("%T: %v, %v", nothing, uids, err)
		}
	}
}
