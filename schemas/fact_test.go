package schemas

import (
	"strings"
	"testing"
)

func TestFactNames(t *testing.T) {
	t.Parallel()
	doc := document(t, "record")
	facts := doc["$defs"].(node)["fact"].(node)["properties"].(node)
	for name := range facts {
		body := `[{"` + name + `":{"run":7}}]`
		var read Facts
		if err := Unmarshal([]byte(body), &read); err != nil {
			t.Fatal(err)
		}
		if len(read) != 1 || read[0].Name() != name || RunOf(read[0]) != 7 {
			t.Errorf("%s is read as %v", body, read)
		}
	}
}

func TestFactsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[{"task_teleported":{"run":7}}]`: "unknown fact",
		`[{}]`:                            "want the name of a fact",
		`[{"run_ended":{"run":1},"run_settled":{"run":1}}]`: "want the end of the fact",
		`[7]`:                           "want an object with one fact",
		`{"run_ended":{"run":1}}`:       "want an array of facts",
		`[{"run_ended":{"run":"one"}}]`: "run",
		`[{"run_ended":`:                "EOF",
	} {
		var read Facts
		if err := Unmarshal([]byte(body), &read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
