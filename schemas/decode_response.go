package schemas

// DecodeExecutionResponse reads an execution_response with the verdict of its
// schema. Errors are *InvalidMessageError.
func DecodeExecutionResponse(body []byte) (ExecutionResponse, error) {
	var response ExecutionResponse
	err := decode(body, func(d *decoder) {
		d.message(&response.Envelope, ExecutionResponseType, func() {
			response.Payload = readResponsePayload(d)
		}, "in_reply_to")
	})
	if err != nil {
		return ExecutionResponse{}, err
	}
	return response, nil
}

func readResponsePayload(d *decoder) (p ResponsePayload) {
	d.object(func(name []byte) {
		switch string(name) {
		case "status":
			p.Status = choice(d, StatusCompleted, StatusPartial, StatusFailed, StatusBlocked)
		case "plan_id":
			p.PlanID = d.identifier()
		case "execution_summary":
			p.ExecutionSummary = readExecutionSummary(d)
		case "deliverables":
			p.Deliverables = list(d, readDeliverable)
		case "validation_results":
			p.ValidationResults = list(d, readValidationResult)
		case "resource_usage":
			p.ResourceUsage = readResourceUsage(d)
		case "issues_encountered":
			p.IssuesEncountered = list(d, readIssue)
		case "recommendations":
			p.Recommendations = list(d, (*decoder).text)
		case "result":
			result := readResult(d)
			p.Result = &result
		default:
			d.skip()
		}
	}, "status", "plan_id")
	return p
}

func readResult(d *decoder) (r Result) {
	d.object(func(name []byte) {
		switch string(name) {
		case "text":
			r.Text = d.text()
		case "data":
			r.Data = d.free()
		case "media_type":
			r.MediaType = d.text()
		default:
			d.skip()
		}
	})
	return r
}

func readExecutionSummary(d *decoder) *ExecutionSummary {
	var s ExecutionSummary
	d.object(func(name []byte) {
		switch string(name) {
		case "tasks_completed":
			s.TasksCompleted = d.integer(maxInteger)
		case "tasks_failed":
			s.TasksFailed = d.integer(maxInteger)
		case "tasks_skipped":
			s.TasksSkipped = d.integer(maxInteger)
		case "total_tasks":
			s.TotalTasks = d.integer(maxInteger)
		case "completion_percentage":
			s.CompletionPercentage = d.integer(100)
		default:
			d.skip()
		}
	}, "tasks_completed", "tasks_failed", "tasks_skipped", "total_tasks", "completion_percentage")
	return &s
}

func readDeliverable(d *decoder) (v Deliverable) {
	d.object(func(name []byte) {
		switch string(name) {
		case "deliverable_id":
			v.DeliverableID = d.identifier()
		case "task_id":
			v.TaskID = d.identifier()
		case "agent":
			v.Agent = d.identifier()
		case "type":
			v.Type = choice(d, "code", "documentation", "report", "config")
		case "path":
			v.Path = d.text()
		case "description":
			v.Description = d.text()
		case "validation_status":
			v.ValidationStatus = choice(d, "passed", "failed", "skipped")
		case "metadata":
			v.Metadata = d.freeObject()
		default:
			d.skip()
		}
	}, "deliverable_id", "type")
	return v
}

func readValidationResult(d *decoder) (v ValidationResult) {
	d.object(func(name []byte) {
		switch string(name) {
		case "validator":
			v.Validator = d.identifier()
		case "status":
			v.Status = choice(d, "passed", "failed")
		case "details":
			v.Details = d.text()
		case "issues":
			v.Issues = list(d, readValidationIssue)
		default:
			d.skip()
		}
	}, "validator", "status")
	return v
}

func readValidationIssue(d *decoder) (i ValidationIssue) {
	d.object(func(name []byte) {
		switch string(name) {
		case "severity":
			i.Severity = choice(d, "error", "warning", "info")
		case "message":
			i.Message = d.text()
		case "file":
			i.File = d.text()
		case "line":
			i.Line = d.integer(maxInteger)
		default:
			d.skip()
		}
	}, "severity", "message")
	return i
}

func readResourceUsage(d *decoder) *ResourceUsage {
	var u ResourceUsage
	d.object(func(name []byte) {
		switch string(name) {
		case "tokens_used":
			u.TokensUsed = d.integer(maxInteger)
		case "time_elapsed_seconds":
			u.TimeElapsedSeconds = d.number(maxSeconds)
		case "agent_execution_times":
			u.AgentExecutionTimes = dictionary(d, seconds)
		default:
			d.skip()
		}
	})
	return &u
}

func seconds(d *decoder) float64 { return d.number(maxSeconds) }

func readIssue(d *decoder) (i Issue) {
	d.object(func(name []byte) {
		switch string(name) {
		case "issue_id":
			i.IssueID = d.identifier()
		case "task_id":
			i.TaskID = d.identifier()
		case "agent":
			i.Agent = d.identifier()
		case "severity":
			i.Severity = choice(d, "critical", "high", "medium", "low")
		case "description":
			i.Description = d.text()
		case "resolution":
			i.Resolution = choice(d, ResolutionResolved, ResolutionEscalated, ResolutionDeferred)
		case "resolution_details":
			i.ResolutionDetails = d.text()
		case "effect_unknown":
			i.EffectUnknown = d.boolean()
		case "category":
			i.Category = choice(d, CategoryExecution, CategoryValidation, CategoryDependency, CategoryResource, CategoryCoordination)
		default:
			d.skip()
		}
	}, "severity", "description")
	return i
}
