package planfile

import (
	"fmt"
	"slices"
	"strings"

	"podium/schemas"
	"podium/supervisor/plan"
)

// fewSteps is how many tasks may wait for one another before a plan is hard to judge (C-18).
const fewSteps = 4

// Cautions say what is allowed and not good practice: long chains, tasks that do not say when they are right, and results that nobody
// looks at although the profile has somebody who would. The profile may be nil.
func (p *Plan) Cautions(profile *plan.Profile) []string {
	cautions := []string{} // a list in JSON too
	tasks := p.request.Payload.Tasks
	if p.words() {
		return cautions
	}
	if chain := longestChain(tasks); len(chain) > fewSteps {
		cautions = append(cautions, fmt.Sprintf("%d tasks wait for one another: %s. A plan of 3 or %d steps in a row is easier to judge and to change", len(chain), strings.Join(chain, ", "), fewSteps))
	}
	if open := without(tasks, func(task *schemas.Task) bool { return len(task.ValidationCriteria) > 0 }); len(open) > 0 {
		cautions = append(cautions, fmt.Sprintf("nothing says when these tasks are done right: %s. Name it in validation_criteria", strings.Join(open, ", ")))
	}
	if profile == nil {
		return cautions
	}
	cautions = append(cautions, beyond(tasks, profile)...)
	for i := range profile.Agents {
		agent := &profile.Agents[i]
		unused := !slices.ContainsFunc(tasks, func(task schemas.Task) bool { return task.AssignedTo == agent.Name })
		if agent.Verdict != nil && unused {
			cautions = append(cautions, fmt.Sprintf("no task is for %s, which says whether what others have made is right (profiles.%s.agents, verdict)", agent.Name, profile.Name))
		}
	}
	return cautions
}

func without(tasks []schemas.Task, has func(*schemas.Task) bool) (ids []string) {
	for i := range tasks {
		if !has(&tasks[i]) {
			ids = append(ids, tasks[i].TaskID)
		}
	}
	return ids
}

// longestChain returns the ids of the most tasks that wait for one another, the first first. The graph has no circles.
func longestChain(tasks []schemas.Task) []string {
	index, chains := map[string]int{}, make([][]string, len(tasks))
	for i := range tasks {
		index[tasks[i].TaskID] = i
	}
	var chain func(int) []string
	chain = func(i int) []string {
		if chains[i] == nil {
			var before []string
			for _, id := range tasks[i].Dependencies {
				if longer := chain(index[id]); len(longer) > len(before) {
					before = longer
				}
			}
			chains[i] = append(slices.Clip(before), tasks[i].TaskID)
		}
		return chains[i]
	}
	var longest []string
	for i := range tasks {
		if found := chain(i); len(found) > len(longest) {
			longest = found
		}
	}
	return longest
}
