package session

import (
	"slices"

	"podium/schemas"
)

// MayHaveOutputs reports whether Outputs may say something about these facts. It may say
// yes where nothing is owed, and never no where something is: in a record, only
// the last transition may owe.
func MayHaveOutputs(facts []schemas.Fact) bool { return slices.ContainsFunc(facts, mayHaveOutputs) }

func mayHaveOutputs(fact schemas.Fact) bool {
	switch f := fact.(type) {
	case *schemas.TaskFailed:
		return mayStillWork(f.Cause)
	case *schemas.TaskDispatched, *schemas.TaskCancelled, *schemas.PermitGranted, *schemas.PermitRefused,
		*schemas.ReplyWithheld, *schemas.DeliveryBounced, *schemas.RunEnded:
		return true
	case *schemas.MessageReceived, *schemas.RunStarted, *schemas.ComplexityAssessed, *schemas.PlanCreated, *schemas.PlanRefused,
		*schemas.TaskRouted, *schemas.TaskReady, *schemas.TaskUnserved, *schemas.TaskStarted, *schemas.TaskProgressed, *schemas.TaskHeartbeat,
		*schemas.TaskDelayed, *schemas.TaskCompleted, *schemas.TaskSkipped, *schemas.ResponseLate, *schemas.EntityMismatched,
		*schemas.RunSettled, *schemas.ResendRequested, *schemas.DeliveryReopened:
	}
	return false
}
