package heap

import (
	"runtime"
	"testing"
)

func TestRaise(t *testing.T) {
	for name, c := range map[string]struct {
		variable string
		raised   bool
	}{
		"by itself":         {"", true},
		"GOGC is set":       {"GOGC", false},
		"GOMEMLIMIT is set": {"GOMEMLIMIT", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", "")
			t.Setenv("GOMEMLIMIT", "")
			if c.variable != "" {
				t.Setenv(c.variable, "100")
			}
			floor = nil
			runtime.GC()
			before := goal()
			Raise()
			runtime.GC()
			if grown := int(goal()) - int(before); (grown > floorSize) != c.raised {
				t.Errorf("the next collection is due %d bytes later", grown)
			}
		})
	}
}

// goal is the size at which the next collection is due.
func goal() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NextGC
}
