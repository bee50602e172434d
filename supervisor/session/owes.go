package session

import "podium/schemas"

// Owes reports whether Outputs may say something about these facts. It may say
// yes where nothing is owed, and never no where something is: in a record, only
// the last transition may owe.
func Owes(facts []schemas.Fact) bool {
	for i := range facts {
		switch f := &facts[i]; {
		case f.MessageReceived != nil, f.RunStarted != nil, f.ComplexityAssessed != nil, f.PlanCreated != nil, f.PlanRefused != nil,
			f.TaskRouted != nil, f.TaskReady != nil, f.TaskUnserved != nil, f.TaskStarted != nil, f.TaskProgressed != nil, f.TaskHeard != nil, f.TaskDelayed != nil,
			f.TaskCompleted != nil, f.TaskSkipped != nil, f.ResponseLate != nil, f.EntityMismatched != nil, f.RunSettled != nil,
			f.ResendRequested != nil, f.DeliveryReopened != nil:
		case f.TaskFailed != nil && !abandoned(f.TaskFailed.Cause):
		default:
			return true
		}
	}
	return false
}
