package supervisor_test

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// weighing counts the bytes that go to the object store.
type weighing struct {
	bus.Core
	bytes int64
}

type weighed struct {
	bus.ArtifactStore
	by *weighing
}

func (w *weighing) Artifacts() bus.ArtifactStore { return weighed{w.Core.Artifacts(), w} }

func (w weighed) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	artifact, err := w.ArtifactStore.Put(ctx, r, mediaType)
	w.by.bytes += artifact.Size
	return artifact, err
}

// serving answers what agents are asked, each request once, in order.
type serving struct {
	*desk
	answered uint64 // sequence of the newest request that was answered
}

// rounds answers all that is asked, so many times, and lets the owner work.
func (s *serving) rounds(o *supervisor.Owner, times int) {
	s.tb.Helper()
	for range times {
		s.must(s.work(o))
		for message, err := range s.ledger.Scan(context.Background(), bus.WorkStream, s.answered+1) {
			s.must(err)
			request, err := binding.Decode(message)
			s.must(err)
			agent, _ := strings.CutPrefix(message.Subject, "podium.agent.")
			agent, _, _ = strings.Cut(agent, ".")
			s.answer(agent, &request, "done")
			s.answered = message.Sequence
		}
	}
	s.must(s.work(o))
}

// queueUp has so many messages wait behind a run, then ends them all, over two
// owners, and returns the bytes that are stored.
func queueUp(t *testing.T, messages int) uint64 {
	t.Helper()
	d := newDesk(t, 1)
	core := &weighing{Core: d.ledger}
	first := d.open("first", core, 0)
	for i := range messages {
		d.say("thread", "m"+strconv.Itoa(i), "fourteen bytes")
		if i%100 == 0 { // some records have one message, most have many
			d.must(d.work(first))
		}
	}
	s := &serving{desk: d}
	s.rounds(first, messages) // half of them: a run asks its worker, then for the delivery
	second := d.open("second", core, 0)
	s.rounds(second, messages)
	runs := d.sessionHistory("thread").Runs
	for i := range runs {
		if runs[i].Phase != workflow.PhaseComplete || runs[i].Message.ID != "m"+strconv.Itoa(i) || runs[i].Message.Text.Text != "fourteen bytes" {
			t.Errorf("run %d, of message %s, is %s", i+1, runs[i].Message.ID, runs[i].Phase)
		}
	}
	if len(runs) != messages {
		t.Errorf("%d runs of %d messages", len(runs), messages)
	}
	d.spacingOf(d.recordsOf(schemas.SessionID("desk", "thread")))
	d.clean()
	state, err := d.ledger.State(t.Context(), bus.ShardStream(0))
	d.must(err)
	return state.Bytes + uint64(core.bytes) //nolint:gosec // a size
}

// TestAQueueCostsWhatItHolds: what a session stores is in proportion to the
// messages that waited in it, however many did at a time; and whoever takes over in
// the midst of it goes on with each of them.
func TestAQueueCostsWhatItHolds_G33_X03(t *testing.T) {
	t.Parallel()
	const messages = 1000
	once, twice := queueUp(t, messages), queueUp(t, 2*messages)
	if twice > once*21/10 {
		t.Errorf("%d messages are stored in %d bytes, twice as many in %d", messages, once, twice)
	}
	t.Logf("%d bytes a message, %d when twice as many wait", once/messages, twice/(2*messages))
}

// TestALongQueueIsSmall: what waits is held in memory, and in a snapshot, by
// reference.
func TestALongQueueIsSmall(t *testing.T) {
	t.Parallel()
	const messages = 5000
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	for i := range messages {
		d.say("thread", "m"+strconv.Itoa(i), "fourteen bytes")
	}
	d.must(d.work(o))
	newest := 0
	for _, record := range d.recordsOf(schemas.SessionID("desk", "thread")) {
		if len(record.Snapshot) > 0 {
			newest = len(record.Snapshot)
		}
	}
	if each := newest / messages; each > 16 {
		t.Errorf("a snapshot has %d bytes for each message that waits", each)
	}
}
