package answer_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/supervisor/answer"
)

// TestFilesOfAnswersHoldNoFormula: texts and names of columns in a file that goes with mail are guarded as in files of
// other agents.
func TestFilesOfAnswersHoldNoFormula(t *testing.T) {
	t.Parallel()
	rows := make([]string, 100)
	for i := range rows {
		rows[i] = `{"\u00a0=name": ";=cmd()", "value": -1, "c": "＝1", "d": "a\n=1"}`
	}
	data := jsontext.Value("[" + strings.Join(rows, ",") + "]")
	words := german()
	told := answer.Data(data, nil, "t1", words)
	if want := "'\u00a0=name,value,c,d\r\n;'=cmd(),-1,'＝1,\"a\r\n'=1\"\r\n"; told.File == nil || !strings.HasPrefix(told.File.Text, want) {
		t.Errorf("the file is %+v, want %q", told.File, want)
	}
}
