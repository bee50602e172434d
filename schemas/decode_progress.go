package schemas

import "strconv"

// DecodeProgressUpdate reads a progress_update with the verdict of its schema,
// and refuses one that places a task twice (M-15). Errors are
// *InvalidMessageError.
func DecodeProgressUpdate(body []byte) (ProgressUpdate, error) {
	update, err := readProgressUpdate(body)
	if err != nil {
		return ProgressUpdate{}, err
	}
	if err := update.Payload.checkPlaces(); err != nil {
		return ProgressUpdate{}, err
	}
	return update, nil
}

func readProgressUpdate(body []byte) (ProgressUpdate, error) {
	var update ProgressUpdate
	err := decode(body, func(d *decoder) {
		d.message(&update.Envelope, ProgressUpdateType, func() { update.Payload = readProgressPayload(d) })
	})
	return update, err
}

func readProgressPayload(d *decoder) (p ProgressPayload) {
	d.object(func(name []byte) {
		switch string(name) {
		case "plan_id":
			p.PlanID = d.identifier()
		case "progress_percentage":
			p.ProgressPercentage = d.integer(100)
		case "tasks_completed":
			p.TasksCompleted = identifiers(d)
		case "tasks_in_progress":
			p.TasksInProgress = list(d, readTaskInProgress)
		case "tasks_pending":
			p.TasksPending = identifiers(d)
		case "tasks_blocked":
			p.TasksBlocked = list(d, readTaskBlocked)
		case "tasks_failed":
			p.TasksFailed = identifiers(d)
		case "tasks_skipped":
			p.TasksSkipped = identifiers(d)
		case "resource_usage":
			p.ResourceUsage = readResourceUsage(d)
		case "estimated_completion":
			p.EstimatedCompletion = d.time()
		case "message":
			p.Message = d.text()
		default:
			d.skip()
		}
	}, "plan_id", "progress_percentage")
	return p
}

func readTaskInProgress(d *decoder) (t TaskInProgress) {
	d.object(func(name []byte) {
		switch string(name) {
		case "task_id":
			t.TaskID = d.identifier()
		case "agent":
			t.Agent = d.identifier()
		case "started_at":
			t.StartedAt = d.time()
		case "estimated_completion":
			t.EstimatedCompletion = d.time()
		default:
			d.skip()
		}
	}, "task_id", "agent", "started_at")
	return t
}

func readTaskBlocked(d *decoder) (t TaskBlocked) {
	d.object(func(name []byte) {
		switch string(name) {
		case "task_id":
			t.TaskID = d.identifier()
		case "reason":
			t.Reason = d.text()
		case "requires_replanning":
			t.RequiresReplanning = d.boolean()
		default:
			d.skip()
		}
	}, "task_id", "reason")
	return t
}

// checkPlaces refuses a task that stands in two of the lists or twice in one (M-15).
func (p *ProgressPayload) checkPlaces() error {
	seen := map[string]bool{}
	var problem error
	place := func(list string, i int, task string) {
		if seen[task] && problem == nil {
			problem = &InvalidMessageError{
				Pointer: "/payload/" + list + "/" + strconv.Itoa(i),
				Reason:  "names a task that is placed already",
			}
		}
		seen[task] = true
	}
	for i, task := range p.TasksCompleted {
		place("tasks_completed", i, task)
	}
	for i := range p.TasksInProgress {
		place("tasks_in_progress", i, p.TasksInProgress[i].TaskID)
	}
	for i, task := range p.TasksPending {
		place("tasks_pending", i, task)
	}
	for i := range p.TasksBlocked {
		place("tasks_blocked", i, p.TasksBlocked[i].TaskID)
	}
	for i, task := range p.TasksFailed {
		place("tasks_failed", i, task)
	}
	for i, task := range p.TasksSkipped {
		place("tasks_skipped", i, task)
	}
	return problem
}
