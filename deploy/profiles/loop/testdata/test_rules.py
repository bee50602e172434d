"""What the programs of this profile make of words and of work. Run by pytest."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(HERE))
import chemistry  # noqa: E402


def run(program, description="", request="", **context):
    task = {"description": description, "context": {"request": request, **context}}
    done = subprocess.run(["/usr/bin/python3", "-B", HERE / program], input=json.dumps({"payload": {"tasks": [task]}}), capture_output=True, text=True)
    return json.loads(done.stdout)["data"] if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("words, found", [
    ("What is the molecular formula of CC(=O)Oc1ccccc1C(=O)O?", "CC(=O)Oc1ccccc1C(=O)O"), ("Weight of (CCO)?", "CCO"), ("`C1CC`, please", "C1CC"),
    ("What is the SMILES for aspirin?", None), ("Is C4H12N+ an ISO or a BCC name?", None),
])
def test_smiles_in(words, found):
    assert chemistry.smiles_in(words) == found


def test_names_are_molecules():
    for name, smiles in chemistry.names().items():
        assert chemistry.parse(smiles)[0] is not None, name


@pytest.mark.parametrize("smiles, says", [
    ("C1CC", "SMILES Parse Error: unclosed ring for input: 'C1CC'"), ("C[N](C)(C)C", "Explicit valence for atom # 1 N, 4, is greater than permitted"),
    ("CC(=O)Oc1cccccc1C(=O)O", "Can't kekulize mol.  Unkekulized atoms: 4 5 6 7 8 9 10"), ("", "no atoms"),
])
def test_validation_says_rdkits_words(smiles, says):
    said = run("validate.py", inputs={"a": {"data": {"kind": "SMILES", "value": smiles}}})
    assert said["valid"] is False and said["error_message"].startswith(says)
    assert run("review.py", "Review the validation error: " + says)["error_message"] == says


def test_nothing_to_validate():
    assert run("validate.py", inputs={"a": {"data": {"kind": "MOLFORMULA", "value": "C9H8O4"}}}) == {"needed": False}


def test_example_plan():
    agents = [{"name": "answer_chemistry_query"}]
    steps = run("plan.py", request="What is the SMILES for <IUPAC> aspirin </IUPAC>?", arguments={"agents": agents})["steps"]
    assert [next((tool for tool in ("structure_chem_prompt", "answer_chemistry_query", "validate_smiles_rdkit", "Return") if tool in step), None) for step in steps] == [
        "structure_chem_prompt", "answer_chemistry_query", "validate_smiles_rdkit", "Return"]
    agents[0]["unavailable"] = "VRAM is LOW"
    assert not any("answer_chemistry_query" in step for step in run("plan.py", request="What is the SMILES for aspirin?", arguments={"agents": agents})["steps"])


def judged(tasks, request, inputs, **arguments):
    return run("replan.py", request=request, inputs=inputs, arguments={"tasks": tasks, "conditions": [], **arguments})


def test_reviews_end():
    """A validation that fails a third time is told, and not reviewed again."""
    wrong = {"valid": False, "error_message": "no", "written": "CC(=O)Oc1cccccc1C(=O)O"}
    for failures in (1, 2, 3):
        tasks = [{"task": f"t{n}", "description": "", "state": "failed", "failure": {"cause": "verdict", "detail": "no"}} for n in range(failures)]
        said = judged(tasks, "What is the formula of CC(=O)Oc1cccccc1C(=O)O?", {task["task"]: {"data": wrong} for task in tasks})
        assert ("steps" in said) == (failures < 3)


def test_a_tagged_question_is_answered():
    tagged = run("structure.py", request="What is the molecular formula of aspirin?")
    assert tagged["new_prompt"] == "What is the molecular formula of <IUPAC> aspirin </IUPAC>?"
    said = run("query.py", request="What is the molecular formula of aspirin?", inputs={"t1": {"data": tagged}})
    assert said == {"kind": "MOLFORMULA", "value": "C9H8O4", "of": "aspirin"}
    assert run("query.py", request="What is the formula of unobtainium?", inputs={"t1": {"data": {"tag": "IUPAC", "molecule": "unobtainium"}}}) == 'There is no "unobtainium" in the table of names.'
