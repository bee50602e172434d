package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/answer"
)

// TestFileIsNotMuchLargerThanItsData: a list of objects that have no members in common makes no table of all members by all
// entries: 40 KB of data became 9 MB, and 1 MB more memory than there is.
func TestFileIsNotMuchLargerThanItsData(t *testing.T) {
	t.Parallel()
	rows := make([]string, 3000)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"k%d":1}`, i)
	}
	data := "[" + strings.Join(rows, ",") + "]"
	told := answer.Data(jsontext.Value(data), nil, "t1", german())
	if told.File == nil || len(told.File.Text) > 10*len(data) {
		t.Errorf("%d bytes of data are a file of %d bytes", len(data), len(told.File.Text))
	}
}
