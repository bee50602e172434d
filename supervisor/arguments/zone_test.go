package arguments_test

import (
	"errors"
	"testing"
	"time"

	"podium/supervisor/arguments"
)

// TestZone: a zone is known by its name alone, and is that of the database that comes along.
func TestZone(t *testing.T) {
	t.Parallel()
	for name, offset := range map[string]int{"": 0, "UTC": 0, "Europe/Berlin": 2 * 3600, "America/New_York": -4 * 3600} {
		zone, err := arguments.Zone(name)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, found := time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC).In(zone).Zone(); found != offset {
			t.Errorf("%q is %d s ahead", name, found)
		}
	}
	for _, name := range []string{"Berlin", "Europe", "../etc/passwd", "Local", "/Europe/Berlin"} {
		if zone, err := arguments.Zone(name); !errors.Is(err, arguments.ErrUnknownZone) {
			t.Errorf("%q is %v, %v", name, zone, err)
		}
	}
}
