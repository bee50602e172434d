package recovery

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"podium/schemas"
)

// Way is what a profile has done about a failure; empty when it is told, as ever. What nobody knows to have happened is for people alone.
func Way(profile *schemas.Profile, category schemas.FailureCategory, cause schemas.FailureKind) schemas.RecoveryWay {
	way, named := profile.Recovery[string(category)]
	if !named {
		way = profile.Recovery[schemas.RecoveryDefault]
	}
	if cause == schemas.FailureUnknownEffect && !asksPeople(way) {
		return inDoubt(profile)
	}
	return way
}

func asksPeople(way schemas.RecoveryWay) bool {
	return way == schemas.WayHuman || way == schemas.WayCoordinator
}

func inDoubt(profile *schemas.Profile) schemas.RecoveryWay {
	for _, way := range []schemas.RecoveryWay{schemas.WayHuman, schemas.WayCoordinator} {
		if Channel(profile, way) != nil {
			return way
		}
	}
	return ""
}

// Channel is who is asked by a way; nil when it asks nobody, or whoever has begun the run.
func Channel(profile *schemas.Profile, way schemas.RecoveryWay) *schemas.EscalationChannel {
	switch {
	case profile.Escalation == nil:
	case way == schemas.WayHuman:
		return profile.Escalation.Human
	case way == schemas.WayCoordinator:
		return profile.Escalation.Coordinator
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
	case schemas.WayCoordinator, schemas.WayFail:
	}
	return schemas.RecoveryEscalateToCoordinator
}

// Choices are what people may say to a failure. Again says that another attempt may help, and replans that the plan may change; whoever has begun the run
// writes none.
func Choices(way schemas.RecoveryWay, again, replans bool) []schemas.InquiryChoice {
	choices := schemas.InquiryEscalation.Choices()
	return slices.DeleteFunc(choices, func(choice schemas.InquiryChoice) bool {
		return choice == schemas.ChoiceRetry && !again ||
			choice == schemas.ChoiceReplan && (way == schemas.WayRequester || !replans)
	})
}

// Faults are what is wrong with what a profile says: each way that it names needs whoever it asks.
func Faults(profile *schemas.Profile) []error {
	var faults []error
	for _, category := range slices.Sorted(maps.Keys(profile.Recovery)) {
		way := profile.Recovery[category]
		switch {
		case category != schemas.RecoveryDefault && !slices.Contains(categories(), schemas.FailureCategory(category)):
			faults = append(faults, fmt.Errorf("recovery: unknown category %q", category))
		case !slices.Contains(ways(), way):
			faults = append(faults, fmt.Errorf("recovery.%s: unknown value %q", category, way))
		case asksPeople(way) && Channel(profile, way) == nil:
			faults = append(faults, fmt.Errorf("recovery.%s: %s needs escalation.%s", category, way, way))
		case way == schemas.WayRequester && profile.Waiting == nil:
			faults = append(faults, fmt.Errorf("recovery.%s: %s needs waiting", category, way))
		}
	}
	for _, way := range []schemas.RecoveryWay{schemas.WayCoordinator, schemas.WayHuman} {
		if channel := Channel(profile, way); channel != nil && (len(channel.People) == 0 || channel.Expire <= 0 || channel.Remind < 0) {
			faults = append(faults, errors.New("escalation."+string(way)+": it needs people; expire is longer than 0, remind is not negative"))
		}
	}
	return faults
}

func categories() []schemas.FailureCategory {
	return []schemas.FailureCategory{
		schemas.CategoryExecution, schemas.CategoryValidation, schemas.CategoryDependency, schemas.CategoryResource, schemas.CategoryCoordination, schemas.CategoryInput,
	}
}

func ways() []schemas.RecoveryWay {
	return []schemas.RecoveryWay{schemas.WaySkip, schemas.WayHuman, schemas.WayCoordinator, schemas.WayRequester, schemas.WayFail}
}
