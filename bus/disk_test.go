package bus_test

import (
	"testing"

	"podium/bus"
)

// TestDiskShare: what others take makes the disk smaller, and a small one has the same
// kept free as one of 160 MiB.
func TestDiskShare(t *testing.T) {
	t.Parallel()
	const mib, gib = 1 << 20, 1 << 30
	for _, c := range []struct {
		disk bus.Disk
		want float64
	}{
		{bus.Disk{}, 0},
		{bus.Disk{Used: gib}, 0},
		{bus.Disk{Used: gib, Known: true}, 100},
		{bus.Disk{Used: 9 * gib, Free: gib, Known: true}, 90},
		{bus.Disk{Used: gib, Free: 9 * gib, Known: true}, 10},
		{bus.Disk{Free: 16 * mib, Known: true}, 90},
		{bus.Disk{Used: 16 * mib, Free: 32 * mib, Known: true}, 80},
		{bus.Disk{Free: 1000 * gib, Known: true}, 0},
	} {
		if got := c.disk.Share(); got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("%+v: %f %% are used, want %f", c.disk, got, c.want)
		}
	}
}
