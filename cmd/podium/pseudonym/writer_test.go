package pseudonym_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/cmd/podium/pseudonym"
)

// TestIDsAreHidden_G37: ids are replaced wherever they stand as values, whatever characters they hold, and nothing else
// of a line changes.
func TestIDsAreHidden_G37(t *testing.T) {
	t.Parallel()
	const session = `a "quoted" \ id`
	var out bytes.Buffer
	writer := pseudonym.NewWriter(&out)
	log := zerolog.New(writer)
	line := func() map[string]any {
		t.Helper()
		out.Reset()
		log.Info().Str("session", session).Str("run", session+"-1").Str("agent", "desk").Str("said", `{"session":"kept"}`).
			Dict("inner", zerolog.Dict().Str("request", "r1")).Msg(`"run":"kept"`)
		var read map[string]any
		if err := json.Unmarshal(out.Bytes(), &read); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		return read
	}
	if read := line(); read["session"] != session {
		t.Errorf("before anything is hidden: %v", read)
	}
	writer.Hide(nil)
	if read := line(); read["session"] != "h-unknown" || read["run"] != "h-unknown" {
		t.Errorf("without a key: %v", read)
	}
	writer.Hide(func(value string) string { return "h-" + strings.ToUpper(value[:1]) + value[len(value)-1:] })
	read := line()
	inner, _ := read["inner"].(map[string]any)
	if read["session"] != "h-Ad" || read["run"] != "h-A1" || inner["request"] != "h-R1" ||
		read["agent"] != "desk" || read["said"] != `{"session":"kept"}` || read["message"] != `"run":"kept"` {
		t.Errorf("%v", read)
	}
}
