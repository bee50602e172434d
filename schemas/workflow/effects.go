package workflow

import "podium/schemas"

// PossibleEffects returns the effects that the run may have had, when whoever is upstream
// may ask for them once more.
func (r *Run) PossibleEffects() (effects []string) {
	upstream := r.Message.Upstream
	if upstream == nil || upstream.Effect == "" {
		return nil
	}
	for i := range r.TaskCount() {
		task := r.TaskAt(i)
		if task.HumanTask() > 0 {
			continue // letters of two attempts are two
		}
		if task.Permit != "" {
			effects = append(effects, schemas.EffectID(upstream.Effect, task.ID))
		}
	}
	return effects
}
