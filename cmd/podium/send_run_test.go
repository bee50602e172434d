package main

import (
	"encoding/json"
	"testing"
)

// TestSendNamesTheRun: without --wait the JSON of send names the run that a message begins, and the run is shown by that name.
func TestSendNamesTheRun(t *testing.T) {
	t.Parallel()
	i := install(t, roomConfig, "ledger: {shards: 1}")
	i.write("go", "")
	i.up()
	known := map[string]bool{}
	for _, arguments := range [][]string{{"Please."}, {"--thread", "two", "Please."}, {"--thread", "two", "Again."}} {
		o := i.podium(append([]string{"send", "-o", "json"}, arguments...)...).succeeds(t)
		var sent struct {
			Session string `json:"session"`
			Run     string `json:"run"`
		}
		if err := json.Unmarshal([]byte(o.stdout), &sent); err != nil || sent.Run == "" {
			t.Fatalf("send %q prints no run: %v\n%s", arguments, err, o.stdout)
		}
		known[sent.Run] = true
		i.podium("runs", "watch", sent.Run).succeeds(t)
	}
	if len(known) != 3 {
		t.Errorf("three messages began the runs %v", known)
	}
	i.stop()
}
