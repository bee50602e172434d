package view

import (
	"cmp"
	"slices"

	"podium/schemas/workflow"
)

// The ranks of rows in a window that has no room for all.
const (
	rankFirstFailures = iota // a third of the window at most, with what they have failed of
	rankAsks
	rankAtWork
	rankAskedFor
	rankFailed
	rankReady
	rankPending
	rankGivenUp
	rankCompleted
)

func rankOf(state workflow.TaskState) int {
	switch state {
	case workflow.TaskWaitingInput, workflow.TaskWaitingApproval, workflow.TaskBlocked:
		return rankAsks
	case workflow.TaskRunning:
		return rankAtWork
	case workflow.TaskDispatched:
		return rankAskedFor
	case workflow.TaskFailed:
		return rankFailed
	case workflow.TaskReady, workflow.TaskDue, workflow.TaskWaiting:
		return rankReady
	case workflow.TaskPending:
		return rankPending
	case workflow.TaskSkipped, workflow.TaskCancelled:
		return rankGivenUp
	case workflow.TaskCompleted:
	}
	return rankCompleted
}

// window chooses the rows that are shown when there is room for so many: what is at
// work, some of what has failed, then what comes next, and last what was completed.
func (d *drawing) window(room int) []bool {
	type ranked struct{ at, rank int }
	order := make([]ranked, len(d.rows))
	failures := room / 3
	for i := range d.rows {
		r := &d.rows[i]
		rank := rankOf(cmp.Or(r.state, r.of))
		if rank == rankFailed && failures > 0 {
			rank = rankFirstFailures
			failures--
		}
		order[i] = ranked{i, rank}
	}
	slices.SortStableFunc(order, func(a, b ranked) int {
		if by := cmp.Compare(a.rank, b.rank); by != 0 || a.rank != rankCompleted {
			return by
		}
		return d.rows[b.at].ended.Compare(d.rows[a.at].ended) // the newest first
	})
	chosen := make([]bool, len(d.rows))
	for _, next := range order {
		needs := 0
		for at := next.at; at >= 0 && !chosen[at]; at = d.rows[at].above {
			needs++
		}
		if needs > room {
			continue
		}
		room -= needs
		for at := next.at; at >= 0 && !chosen[at]; at = d.rows[at].above {
			chosen[at] = true
		}
	}
	return chosen
}

// unlessCompleted chooses all rows but completed tasks and what belongs to them.
func (d *drawing) unlessCompleted() []bool {
	chosen := make([]bool, len(d.rows))
	for i := range d.rows {
		r := &d.rows[i]
		chosen[i] = r.state != workflow.TaskCompleted && (r.above < 0 || chosen[r.above])
	}
	return chosen
}

// told returns the text of the rows that were chosen, which are all if that is nil, and
// counts the tasks that were not; left is empty without any.
func (d *drawing) told(chosen []bool) (lines []string, left string) {
	count := make(counts)
	for i := range d.rows {
		switch {
		case chosen == nil || chosen[i]:
			lines = append(lines, d.rows[i].text)
		case d.rows[i].state != "":
			count[d.rows[i].state]++
		}
	}
	return lines, d.counted(count)
}
