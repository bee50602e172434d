package retrieval_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"podium/agents/retrieval"
)

// killed names the index into which the child of TestKill learns.
const killed = "PODIUM_RETRIEVAL_KILLED"

const effects = 60

// TestKill: a process is killed again and again while it learns, by kill -9, and at last everything is there once.
func TestKill(t *testing.T) {
	if directory := os.Getenv(killed); directory != "" {
		learnAll(t, directory)
		return
	}
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "medical")
	begin := func() *exec.Cmd {
		child := exec.Command(os.Args[0], "-test.run=^TestKill$") //nolint:noctx // it is killed, or waited for
		child.Env = append(os.Environ(), killed+"="+directory)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		return child
	}
	deaths := 0
	for round := range 12 {
		child := begin()
		timer := time.AfterFunc(time.Duration(80+25*round)*time.Millisecond, func() { _ = child.Process.Kill() })
		if err := child.Wait(); err != nil {
			deaths++
		}
		timer.Stop()
	}
	if child := begin(); child.Wait() != nil {
		t.Fatal("the last process has not ended well")
	}
	reader := open(t, directory, retrieval.ModeRead)
	for i := range effects {
		if sources := found(t, reader, fmt.Sprintf(`{"query":"Nummer%d","limit":50}`, i)); len(sources) != 1 {
			t.Errorf("effect %d is there %d times", i, len(sources))
		}
	}
	if deaths < 3 {
		t.Errorf("only %d kills", deaths)
	}
}

func learnAll(t *testing.T, directory string) {
	t.Helper()
	learner := open(t, directory, retrieval.ModeLearn)
	for i := range effects {
		request := asked(knowledge(t, fmt.Sprintf("Salbe Nummer%d", i), "s"))
		request.EffectID = uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(i)}).String()
		if _, err := learner.Handle(t.Context(), request, silent); err != nil {
			t.Fatal(err)
		}
	}
}
