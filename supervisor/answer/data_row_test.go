package answer_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/answer"
)

// TestLongTextInARowIsInTheFile: what a row cuts is in a file, as it is when it is cut elsewhere.
func TestLongTextInARowIsInTheFile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 500) + " and the end"
	for name, data := range map[string]string{
		"a row":           `[{"note": "` + long + `"}]`,
		"a list in a row": `[{"notes": ["` + long + `"]}]`,
	} {
		told := answer.Data(jsontext.Value(data), nil, "t1", german())
		if !strings.Contains(told.Text, "and the end") && (told.File == nil || !strings.Contains(told.File.Text, "and the end")) {
			t.Errorf("%s: its end is nowhere: %q, file %+v", name, told.Text[max(len(told.Text)-40, 0):], told.File)
		}
	}
}
