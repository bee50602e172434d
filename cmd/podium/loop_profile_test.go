package main

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"podium/agents/llm/modelserver"
	"podium/schemas"
	"podium/schemas/workflow"
)

const loopProfile = "../../deploy/profiles/loop"

func loop(t *testing.T, replaced ...string) *deployment {
	t.Helper()
	needs(t)
	return installTree(t, loopProfile, append(replaced, `http: {listen: "127.0.0.1:8080"}`, "")...)
}

// did are the tasks of a run in order, each with its agent and how it has ended.
func did(run *workflow.RunHistory) (told []string) {
	for _, task := range run.Tasks {
		told = append(told, fmt.Sprint(task.ID, " ", task.Agent, " ", task.State))
	}
	return told
}

// TestLoopProfile plays the scenarios of the profile: each tool on its real program.
func TestLoopProfile_C05_C06(t *testing.T) {
	t.Parallel()
	i := loop(t)
	i.playAll("loop", loopProfile)
}

// TestLoopWorkedExample: the formula of aspirin takes three steps, each judged, of which the third finds that there is nothing to validate; the last step
// of the plan is not needed, and the sentence of the example is the answer. Each tool has the tags of the one before.
func TestLoopWorkedExample_C01_C05_C15(t *testing.T) {
	t.Parallel()
	i := loop(t)
	i.up()
	run, answer := i.answered("--profile", "loop", "What is the molecular formula of aspirin?")
	if sentence, read, _ := strings.Cut(answer, "\n"); sentence != "The molecular formula of aspirin is C9H8O4." || read != "aspirin = CC(=O)Oc1ccccc1C(=O)O, C9H8O4" || run.Status != schemas.RunCompleted || run.Attempts() != 1 {
		t.Errorf("%s after %d attempts: %s", run.Status, run.Attempts(), answer)
	}
	want := []string{"t1 structure_chem_prompt completed", "t2 answer_chemistry_query completed", "t3 validate_smiles_rdkit completed", "t4 return_answer cancelled"}
	if got := did(&run); !slices.Equal(got, want) {
		t.Errorf("done: %q", got)
	}
	if judged := run.Judges(schemas.OccasionStep); judged != 3 {
		t.Errorf("judged %d times", judged)
	}
	told := i.podium("runs", "watch", run.ID).succeeds(t).stdout
	for _, words := range []string{
		"What is the molecular formula of <IUPAC> aspirin </IUPAC>?", "<MOLFORMULA> C9H8O4 </MOLFORMULA>", "Validation is not needed: there is no SMILES output.",
		"Call 'structure_chem_prompt' to tag chemical information",
	} {
		if !strings.Contains(told, words) {
			t.Errorf("%q is not in\n%s", words, told)
		}
	}
	i.stop()
	i.verify()
}

// TestLoopMendsAStructure: RDKit's own words reach the judge whole, whose plan is then to review the error, to query again with clearer instructions and to
// validate again. The row of the run counts the change, and has the words.
func TestLoopMendsAStructure_C10_C12_C14(t *testing.T) {
	t.Parallel()
	i := loop(t)
	i.up()
	const question, said = "What is the molecular formula of c1ccc2nccc2c1?", "Can't kekulize mol.  Unkekulized atoms: 0 1 2 3 4 5 6 7 8"
	const mended = "The molecular formula of c1ccc2[nH]ccc2c1 is C8H7N.\nc1ccc2nccc2c1 is no valid SMILES. It is read as c1ccc2[nH]ccc2c1: an aromatic nitrogen of such a ring carries a hydrogen."
	run, answer := i.answered("--profile", "loop", question)
	if answer != mended || run.Status != schemas.RunCompleted {
		t.Errorf("%s: %s", run.Status, answer)
	}
	want := []string{
		"t1 structure_chem_prompt completed", "t2 validate_smiles_rdkit failed", "t3 answer_chemistry_query skipped", "t4 return_answer skipped",
		"c1.t1 review_validation_error completed", "c1.t2 answer_chemistry_query completed", "c1.t3 validate_smiles_rdkit completed", "c1.t4 return_answer cancelled",
	}
	if got := did(&run); !slices.Equal(got, want) {
		t.Fatalf("done: %q", got)
	}
	if failed := run.Tasks[1].Failure(); failed.Cause != schemas.FailureVerdict || failed.Detail != said {
		t.Errorf("the validation has failed by %+v", failed)
	}
	if review := run.Tasks[4].Plan.Description.Text; review != "Review the validation error: "+said {
		t.Errorf("reviewed is %q", review)
	}
	i.answered("--profile", "loop", "What is the SMILES for aspirin?")
	rows, err := csv.NewReader(strings.NewReader(i.podium("score", "--rows", "csv", "--errors-of", "validate_smiles_rdkit").succeeds(t).stdout)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v: %q", err, rows)
	}
	if want := []string{question, "2", "true", "true", said}; !slices.Equal(rows[1], want) {
		t.Errorf("the row is %q, want %q", rows[1], want)
	}
	if want := []string{"What is the SMILES for aspirin?", "1", "true", "false", ""}; !slices.Equal(rows[2], want) {
		t.Errorf("the row is %q, want %q", rows[2], want)
	}
	i.stop()
	i.verify()
}

// TestLoopStopsAtItsBound: with six steps there are the plan, two tasks with their judgements, and one task more; the run has not completed then, says so, and keeps
// what was done and the count of its attempts.
func TestLoopStopsAtItsBound_C11_C13(t *testing.T) {
	t.Parallel()
	i := loop(t, "steps: 50", "steps: 6")
	i.up()
	i.podium("send", "--wait", "--timeout", "5m", "--profile", "loop", "What is the molecular formula of C[N](C)(C)C?")
	run := i.run(i.runs()[0].ID)
	if run.Reason != schemas.StopStepLimit || run.Status != schemas.RunPartial || run.Attempts() != 2 || run.Judges(schemas.OccasionStep) != 2 {
		t.Errorf("%s (%s) after %d attempts and %d judgements", run.Status, run.Reason, run.Attempts(), run.Judges(schemas.OccasionStep))
	}
	if got := did(&run); got[0] != "t1 structure_chem_prompt completed" || got[1] != "t2 validate_smiles_rdkit failed" || got[4] != "c1.t1 review_validation_error completed" {
		t.Errorf("done: %q", got)
	}
	rows, err := csv.NewReader(strings.NewReader(i.podium("score", "--rows", "csv").succeeds(t).stdout)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][1] != "2" || rows[1][2] != "false" || rows[1][3] != "true" {
		t.Errorf("%v: %q", err, rows)
	}
	i.stop()
	i.verify()
}

// TestLoopWithLittleMemory: what needs the model that is not there is not planned, its reason is the documented one, and the run returns early with what is known.
func TestLoopWithLittleMemory_C09_C16(t *testing.T) {
	t.Parallel()
	i := loop(t)
	i.up()
	for _, c := range []struct {
		question, answer string
		status           schemas.RunStatus
		did              []string
	}{
		{
			"What is the molecular weight of CC(=O)Oc1ccccc1C(=O)O?", "The molecular weight of CC(=O)Oc1ccccc1C(=O)O is 180.159 g/mol.", schemas.RunCompleted,
			[]string{"t1 structure_chem_prompt completed", "t2 validate_smiles_rdkit completed", "t3 return_answer cancelled"},
		},
		{
			"What is the SMILES for aspirin?", "VRAM is LOW, so that nothing is looked up about aspirin. Ask again later, or write its SMILES, which RDKit reads.", schemas.RunFailed,
			[]string{"t1 structure_chem_prompt completed", "t2 validate_smiles_rdkit completed", "t3 return_answer cancelled"},
		},
	} {
		said := i.podium("send", "--wait", "--timeout", "5m", "--profile", "loop_low_vram", c.question)
		run := i.run(i.runs()[0].ID)
		if got := did(&run); !strings.HasSuffix(said.stdout, "\n"+c.answer+"\n") || run.Status != c.status || !slices.Equal(got, c.did) {
			t.Errorf("%s: %s, %s\n%q", c.question, run.Status, said.stdout, got)
		}
	}
	// A plan from outside that needs it all the same is told why not.
	plan := writeFile(t, `{"tasks": [{"task_id": "t1", "description": "Call 'answer_chemistry_query' about aspirin", "assigned_to": "answer_chemistry_query", "dependencies": []}]}`)
	i.podium("send", "--wait", "--timeout", "1m", "--profile", "loop_low_vram", "--plan", plan)
	if run := i.run(i.runs()[0].ID); !strings.Contains(run.Tasks[0].Failure().Detail, "answer_chemistry_query tool cannot be used with LOW_VRAM enabled.") {
		t.Errorf("it ends by %+v", run.Tasks[0].Failure())
	}
	i.stop()
	i.verify()
}

// chemistsModel stands for a language model that reads its prompt and what is known: it plans as the prompt says, goes on with what is left, mends what has failed
// to be validated, and answers with what the last query has found.
func chemistsModel(call *modelserver.Call) modelserver.Answer {
	steps := func(steps ...string) modelserver.Answer {
		quoted := make([]string, len(steps))
		for n, step := range steps {
			quoted[n] = fmt.Sprintf("%q", step)
		}
		return modelserver.Answer{Text: `{"response": "", "steps": [` + strings.Join(quoted, ", ") + `]}`, Tokens: 10}
	}
	const wrong = "C[N](C)(C)C"
	results := call.Block("result")
	switch {
	case call.IsProbe():
		return modelserver.Obeying(call)
	case !strings.Contains(call.System, "Update your plan accordingly."):
		return modelserver.Answer{Text: `{"steps": ["Call 'structure_chem_prompt' to tag chemical information", "Call 'validate_smiles_rdkit' to validate the SMILES"]}`, Tokens: 10}
	case strings.Contains(results, `"valid":true`):
		return modelserver.Answer{Text: `{"response": "It should be C[N+](C)(C)C, tetramethylammonium, C4H12N+.", "steps": []}`, Tokens: 10}
	case strings.Contains(results, `"instead_of"`):
		return steps("Call 'validate_smiles_rdkit' to verify the corrected SMILES")
	case strings.Contains(call.User, "is greater than permitted"):
		return steps("Call 'answer_chemistry_query' again with clearer instructions: the structure nearest to "+wrong, "Call 'validate_smiles_rdkit' to verify the corrected SMILES")
	}
	return steps("Call 'validate_smiles_rdkit' to validate the SMILES")
}

// TestLoopByAModel: the same tools, planned and judged by a model that has the prompts of the profile.
func TestLoopByAModel_C03_C07(t *testing.T) {
	t.Parallel()
	server := modelserver.Start(t, chemistsModel)
	i := loop(t, "#m ", "", "${OPENAI_BASE_URL:-http://127.0.0.1:11434/v1}", server.URL)
	i.up()
	run, answer := i.answered("--profile", "loop_model", "Is C[N](C)(C)C right?")
	if answer != "It should be C[N+](C)(C)C, tetramethylammonium, C4H12N+." || run.Attempts() != 2 {
		t.Errorf("after %d attempts: %s", run.Attempts(), answer)
	}
	want := []string{
		"t1 structure_chem_prompt completed", "t2 validate_smiles_rdkit failed", "c1.t1 answer_chemistry_query completed", "c1.t2 validate_smiles_rdkit completed",
	}
	if got := did(&run); !slices.Equal(got, want) {
		t.Errorf("done: %q", got)
	}
	for _, call := range server.Calls() {
		if !call.IsProbe() && (!strings.HasPrefix(call.System, "For the given objective, come up with a simple step by step plan.") || !strings.Contains(call.System, "- validate_smiles_rdkit: ")) {
			t.Errorf("a model is told\n%s", call.System)
		}
	}
	i.stop()
	i.verify()
}

// TestLoopWithRetrieval: the same question, with retrieval on and off. On, the plan has a step for it, and the passages stand beside the answer.
func TestLoopWithRetrieval_C17(t *testing.T) {
	t.Parallel()
	i := loop(t)
	i.up()
	const question, formula, note = "What is the molecular formula of aspirin?", "The molecular formula of aspirin is C9H8O4.", "“Aspirin is acetylsalicylic acid."
	for profile, on := range map[string]bool{"loop": false, "loop_rag": true} {
		run, answer := i.answered("--profile", profile, question)
		if !strings.HasPrefix(answer, formula) || strings.Contains(answer, note) != on || strings.Contains(answer, "(pain.md)") != on {
			t.Errorf("%s: %s", profile, answer)
		}
		if searched := slices.Contains(did(&run), "t1 search_knowledge completed"); searched != on {
			t.Errorf("%s: %q", profile, did(&run))
		}
	}
	i.stop()
	i.verify()
}
