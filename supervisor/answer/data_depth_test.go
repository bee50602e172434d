package answer_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/answer"
)

// TestDeepDataIsNotAllSpaces: what is indented costs its depth for each line: 20 KB of data are 5 MB.
func TestDeepDataIsNotAllSpaces(t *testing.T) {
	t.Parallel()
	const depth = 250 // schemas.MaxDepth is 256
	data := strings.Repeat("[", depth) + strings.Repeat("1,", 10_000) + "1" + strings.Repeat("]", depth)
	told := answer.Data(jsontext.Value(data), nil, "t1", german())
	if told.File == nil || len(told.File.Text) > 20*len(data) {
		t.Errorf("%d bytes of data are a file of %d bytes", len(data), len(told.File.Text))
	}
}
