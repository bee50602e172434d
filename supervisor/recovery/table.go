package recovery

import "podium/schemas"

// OfTable is what is done about a failure by schemas.WayTable (M-45): what has taken too long, and a result that cannot be used, are tried once more before it is asked.
func OfTable(category schemas.FailureCategory) schemas.RecoveryWay {
	switch category {
	case schemas.CategoryValidation:
		return schemas.WayFix
	case schemas.CategoryDependency, schemas.CategoryCoordination:
		return schemas.WayPlanner
	case schemas.CategoryResource:
		return schemas.WayBudget
	case schemas.CategoryInput:
		return schemas.WayRequester
	case schemas.CategoryExecution:
	}
	return schemas.WayCoordinator
}

// said is what a profile says of a category, by its name or by default.
func said(profile *schemas.Profile, category schemas.FailureCategory) schemas.RecoveryWay {
	way, named := profile.Recovery[string(category)]
	if !named {
		way = profile.Recovery[schemas.RecoveryDefault]
	}
	if way == schemas.WayTable {
		way = OfTable(category)
	}
	return way
}

// ofAgent is what is done where the way is WayBudget and an agent has no room, which no budget gives it.
func ofAgent(profile *schemas.Profile) schemas.RecoveryWay {
	if Channel(profile, schemas.WayCoordinator) == nil {
		return ""
	}
	return schemas.WayCoordinator
}

// Unmended is what is done about a failure that nobody can mend: it is one of coordination. Empty is nothing.
func Unmended(profile *schemas.Profile, cause schemas.FailureKind) schemas.RecoveryWay {
	way := Way(profile, schemas.CategoryCoordination, cause)
	if way == schemas.WayFix {
		return ""
	}
	return way
}

// Judge is the agent that judges failures, beside that of schemas.Profile.Replan; empty is none.
func Judge(profile *schemas.Profile) string {
	if channel := Channel(profile, schemas.WayPlanner); channel != nil {
		return channel.Agent
	}
	return ""
}

// Judged reports whether a failure is for that agent.
func Judged(profile *schemas.Profile, category schemas.FailureCategory, cause schemas.FailureKind) bool {
	way := Way(profile, category, cause)
	if way == schemas.WayFix {
		way = Unmended(profile, cause)
	}
	return Judge(profile) != "" && way == schemas.WayPlanner
}

// Changes reports whether failures may change the plan of a run without anybody who is asked saying so.
func Changes(profile *schemas.Profile) bool {
	if Judge(profile) != "" {
		return true
	}
	for _, category := range Categories() {
		if said(profile, category) == schemas.WayFix {
			return true
		}
	}
	return false
}

// LeavesBudget reports whether whoever is upstream decides about what does not fit the budget of a run.
func LeavesBudget(profile *schemas.Profile) bool {
	channel := Channel(profile, schemas.WayBudget)
	return said(profile, schemas.CategoryResource) == schemas.WayBudget && channel != nil && channel.Upstream
}

// Deciding are the people who decide about what is no failure of a task; nil where there are none.
func Deciding(profile *schemas.Profile) *schemas.EscalationChannel {
	for _, way := range []schemas.RecoveryWay{schemas.WayHuman, schemas.WayCoordinator} {
		if channel := Channel(profile, way); channel != nil && len(channel.People) > 0 {
			return channel
		}
	}
	return nil
}
