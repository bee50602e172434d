package recovery

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"podium/schemas"
)

// Faults are what is wrong with what a profile says: each way that it names needs whoever it asks.
func Faults(profile *schemas.Profile) []error {
	var faults []error
	for _, category := range slices.Sorted(maps.Keys(profile.Recovery)) {
		way := profile.Recovery[category]
		byDefault := category == schemas.RecoveryDefault
		switch {
		case !byDefault && !slices.Contains(Categories(), schemas.FailureCategory(category)):
			faults = append(faults, fmt.Errorf("recovery: unknown category %q", category))
		case way == schemas.WayTable && byDefault:
			faults = append(faults, ofTable(profile)...)
		case !slices.Contains(ways(), way):
			faults = append(faults, fmt.Errorf("recovery.%s: unknown value %q", category, way))
		default:
			if fault := Lacks(profile, way); fault != nil {
				faults = append(faults, fmt.Errorf("recovery.%s: %s needs %w", category, way, fault))
			}
		}
	}
	return append(faults, ofChannels(profile)...)
}

// ofTable is Faults for the categories that are left to the table.
func ofTable(profile *schemas.Profile) []error {
	var faults []error
	for _, category := range Categories() {
		if _, named := profile.Recovery[string(category)]; named {
			continue
		}
		if fault := Lacks(profile, OfTable(category)); fault != nil && (OfTable(category) != schemas.WayBudget || profile.Budget != nil) {
			faults = append(faults, fmt.Errorf("recovery.default: table has %s for %s, which needs %w", OfTable(category), category, fault))
		}
	}
	return faults
}

// Lacks says what a way needs that a profile does not have; nil is nothing.
func Lacks(profile *schemas.Profile, way schemas.RecoveryWay) error {
	asks := profile.Budget != nil && profile.Budget.Exhausted == schemas.BudgetAsks
	switch {
	case asksPeople(way) && Channel(profile, way) == nil:
		return fmt.Errorf("escalation.%s", way)
	case way == schemas.WayPlanner && profile.Replan == nil && Channel(profile, way) == nil:
		return fmt.Errorf("replan, or escalation.%s", way)
	case way == schemas.WayRequester && profile.Waiting == nil:
		return errors.New("waiting")
	case way == schemas.WayFix && profile.Execution.Mode == schemas.ExecutionSingle:
		return errors.New("a plan, which the execution mode single does not have")
	case way == schemas.WayBudget && !asks && (Channel(profile, way) == nil || !Channel(profile, way).Upstream):
		return errors.New("budget.exhausted: ask, or escalation.coordinator: upstream")
	}
	return nil
}

func ofChannels(profile *schemas.Profile) []error {
	var faults []error
	for _, way := range []schemas.RecoveryWay{schemas.WayCoordinator, schemas.WayHuman} {
		channel := Channel(profile, way)
		switch {
		case channel == nil:
		case channel.Agent != "":
			faults = append(faults, errors.New("escalation."+string(way)+": people decide there, and no agent"))
		case channel.Wait < 0 || channel.Wait > 0 && !channel.Upstream:
			faults = append(faults, errors.New("escalation."+string(way)+": it is upstream that is waited for"))
		case !channel.Upstream && (len(channel.People) == 0 || channel.Expire <= 0 || channel.Remind < 0):
			faults = append(faults, errors.New("escalation."+string(way)+": it needs people; expire is longer than 0, remind is not negative"))
		}
	}
	channel := Channel(profile, schemas.WayPlanner)
	if channel == nil {
		return faults
	}
	stepwise := profile.Replan != nil && profile.Replan.After == schemas.OccasionStep
	switch {
	case channel.Upstream == (channel.Agent != ""):
		faults = append(faults, errors.New("escalation.planner: it is upstream, or an agent; the judge of replan is asked without it"))
	case channel.Wait < 0 || channel.Wait > 0 && !channel.Upstream:
		faults = append(faults, errors.New("escalation.planner: it is upstream that is waited for"))
	case channel.Agent != "" && !schemas.ValidAgentName(channel.Agent):
		faults = append(faults, errors.New("escalation.planner: it names no agent"))
	case channel.Agent != "" && stepwise:
		faults = append(faults, errors.New("escalation.planner: the judge of replan is asked after each step, and about failures with it"))
	case channel.Agent != "" && profile.Execution.Mode == schemas.ExecutionSingle:
		faults = append(faults, errors.New("escalation.planner: the execution mode single has no plan that may change"))
	}
	return faults
}

// ways are those that a category may have.
func ways() []schemas.RecoveryWay {
	return []schemas.RecoveryWay{
		schemas.WaySkip, schemas.WayHuman, schemas.WayCoordinator, schemas.WayRequester, schemas.WayPlanner, schemas.WayFix, schemas.WayBudget, schemas.WayFail,
	}
}
