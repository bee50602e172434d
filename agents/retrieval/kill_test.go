package retrieval_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"podium/agents/retrieval"
	"podium/bus/bustest"
)

const effects = 60

// TestKill kills a process 12 times while it learns. In the end the index has each passage once.
func TestKill(t *testing.T) {
	t.Parallel()
	directory, isTest := bustest.Kill(t, bustest.Effects{Test: "TestKill", Count: effects, Rounds: 12, Perform: learnAll})
	if !isTest {
		return
	}
	reader := open(t, directory, retrieval.ModeRead)
	for i := range effects {
		if sources := found(t, reader, fmt.Sprintf(`{"query":"Nummer%d","limit":50}`, i)); len(sources) != 1 {
			t.Errorf("effect %d is there %d times", i, len(sources))
		}
	}
}

func learnAll(t *testing.T, directory string, next func()) {
	t.Helper()
	learner := open(t, directory, retrieval.ModeLearn)
	for i := range effects {
		request := asked(knowledge(t, fmt.Sprintf("Salbe Nummer%d", i), "s"))
		request.EffectID = uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(i)}).String()
		next()
		if _, err := learner.Handle(t.Context(), request, silent); err != nil {
			t.Fatal(err)
		}
	}
}
