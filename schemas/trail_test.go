package schemas_test

import (
	"testing"

	"pgregory.net/rapid"

	"podium/schemas"
)

func TestTrailText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]schemas.Trail{
		"7":               {Applied: 7},
		"20.10":           {Applied: 20, Runs: 10},
		"20.10.3.2.1.9.8": {Applied: 20, Runs: 10, Queued: 3, Others: 2, Asides: 1, RunPrevious: 9, Jump: 8},
		"20.0.0.0.0.0.18": {Applied: 20, Jump: 18},
		"20.9.0.0.1.9.8.2.4": {
			Applied: 20, Runs: 9, Asides: 1, RunPrevious: 9, Jump: 8, Reopened: 2, Again: 4,
		},
		"20.9.0.0.1.9.8.2": {Applied: 20, Runs: 9, Asides: 1, RunPrevious: 9, Jump: 8, Reopened: 2},
	} {
		got, err := schemas.ParseTrail(text)
		if err != nil || *got != want || got.String() != text {
			t.Errorf("%s is %+v (%v), written %s", text, got, err, want.String())
		}
	}
	for _, text := range []string{"", "0", "0.1", "x", "1.", ".1", "1.-1", "1.1.2", "1.1.1.1.1.1.1.1.1.1", "1.1.0.0.0.0.0.0.1", "1.1.0.0.0.0.0.1.2", "18446744073709551616", "1 2"} {
		if got, err := schemas.ParseTrail(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// drawSession returns records of a session whose runs begin in their order, with
// facts about runs that have ended and that wait strewn in.
func drawSession(t *rapid.T, most int) []schemas.Record {
	var records []schemas.Record
	runs, begun, input := 0, 0, uint64(0)
	for number := range rapid.IntRange(1, most).Draw(t, "records") {
		record := schemas.Record{Number: uint64(number + 1)} //nolint:gosec // a small number
		for range rapid.IntRange(1, 3).Draw(t, "transitions") {
			var transition schemas.Transition
			if len(records) == 0 || rapid.IntRange(0, 3).Draw(t, "deadline") > 0 {
				input += rapid.Uint64Range(1, 9).Draw(t, "input")
				transition.Cause.Sequence = input
			}
			add := func(f schemas.Fact) { transition.Facts = append(transition.Facts, f) }
			switch what := rapid.IntRange(0, 7).Draw(t, "what"); {
			case what == 0:
				runs++
				add(&schemas.MessageReceived{Run: runs, Disposition: schemas.DispositionQueued})
			case what == 1 && begun < runs:
				begun++
				add(&schemas.RunEnded{Run: begun - 1})
				add(&schemas.RunStarted{Run: begun})
			case what == 2 && begun == runs:
				runs, begun = runs+1, begun+1
				add(&schemas.MessageReceived{Run: runs, Disposition: schemas.DispositionStarted})
				add(&schemas.RunStarted{Run: begun})
			case what == 3:
				add(&schemas.MessageReceived{Run: rapid.IntRange(0, runs).Draw(t, "of"), Disposition: schemas.DispositionIgnored})
			case what == 4 && runs > 0:
				add(&schemas.ResponseLate{Run: rapid.IntRange(1, runs).Draw(t, "late")})
			case what == 5 && runs > 0:
				add(&schemas.PermitRefused{Run: rapid.IntRange(1, runs).Draw(t, "refused")})
			case what == 6 && begun > 0:
				add(&schemas.DeliveryReopened{Run: rapid.IntRange(1, begun).Draw(t, "reopened")})
			default:
				add(&schemas.TaskStarted{Run: begun})
			}
			record.Transitions = append(record.Transitions, transition)
		}
		records = append(records, record)
	}
	return records
}

// TestTrailSaysWhatIsBefore: the trail of each record says what the records up to it
// come to, and its jumps lead to every one before it in few steps, also when the
// writer began to read at a snapshot.
func TestTrailSaysWhatIsBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := drawSession(t, 200)
		sequence := func(number uint64) uint64 { return 10 * number }
		trails := make([]*schemas.Trail, len(records)+1) // by number
		var tip, read schemas.Tip
		var want schemas.Trail
		own, begun, current, seen := uint64(0), uint64(0), uint64(0), uint64(0)
		for i := range records {
			record := &records[i]
			trail := tip.Next(record)
			if i > 0 {
				if other := read.Next(record); *other != *trail {
					t.Fatalf("record %d: who began to read at a snapshot says %s, and not %s", record.Number, other, trail)
				}
			}
			aside, speaks := false, false
			for i := range record.Transitions {
				transition := &record.Transitions[i]
				want.Applied = max(want.Applied, transition.Cause.Sequence)
				for _, fact := range transition.Facts {
					run := uint64(schemas.RunOf(fact)) //nolint:gosec // not negative
					if schemas.As[*schemas.RunStarted](fact) != nil {
						begun, current, want.Again = run, run, 0
					}
					if schemas.As[*schemas.DeliveryReopened](fact) != nil {
						current, want.Again = run, run
						want.Reopened++
					}
					if schemas.As[*schemas.MessageReceived](fact) != nil || schemas.As[*schemas.PermitRefused](fact) != nil {
						seen++
					}
					if schemas.As[*schemas.MessageReceived](fact) != nil && schemas.As[*schemas.MessageReceived](fact).Begins() {
						want.Runs = run
					} else if run > 0 && run != current {
						aside = true
					}
				}
			}
			for fact := range record.AllFacts() {
				speaks = speaks || current > 0 && uint64(schemas.RunOf(fact)) == current //nolint:gosec // not negative
			}
			want.Queued, want.Others = want.Runs-begun, seen-want.Runs
			if aside {
				want.Asides++
			}
			want.RunPrevious, want.Jump = own, trail.Jump
			if own == sequence(record.Number-1) {
				want.RunPrevious = 0
			}
			if *trail != want {
				t.Fatalf("record %d says %s, want %s", record.Number, trail, &want)
			}
			if trails[record.Number] = trail; speaks {
				own = sequence(record.Number)
			}
			record.Roots = tip.Roots()
			tip = tip.After(record, trail, sequence(record.Number))
			if read = read.After(record, trail, sequence(record.Number)); rapid.IntRange(0, 7).Draw(t, "snapshot") == 0 || i == 0 {
				read = schemas.TipBefore(record, sequence(record.Number-1)).After(record, trail, sequence(record.Number))
			}
		}
		newest := uint64(len(records))
		for wanted := uint64(1); wanted <= newest; wanted++ {
			steps := 0
			for at := newest; at != wanted; steps++ {
				if jump := trails[at].Jump / 10; jump >= wanted {
					at = jump
				} else {
					at--
				}
			}
			if steps > 18 { // twice the digits of 200, and a few
				t.Fatalf("from record %d to %d it takes %d steps", newest, wanted, steps)
			}
		}
	})
}
