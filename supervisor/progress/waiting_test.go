package progress_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

// TestThatARunWaitsIsToldAtOnce: what it asked for waits below it, so that it waits as well: until when is told as any other change is, and once
// more that it works again.
func TestThatARunWaitsIsToldAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	l := d.session("a")
	request, until := l.request(), midnight().Add(90*time.Minute)
	d.until(first)
	l.says(1, until)
	d.until(20 * second)
	l.says(2, until)
	d.until(21 * second)
	l.says(3, time.Time{})
	d.until(25 * second)
	d.expect(request, first, first+second, first+11*second, 20*second, 21*second)
	if told, want := d.waits(), []time.Time{{}, until, until, until, {}}; !slices.EqualFunc(told, want, time.Time.Equal) {
		t.Errorf("it is said to wait until %s, want %s", told, want)
	}
}

// waits returns until when each update says that the run waits.
func (d *desk) waits() (told []time.Time) {
	d.tb.Helper()
	for message, err := range d.ledger.Scan(context.Background(), bus.ShardStream(0), 1, bus.ProgressSubject("top", 0)) {
		if err != nil {
			d.tb.Fatal(err)
		}
		event, err := binding.Decode(message)
		if err != nil {
			d.tb.Fatal(err)
		}
		update, err := schemas.DecodeProgressUpdate(event.Data)
		if err != nil {
			d.tb.Fatal(err)
		}
		told = append(told, update.Payload.WaitingUntil)
	}
	return told
}
