package supervisor_test

import (
	"strconv"
	"testing"

	"podium/schemas"
	"podium/supervisor"
)

// TestSnapshotsFollowTheirWeight: in a conversation of any length snapshots weigh
// little more than what happens, and a load reads a bounded number of records.
func TestSnapshotsFollowTheirWeight_X03(t *testing.T) {
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
	small, weight, snapshots, gap := 0, 0, 0, 0
	for i, record := range records {
		gap++
		body, err := schemas.Marshal(record)
		d.must(err)
		weight += len(body) - len(record.Snapshot)
		if snapshots += len(record.Snapshot); len(record.Snapshot) == 0 {
			continue
		}
		if gap < schemas.SnapshotEvery || gap > schemas.SnapshotWithin {
			t.Errorf("record %d holds a snapshot %d behind the one before it", record.Number, gap)
		}
		if i < 50 && gap == schemas.SnapshotEvery {
			small++
		}
		gap = 0
	}
	if gap >= schemas.SnapshotWithin || small == 0 || snapshots > weight*5/4 {
		t.Errorf("%d records since the last snapshot, %d of small states; snapshots weigh %d bytes, records %d", gap, small, snapshots, weight)
	}
	// A queue makes the state heavy: snapshots are further apart.
	for i := range 200 {
		d.say("thread", "q"+strconv.Itoa(i), "do it")
	}
	d.must(d.work(o))
	before := len(records)
	for range 60 {
		run(o)
	}
	furthest := 0
	gap = 0
	for _, record := range d.recordsOf(id)[before:] {
		if gap++; len(record.Snapshot) > 0 {
			furthest, gap = max(furthest, gap), 0
		}
	}
	if furthest < 2*schemas.SnapshotEvery || furthest > schemas.SnapshotWithin {
		t.Errorf("snapshots are at most %d records apart", furthest)
	}
	second := d.open("second", d.ledger, 0)
	run(second)
	if runs := d.conversation("thread").Runs; len(runs) != 162 || runs[160].Status != schemas.RunCompleted {
		t.Errorf("%d runs", len(runs))
	}
	d.clean()
}
