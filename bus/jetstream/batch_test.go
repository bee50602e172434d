package jetstream

import (
	"strconv"
	"testing"
)

func TestTogether(t *testing.T) {
	t.Parallel()
	many := func(count int, checked bool) []*publication {
		waiting := make([]*publication, count)
		for i := range waiting {
			waiting[i] = &publication{subject: strconv.Itoa(i), checked: checked}
		}
		return waiting
	}
	same := func(waiting []*publication, subject string, at ...int) []*publication {
		for _, i := range at {
			waiting[i].subject = subject
		}
		return waiting
	}
	bare := same(many(60, true), "mixed", 5, 45)
	bare[5].checked = false
	large := many(40, true)
	for _, publishing := range large {
		publishing.body = make([]byte, 256<<10)
	}
	for name, test := range map[string]struct {
		waiting []*publication
		want    int
	}{
		"too few":                          {many(batchFrom-1, true), 0},
		"enough":                           {many(batchFrom, true), batchFrom},
		"all that a batch can hold":        {many(MaxBatch, true), MaxBatch},
		"more than that":                   {many(MaxBatch+1, true), MaxBatch},
		"one session twice":                {same(many(60, true), "twice", 20, 40), 40},
		"requests to one agent":            {same(many(60, false), "agent", 1, 2, 3, 4, 50), 60},
		"a session behind its bare append": {bare, 45},
		"large bodies":                     {large, 16},
	} {
		if got := together(test.waiting); got != test.want {
			t.Errorf("%s: %d of %d go together, want %d", name, got, len(test.waiting), test.want)
		}
	}
}
