package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"podium/agents/scripted"
	"podium/cmd/podium/config/script"
	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// readScripts reads the scripts of all agents, which are relative to the directory of the
// configuration. Load is the only one to do so: what was parsed alone has none.
func (c *Config) readScripts(directory string) diagnostic.Problems {
	v := &validator{config: c}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		entry := c.Agents[name]
		if entry.Kind != KindScripted {
			continue
		}
		file := entry.Script
		if !filepath.IsAbs(file) {
			file = filepath.Join(directory, file)
		}
		answers, err := script.Load(file)
		switch problems := diagnostic.ProblemsOf(err); {
		case problems != nil:
			v.problems = append(v.problems, problems...)
		case err != nil:
			v.problem("agents."+name+".script", "%v", err)
		default:
			v.scriptOf("agents."+name, &entry, answers)
			entry.Answers = answers
			c.Agents[name] = entry
		}
	}
	return v.problems
}

// scriptOf checks what an agent says of itself against its script.
func (v *validator) scriptOf(at string, entry *Agent, answers *scripted.Script) {
	answered := map[schemas.TaskKind]bool{}
	acts := func(answer *scripted.Answer) {
		if answer.Acts && entry.SideEffects == "" {
			v.problem(at, "%s of its script acts: write side_effects: external", answer.Place)
		}
	}
	for i := range answers.Cases {
		answered[cmp.Or(answers.Cases[i].Kind, schemas.KindWork)] = true
		acts(&answers.Cases[i].Answer)
	}
	if answers.Otherwise != nil {
		acts(answers.Otherwise)
	}
	for i, kind := range entry.Kinds {
		if !answered[kind] && answers.Otherwise == nil {
			v.problem(fmt.Sprintf("%s.kinds[%d]", at, i), "its script has no case of kind %s, and no otherwise", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(answered)) {
		if !slices.Contains(entry.Kinds, kind) {
			v.problem(at, "its script has a case of kind %s, which it is never asked: write kinds: [%s]", kind, list(append(slices.Clip(entry.Kinds), kind), ", "))
		}
	}
}
