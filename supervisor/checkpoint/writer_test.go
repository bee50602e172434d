package checkpoint

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/eventloop"
	"podium/supervisor/publisher"
)

// A fading ledger takes so many messages more, and then nobody hears of any.
type fading struct {
	bus.Core
	left int
}

func (c *fading) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if c.left > 0 {
		c.left--
		c.Core.Publish(message, expect, done)
	}
}

// forever is more than any test publishes.
const forever = 1 << 30

// An owner has sessions in memory, and writes where its shard stands.
type owner struct {
	*Writer
	loop *eventloop.Loop
	live map[string]bool
}

func (o *owner) Len() int              { return len(o.live) }
func (o *owner) Has(id string) bool    { return o.live[id] }
func (o *owner) IDs() iter.Seq[string] { return maps.Keys(o.live) }

func takeOver(tb rapid.TB, core bus.Core, name string, names int) *owner {
	tb.Helper()
	o := &owner{loop: eventloop.New(func(operation func()) { operation() }), live: map[string]bool{}}
	o.Writer = NewWriter(Config{
		Owner: name, Names: names, Sessions: o, Failed: func(err error) { tb.Fatal(err) },
		Publisher: &publisher.Publisher{Core: core, Loop: o.loop, Log: zerolog.Nop()},
	})
	if _, err := o.TakeOver(context.Background(), midnight); err != nil {
		tb.Fatal(err)
	}
	return o
}

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// write writes a checkpoint as far as the ledger takes it.
func (o *owner) write(watermark uint64) {
	o.Write(context.Background(), midnight, watermark, false)
	for o.loop.Turn(midnight) {
	}
}

// openSessions makes exactly these sessions open.
func (o *owner) openSessions(ids map[string]bool) {
	for id := range o.live {
		if !ids[id] {
			delete(o.live, id)
			o.MarkChanged(id)
		}
	}
	for id := range ids {
		if !o.live[id] {
			o.live[id] = true
			o.MarkChanged(id)
		}
	}
}

func stands(tb rapid.TB, core bus.Core) (Chain, schemas.Checkpoint) {
	tb.Helper()
	found, newest, err := ReadChain(context.Background(), core, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return found, newest
}

// TestCheckpointsAtAnyPoint: wherever an owner ends, its successor reads a low watermark
// that was said once, and with it every session that was open then and still is.
// Of a checkpoint that is complete it reads exactly the open sessions.
func TestCheckpointsAtAnyPoint_X03(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ledger := memory.New(1)
		core := &fading{Core: ledger, left: forever}
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		named, lowWatermark := map[string]bool{}, uint64(0) // by the last complete checkpoint
		o := takeOver(t, core, "0", limit)
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			open := map[string]bool{}
			for range rapid.IntRange(0, 12).Draw(t, "open") {
				open["session-"+strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "session"))] = true
			}
			if rapid.Bool().Draw(t, "little changes") {
				maps.Copy(open, named)
			}
			o.openSessions(open)
			core.left = forever
			if rapid.IntRange(0, 3).Draw(t, "crash") == 0 {
				core.left = rapid.IntRange(0, 6).Draw(t, "stored")
			}
			o.write(uint64(10 * (step + 1)))
			found, newest := stands(t, ledger)
			if len(newest.Open)+len(newest.Closed) > limit {
				t.Fatalf("a message names %d sessions, want at most %d", len(newest.Open)+len(newest.Closed), limit)
			}
			if !o.Writing() {
				named, lowWatermark = open, uint64(10*(step+1))
				if read := slices.Sorted(maps.Keys(found.open)); !slices.Equal(read, slices.Sorted(maps.Keys(open))) || found.Watermark != lowWatermark {
					t.Fatalf("low watermark %d with %q, want %d with %q", found.Watermark, read, lowWatermark, slices.Sorted(maps.Keys(open)))
				}
				if !maps.Equal(found.open, o.open) || found.Sequence != o.Sequence || found.base != o.base {
					t.Fatalf("the owner believes in %+v, the ledger says %+v", o.Chain, found)
				}
				continue
			}
			if found.Watermark != lowWatermark && found.Watermark != uint64(10*(step+1)) {
				t.Fatalf("low watermark %d was never said", found.Watermark)
			}
			for id := range open {
				if _, read := found.open[id]; !read && (named[id] || found.Watermark != lowWatermark) {
					t.Fatalf("%s is open and not named", id)
				}
			}
			// The successor goes on from there.
			core = &fading{Core: ledger, left: forever}
			o = takeOver(t, core, strconv.Itoa(step+1), limit)
			if !maps.Equal(found.open, o.open) || o.Watermark != found.Watermark {
				t.Fatalf("it takes over %+v, want %+v", o.Chain, found)
			}
			named, lowWatermark = map[string]bool{}, found.Watermark // the others come back by their inputs
			for id := range found.open {
				named[id] = true
			}
		}
	})
}

// TestCheckpointsStaySmall: what the checkpoints of many sessions weigh follows
// what changes, a takeover never reads much more than it has to, and no message
// is so large that it would stand in the object store.
func TestCheckpointsStaySmall(t *testing.T) {
	t.Parallel()
	const sessions, changes, checkpoints = 12_000, 60, 300
	ledger := memory.New(1)
	o := takeOver(t, ledger, "one", 5000)
	open := map[string]bool{}
	var order []string
	add := func() {
		id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(strconv.Itoa(len(order)))).String()
		open[id], order = true, append(order, id)
	}
	for range sessions {
		add()
	}
	for i := range uint64(checkpoints) {
		for range changes {
			delete(open, order[len(order)-sessions])
			add()
		}
		o.openSessions(open)
		o.write(i + 1)
	}
	var bytes, largest int
	for message, err := range ledger.Scan(t.Context(), bus.ShardStream(0), 1) {
		if err != nil {
			t.Fatal(err)
		}
		bytes, largest = bytes+len(message.Body), max(largest, len(message.Body))
	}
	if named := len(`"00000000-0000-0000-0000-000000000000",`); largest > 200<<10 || bytes > named*(4*2*changes*checkpoints+4*sessions) {
		t.Errorf("%d bytes in all, the largest message has %d", bytes, largest)
	}
	found, _ := stands(t, ledger)
	if len(found.open) != sessions || found.names > 3*sessions || found.messages > maxMessages {
		t.Errorf("%d sessions are open; %d names in %d messages say so", len(found.open), found.names, found.messages)
	}
}

// TestCheckpointsAreReadBackSoFar: however little changes, a takeover reads a
// bounded number of them.
func TestCheckpointsAreReadBackSoFar(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	o := takeOver(t, ledger, "one", 5000)
	open := map[string]bool{}
	for i := range 3 * maxMessages {
		open[strconv.Itoa(i)] = true
	}
	most := 0
	for i := range uint64(maxMessages + 100) {
		o.openSessions(open)
		o.write(i + 1)
		most = max(most, o.messages)
	}
	if found, _ := stands(t, ledger); most != maxMessages || found.messages > 200 || len(found.open) != len(open) {
		t.Errorf("%d messages count, at most %d did", found.messages, most)
	}
}

// TestFormerCheckpoints: one that names all open sessions itself, as they once
// did, also out of the object store, is a base like any other.
func TestFormerCheckpoints(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"in the message": 3, "in the object store": 9000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := memory.New(1)
			var open []string
			for range count {
				open = append(open, `"`+uuid.NewString()+`"`)
			}
			event := schemas.Event{
				ID: "c", Source: "/podium/supervisor", Type: schemas.TypeCheckpoint, DataContentType: schemas.MediaTypeJSON,
				Data: []byte(`{"epoch":4,"since":1,"owner":"x","time":"2026-01-01T00:00:00Z","low_watermark":7,"open":[` + strings.Join(open, ",") + `]}`),
			}
			if err := artifact.Offload(t.Context(), ledger.Artifacts(), &event); err != nil {
				t.Fatal(err)
			}
			message, err := binding.Encode(bus.ShardSubject(0), &event)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = bus.Append(t.Context(), ledger, message, bus.Expect{}); err != nil {
				t.Fatal(err)
			}
			o := takeOver(t, ledger, "one", 5000)
			if len(o.open) != count || o.Epoch != 5 || o.Watermark != 7 {
				t.Errorf("%d sessions open, epoch %d, low watermark %d", len(o.open), o.Epoch, o.Watermark)
			}
			o.write(8)
			if found, newest := stands(t, ledger); len(found.open) != 0 || newest.Epoch != 5 {
				t.Errorf("%d sessions open, epoch %d", len(found.open), newest.Epoch)
			}
		})
	}
}

// TestEpochsNameTheirBuild: the checkpoint that an epoch begins with says which version of
// Podium decides in it.
func TestEpochsNameTheirBuild(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	for i, build := range []string{"v1 abc", "v2 def"} {
		o := &owner{loop: eventloop.New(func(operation func()) { operation() }), live: map[string]bool{}}
		o.Writer = NewWriter(Config{
			Owner: "one", Build: build, Names: 10, Sessions: o, Failed: func(err error) { t.Fatal(err) },
			Publisher: &publisher.Publisher{Core: ledger, Loop: o.loop, Log: zerolog.Nop()},
		})
		if _, err := o.TakeOver(t.Context(), midnight); err != nil {
			t.Fatal(err)
		}
		if _, newest := stands(t, ledger); newest.Build != build || newest.Epoch != uint64(i+1) || newest.Since != 0 { //nolint:gosec // small
			t.Errorf("an epoch begins with %+v", newest)
		}
		o.write(uint64(10 * (i + 1))) //nolint:gosec // small
	}
}

// TestWatermarkIsOnesOwnOnceItMoves: an owner that has not published what its takeover found says
// nothing of it. So whoever takes over from it still publishes what a fenced owner left below the
// low watermark.
func TestWatermarkIsOnesOwnOnceItMoves_X03(t *testing.T) {
	t.Parallel()
	core := memory.New(1)
	takeOver(t, core, "first", 5).write(10)
	open := map[string]bool{}
	for i := range 40 { // a base with few, changes with many
		open["session-"+strconv.Itoa(i)] = true
		later := takeOver(t, core, "later", 5)
		later.openSessions(open)
		later.write(10)
	}
	if last := takeOver(t, core, "last", 5); last.before.watermarkEpoch != 1 {
		t.Errorf("the low watermark counts as epoch %d's, want 1", last.before.watermarkEpoch)
	}
	fifth := takeOver(t, core, "moves", 5)
	fifth.write(11)
	if found, _ := stands(t, core); found.watermarkEpoch != fifth.Epoch || found.watermarkSince != fifth.since {
		t.Errorf("the low watermark counts as epoch %d's, want %d", found.watermarkEpoch, fifth.Epoch)
	}
}
