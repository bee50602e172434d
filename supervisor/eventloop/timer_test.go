package eventloop

import (
	"slices"
	"testing"
	"time"
)

// TestTimersExpireInOrder: by time, and those of one moment as they were set.
func TestTimersExpireInOrder(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var a timers
	var rang []string
	set := func(name string, after time.Duration) {
		a.add(start.Add(after), func(now time.Time) { rang = append(rang, name) })
	}
	if _, ok := a.next(); ok || a.expire(start) {
		t.Fatal("something rings before anything was set")
	}
	set("c", 2*time.Second)
	set("a", time.Second)
	set("d", 2*time.Second)
	set("b", time.Second)
	set("e", 3*time.Second)
	if a.expire(start.Add(time.Second - 1)) {
		t.Error("a timer expired early")
	}
	if next, ok := a.next(); !ok || !next.Equal(start.Add(time.Second)) {
		t.Errorf("next is %s", next)
	}
	if !a.expire(start.Add(2*time.Second)) || !slices.Equal(rang, []string{"a", "b", "c", "d"}) {
		t.Errorf("rang %v", rang)
	}
	a.expire(start.Add(time.Hour))
	if len(rang) != 5 || a.expire(start.Add(2*time.Hour)) {
		t.Errorf("rang %v", rang)
	}
}

// TestTimersSetWhileOthersExpire: what a timer sets expires in the same round if it is due.
func TestTimersSetWhileOthersExpire(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var a timers
	rang := 0
	a.add(now, func(at time.Time) {
		rang++
		a.add(at, func(time.Time) { rang++ })
		a.add(at.Add(1), func(time.Time) { rang++ })
	})
	if a.expire(now); rang != 2 {
		t.Errorf("%d timers expired, want 2", rang)
	}
}
