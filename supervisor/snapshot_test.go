package supervisor_test

import (
	"strconv"
	"testing"

	"podium/schemas"
	"podium/supervisor"
)

// spacing is how the snapshots of a session lie among its records.
type spacing struct {
	snapshots, weight int // bytes of snapshots, and of records without them
	nearest, furthest int // records that snapshots are apart
}

// spacingOf measures records, and holds them to what bounds a load: behind a snapshot
// stand no more than a few records, or no more than weigh as much as it does.
func (d *desk) spacingOf(records []schemas.Record) spacing {
	d.tb.Helper()
	found := spacing{nearest: len(records) + 1}
	gap, behind, newest := 0, 0, 0
	for i := range records {
		body, err := schemas.Marshal(records[i])
		d.must(err)
		weight := len(body) - len(records[i].Snapshot)
		found.weight += weight
		if gap++; len(records[i].Snapshot) == 0 {
			if gap >= schemas.SnapshotEvery && behind >= newest {
				d.tb.Errorf("record %d: no snapshot, though %d bytes stand behind one of %d bytes", records[i].Number, behind, newest)
			}
			behind += weight
			continue
		}
		found.snapshots += len(records[i].Snapshot)
		found.nearest, found.furthest = min(found.nearest, gap), max(found.furthest, gap)
		gap, behind, newest = 0, 0, len(records[i].Snapshot)
	}
	return found
}

// TestSnapshotsFollowTheirWeight: in a session of any length snapshots weigh
// little more than what happens, and a load reads little more than a snapshot.
func TestSnapshotsFollowTheirWeight(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	id, _ := d.session("thread")
	o := d.open("one", d.ledger, 0)
	run := func(o *supervisor.Owner) {
		d.must(d.work(o))
		for _, agent := range []string{"worker", "chat"} {
			d.answerNewest(agent, "done")
			d.must(d.work(o))
		}
	}
	for i := range 100 {
		d.say("thread", "m"+strconv.Itoa(i), "do it")
		run(o)
	}
	records := d.recordsOf(id)
	if small := d.spacingOf(records[:50]); small.nearest != schemas.SnapshotEvery {
		t.Errorf("of a small state, snapshots are at least %d records apart", small.nearest)
	}
	if all := d.spacingOf(records); all.nearest < schemas.SnapshotEvery || all.snapshots > all.weight*5/4 {
		t.Errorf("%+v", all)
	}
	// What it has seen makes the state heavy: snapshots are further apart.
	for i := range 2000 {
		d.say("thread", "q"+strconv.Itoa(i), "do it")
	}
	d.must(d.work(o))
	for range 60 {
		run(o)
	}
	if all := d.spacingOf(d.recordsOf(id)); all.furthest < 2*schemas.SnapshotEvery || all.snapshots > all.weight*5/4 {
		t.Errorf("%+v", all)
	}
	second := d.open("second", d.ledger, 0)
	run(second)
	if runs := d.sessionHistory("thread").Runs; len(runs) != 162 || runs[160].Status != schemas.RunCompleted {
		t.Errorf("%d runs", len(runs))
	}
	d.clean()
}
