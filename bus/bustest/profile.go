package bustest

import (
	"time"

	"podium/schemas"
)

// DeskProfile sends everything to one worker, and tries each of its tasks so often.
func DeskProfile(attempts int) schemas.Profile {
	retry := schemas.Retry{Attempts: attempts, Wait: schemas.Duration(time.Second)}
	return schemas.Profile{
		Name: "desk", Language: "en", Agents: []schemas.AgentUse{{Name: "worker"}},
		Routers:   []schemas.Router{{Kind: schemas.RouterDefault, Agent: "worker"}},
		Execution: schemas.Execution{Mode: schemas.ExecutionSingle},
		Retry:     retry, Delivery: retry,
		Deadlines: schemas.Deadlines{Queue: schemas.Duration(time.Minute), Work: schemas.Duration(time.Minute)},
		Languages: []schemas.Language{{Tag: "en", Texts: schemas.Texts{
			TaskFailed: "failed: {detail}", Timeout: "too slow", NoRoute: "nobody", Cancelled: "stopped", Partial: "so far:", Empty: "done",
		}}},
	}
}
