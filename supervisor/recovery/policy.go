package recovery

import (
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
)

// Way is what a profile has done about a failure; empty when it is told, as ever. What nobody knows to have happened is for people alone.
func Way(profile *schemas.Profile, category schemas.FailureCategory, cause schemas.FailureKind) schemas.RecoveryWay {
	way := said(profile, category)
	if way == schemas.WayBudget && cause != schemas.FailureBudget {
		way = ofAgent(profile)
	}
	if channel := Channel(profile, way); cause == schemas.FailureUnknownEffect && !fault.Is("what nobody knows is left out like all else") && (!asksPeople(way) || channel != nil && channel.Upstream) {
		return inDoubt(profile)
	}
	return way
}

func asksPeople(way schemas.RecoveryWay) bool {
	return way == schemas.WayHuman || way == schemas.WayCoordinator
}

func inDoubt(profile *schemas.Profile) schemas.RecoveryWay {
	for _, way := range []schemas.RecoveryWay{schemas.WayHuman, schemas.WayCoordinator} {
		if channel := Channel(profile, way); channel != nil && !channel.Upstream {
			return way
		}
	}
	return ""
}

// Upstream reports whether whoever is upstream decides about a failure for good, also as about one that nobody could mend.
func Upstream(profile *schemas.Profile, category schemas.FailureCategory, cause schemas.FailureKind) bool {
	way := Way(profile, category, cause)
	if way == schemas.WayFix {
		way = Unmended(profile, cause)
	}
	channel := Channel(profile, way)
	return channel != nil && channel.Upstream
}

// Channel is who is asked by a way; nil when it asks nobody, or whoever has begun the run.
func Channel(profile *schemas.Profile, way schemas.RecoveryWay) *schemas.EscalationChannel {
	switch {
	case profile.Escalation == nil:
	case way == schemas.WayHuman:
		return profile.Escalation.Human
	case way == schemas.WayCoordinator, way == schemas.WayBudget:
		return profile.Escalation.Coordinator
	case way == schemas.WayPlanner:
		return profile.Escalation.Planner
	}
	return nil
}

// Action is what is on record of a way.
func Action(way schemas.RecoveryWay) schemas.Recovery {
	switch way {
	case schemas.WaySkip:
		return schemas.RecoverySkip
	case schemas.WayHuman:
		return schemas.RecoveryEscalateToHuman
	case schemas.WayRequester:
		return schemas.RecoveryAskRequester
	case schemas.WayPlanner:
		return schemas.RecoveryEscalateToPlanner
	case schemas.WayFix:
		return schemas.RecoveryRequestFix
	case schemas.WayCoordinator, schemas.WayBudget, schemas.WayFail, schemas.WayTable:
	}
	return schemas.RecoveryEscalateToCoordinator
}

// Choices are what people may say to a failure. Again says that another attempt may help, and replans that the plan may change; whoever has begun the run
// writes none.
func Choices(way schemas.RecoveryWay, again, replans bool) []schemas.InquiryChoice {
	choices := schemas.HumanTaskFailure.Choices()
	return slices.DeleteFunc(choices, func(choice schemas.InquiryChoice) bool {
		return choice == schemas.ChoiceRetry && !again ||
			choice == schemas.ChoiceReplan && (way == schemas.WayRequester || !replans)
	})
}

// Categories are all of them, in the order in which they are told.
func Categories() []schemas.FailureCategory {
	return []schemas.FailureCategory{
		schemas.CategoryExecution, schemas.CategoryValidation, schemas.CategoryDependency, schemas.CategoryResource, schemas.CategoryCoordination, schemas.CategoryInput,
	}
}
