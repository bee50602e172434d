package supervisor_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/bustest"
	"podium/schemas"
	"podium/supervisor/restore"
)

// A mislaid ledger has lost one body of the object store.
type mislaid struct {
	bus.Core
	lost string
}

func (m *mislaid) Artifacts() bus.ArtifactStore { return &mislaidStore{m.Core.Artifacts(), m} }

type mislaidStore struct {
	bus.ArtifactStore
	ledger *mislaid
}

func (s *mislaidStore) Get(ctx context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	if artifact.SHA256 == s.ledger.lost {
		return nil, bus.ErrNotFound
	}
	return s.ArtifactStore.Get(ctx, artifact)
}

// TestLostEarlierWordsStopNoConversation: what was said before is told as far as it is there. A run goes on as it
// did before there was a conversation, although the body of an earlier answer is lost: its agent is asked.
func TestLostEarlierWordsStopNoConversation(t *testing.T) {
	t.Parallel()
	for _, context := range []schemas.ContextPolicy{{}, {Messages: 6, Bytes: 4096}} {
		d := newDesk(t, 1)
		profile := bustest.DeskProfile(2)
		profile.Context = context
		var err error
		d.profiles, err = restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{profile})
		d.must(err)
		core := &mislaid{Core: d.ledger}
		o := d.open("one", core, 0)
		d.say("thread", "m1", "do it")
		d.must(d.work(o))
		request := d.requests("worker")[0]
		response := d.response("worker", &request, strings.Repeat("word ", artifact.MessageInlineLimit))
		body, err := schemas.Marshal(response)
		d.must(err)
		event := schemas.Event{
			ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
			CausationID: request.ID, Attempt: 1, DataContentType: schemas.MediaTypeJSON, Data: body,
		}
		d.must(artifact.Offload(t.Context(), d.ledger.Artifacts(), &event))
		d.put(bus.ResponseSubject("worker", 0), &event)
		d.must(d.work(o))
		d.answerNewest("chat", "")
		d.must(d.work(o))
		core.lost = event.Artifact.SHA256
		d.say("thread", "m2", "and this")
		for range 100 { // longer than any deadline
			d.must(d.work(o))
			d.now = d.now.Add(6 * time.Second)
		}
		if asked := len(d.requests("worker")); asked < 2 {
			t.Errorf("%+v: in ten minutes the worker was asked %d times, the run is %s, and chat was asked %d times",
				context, asked, d.sessionHistory("thread").Run(2).Phase, len(d.requests("chat")))
		}
	}
}
