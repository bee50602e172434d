package embedded_test

import (
	"encoding/json"
	"testing"

	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"podium/bus"
)

// TestQuestionsAboutAConsumerHoldUpNobody: an agent may ask what its consumer is, and
// asks the gate: the server has one queue for such questions of everybody, and drops all
// of them when it is full.
func TestQuestionsAboutAConsumerHoldUpNobody(t *testing.T) {
	t.Parallel()
	server, _ := strangers(t)
	js, alpha := administrator(t, server), intrude(t, server)
	before := asked(t, js)
	const count = 500
	for range count {
		answer, err := alpha.Request("CORE.API.CONSUMER.INFO.PODIUM_WORK.alpha", nil, patience)
		if err != nil {
			t.Fatal(err)
		}
		var told struct {
			Stream string `json:"stream_name"`
			Name   string `json:"name"`
		}
		if err := json.Unmarshal(answer.Data, &told); err != nil || told.Stream != bus.WorkStream || told.Name != "alpha" {
			t.Fatalf("alpha is told %s, %v", answer.Data, err)
		}
	}
	if reached := asked(t, js) - before; reached > count/5 {
		t.Errorf("%d of %d questions reached the server", reached, count)
	}
}

// asked returns how many questions the server was asked about the ledger.
func asked(t *testing.T, js natsjetstream.JetStream) uint64 {
	t.Helper()
	account, err := js.AccountInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return account.API.Total
}
