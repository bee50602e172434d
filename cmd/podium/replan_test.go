package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"podium/agents/llm/modelserver"
	"podium/schemas"
	"podium/schemas/workflow"
)

const loopConfig = `
agents:
  planner: {kind: llm, role: planner, base_url: %[1]q, model: planner}
  judge: {kind: llm, role: judge, base_url: %[1]q, model: judge}
  chemist: {kind: llm, role: worker, base_url: %[1]q, model: chemist, description: Answers questions of chemistry.}
  validator:
    {kind: llm, role: worker, base_url: %[1]q, model: validator, description: Validates formulas.,
     output_schema: {type: object, required: [valid], properties: {valid: {type: boolean}, error_message: {type: string}}}}
  llasmol: {kind: llm, role: worker, base_url: %[1]q, model: llasmol, description: Knows molecules.}
profiles:
  loop:
    language: en
    agents: [chemist, {name: validator, verdict: {pointer: /valid, detail: /error_message}}, {name: llasmol, unavailable: VRAM is LOW}]
    planner: {kind: agent, agent: planner}
    routers: [{kind: assigned}, {kind: keywords, groups: [{agent: validator, keywords: [validat*]}]}, {kind: default, agent: chemist}]
    execution: {mode: replan_loop, steps: 20}
    replan: {agent: judge, attempts: 3, conditions: [{name: vram_low, constant: true}]}
    retry: {attempts: 2, wait: 50ms}
`

const ringOpen = "Unclosed Ring with Validity Vector: 111110,Invalid Character with Validity Vector: 111101"

// loopModel plays all models: the first formula is wrong, the judge has it mended, and then it is right.
func loopModel(call *modelserver.Call) modelserver.Answer {
	mended := strings.Contains(call.User, "C9H8O4")
	switch {
	case call.IsProbe():
		return modelserver.Obeying(call)
	case call.Model == "planner":
		return modelserver.Answer{Text: `{"tasks": [{"task_id": "query", "description": "Answer the query.", "assigned_to": "chemist", "dependencies": []},
			{"task_id": "check", "description": "Validate the formula.", "assigned_to": "validator", "dependencies": ["query"]}]}`}
	case call.Model == "validator" && mended:
		return modelserver.Answer{Text: `{"valid": true}`}
	case call.Model == "validator":
		return modelserver.Answer{Text: `{"valid": false, "error_message": "` + ringOpen + `"}`}
	case call.Model == "judge" && strings.Contains(call.Block("result"), `"valid":true`):
		return modelserver.Answer{Text: `{"response": "The molecular formula of aspirin is C9H8O4.", "steps": []}`}
	case call.Model == "judge" && mended:
		return modelserver.Answer{Text: `{"response": "", "steps": ["Validate the formula."]}`}
	case call.Model == "judge" && strings.Contains(call.User, "Unclosed Ring"):
		return modelserver.Answer{Text: `{"response": "", "steps": ["Answer again, as a plain formula.", "Validate the formula."]}`}
	case call.Model == "judge":
		return modelserver.Answer{Text: `{"response": "", "steps": ["1. Answer the query.", "2. Validate the formula."]}`}
	case strings.Contains(call.Block("task"), "again"):
		return modelserver.Answer{Text: "C9H8O4"}
	}
	return modelserver.Answer{Text: "C1CC(("}
}

// TestAJudgeMendsThePlan_C01_C10_C16: plan, first step, judge, a validation that fails with its own words, another plan, and at last the judge's
// words are the answer. Deciding it all again asks no model.
func TestAJudgeMendsThePlan_C01_C10_C16(t *testing.T) {
	t.Parallel()
	server := modelserver.Start(t, loopModel)
	i := install(t, fmt.Sprintf(loopConfig, server.URL))
	i.podium("check", "-c", i.config).succeeds(t)
	i.up("-vv")
	run, answer := i.answered("--profile", "loop", "What is the molecular formula of aspirin?")
	if answer != "The molecular formula of aspirin is C9H8O4." || run.Status != schemas.RunCompleted {
		t.Fatalf("%s (%s): %q", run.Status, run.Reason, answer)
	}
	var did []string
	for _, task := range run.Tasks {
		did = append(did, fmt.Sprint(task.ID, " ", task.Agent, " ", task.State))
	}
	if want := []string{"query chemist completed", "check validator failed", "c1.t1 chemist completed", "c1.t2 validator completed"}; !slices.Equal(did, want) {
		t.Errorf("done: %q", did)
	}
	if run.Tasks[1].State != workflow.TaskFailed || run.Tasks[1].Failure().Cause != schemas.FailureVerdict || run.Tasks[1].Failure().Detail != ringOpen {
		t.Errorf("the validation ended by %+v", run.Tasks[1].Failure())
	}
	calls, told := server.Calls(), 0
	for _, call := range calls {
		switch {
		case call.Model == "llasmol":
			t.Error("an agent is asked that is not available")
		case call.Model == "judge" && !call.IsProbe():
			told++
			if !strings.Contains(call.System, "(not available: VRAM is LOW)") || !strings.Contains(call.Block("state"), `{"name":"vram_low","value":true}`) {
				t.Errorf("the judge is told\n%s\n%s", call.System, call.User)
			}
			if told >= 2 && !strings.Contains(call.User, ringOpen) {
				t.Errorf("judgement %d is not told why the validation has failed\n%s", told, call.User)
			}
		}
	}
	if told != 4 {
		t.Errorf("the judge was asked %d times", told)
	}
	i.stop()
	i.verify()
	if again := server.Calls(); len(again) != len(calls) {
		t.Errorf("deciding again asks models %d times", len(again)-len(calls))
	}
}
