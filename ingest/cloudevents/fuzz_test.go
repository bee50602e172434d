package cloudevents_test

import (
	"testing"

	"github.com/rs/zerolog"

	"podium/bus/memory"
	"podium/ingest/cloudevents"
	"podium/schemas"
)

func nolog() zerolog.Logger { return zerolog.Nop() }

// FuzzEvent sends anything in every mode: whatever is taken is an event that the bus
// and the schema accept, and whatever is not gets a problem.
func FuzzEvent(f *testing.F) {
	f.Add(uint8(0), "1", "k", note)
	f.Add(uint8(0), "%C0%AF", `"a\"b"`, "text")
	f.Add(uint8(1), "", "", event(`"data":`+note))
	f.Add(uint8(1), "", "", event(`"data_base64":""`, `"ext":1e3`))
	f.Add(uint8(2), "", "", "["+event(`"datacontenttype":"text/plain"`, `"data":"x"`)+"]")
	f.Add(uint8(1), "", "", `{"specversion":"1.0","id":"`+"\\ud800"+`"}`)
	f.Fuzz(func(t *testing.T, mode uint8, id, key, body string) {
		ledger := memory.New(1)
		made := batch(body)
		switch mode % 3 {
		case 0:
			made = binary([]string{"text/plain", "application/json"}[mode/3%2], body)
			made.header["Ce-Id"], made.header["Ce-Partitionkey"] = []string{id}, []string{key}
		case 1:
			made = structured(body)
		}
		recorder := made.do(t.Context(), newAdapter(t, ledger))
		if recorder.Code >= 500 {
			t.Fatalf("status %d: %s", recorder.Code, recorder.Body)
		}
		if recorder.Code != 202 {
			if problem := read[cloudevents.Problem](t, recorder.Body.Bytes()); problem.Detail == "" {
				t.Errorf("problem %+v", problem)
			}
		}
		for _, stored := range inputs(t, ledger) {
			if stored.Type != schemas.TypeChatReceived {
				continue
			}
			if err := schemas.Validate("chat_received", stored.Data); err != nil {
				t.Error(err)
			}
		}
	})
}
