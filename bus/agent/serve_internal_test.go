package agent

import (
	"testing"
	"time"

	"podium/bus"
	"podium/bus/memory"
)

// TestWhatIsNotPositiveIsTheDefault: a negative time would be over before it begins, without
// end, and a negative count would be no bound.
func TestWhatIsNotPositiveIsTheDefault(t *testing.T) {
	t.Parallel()
	worker := memory.New(1).Worker("alpha")
	want := ServeConfig{}.withDefaults(worker)
	if want.AckWait != 30*time.Second || want.Heartbeat != bus.DefaultHeartbeat || want.ProgressEvery != DefaultProgressEvery ||
		want.DrainTimeout != 30*time.Second || want.Remember != 1024 {
		t.Fatalf("by default it is %+v", want)
	}
	got := ServeConfig{
		AckWait: -time.Second, Heartbeat: -time.Second, ProgressEvery: -time.Second, DrainTimeout: -time.Second, Remember: -1,
	}.withDefaults(worker)
	if got.AckWait != want.AckWait || got.Heartbeat != want.Heartbeat || got.ProgressEvery != want.ProgressEvery ||
		got.DrainTimeout != want.DrainTimeout || got.Remember != want.Remember {
		t.Errorf("what is negative stays: %+v", got)
	}
}
