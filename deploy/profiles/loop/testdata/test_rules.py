"""What the programs of this profile make of words and of work. Run by pytest."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(HERE.parent))
from chemistry import mend  # noqa: E402


def run(program, description="", request="", **context):
    task = {"description": description, "context": {"request": request, **context}}
    done = subprocess.run(["/usr/bin/python3", "-B", HERE / program], input=json.dumps({"payload": {"tasks": [task]}}), capture_output=True, text=True)
    said = json.loads(done.stdout or "{}")
    if "needs" in said:
        return said["needs"][0]["question"]["en"]
    if done.returncode:
        return done.stderr.strip().splitlines()[0]
    return {**said["result"]["data"], "status": said["status"], "text": said["result"]["text"]}


@pytest.mark.parametrize("smiles, says", [
    ("C1CC", "SMILES Parse Error: unclosed ring for input: 'C1CC'"), ("C[N](C)(C)C", "Explicit valence for atom # 1 N, 4, is greater than permitted"),
    ("CC(=O)Oc1cccccc1C(=O)O", "Can't kekulize mol.  Unkekulized atoms: 4 5 6 7 8 9 10"),
])
def test_validation_says_rdkits_words(smiles, says):
    said = run("validate.py", inputs={"a": {"data": {"smiles": [smiles]}}})
    assert said["valid"] is False and said["error_message"].startswith(says)
    assert run("review.py", "Review the validation error: " + says)["error_message"] == says


def test_each_smiles_is_validated():
    said = run("validate.py", inputs={"a": {"data": {"molecules": [{"tag": "SMILES", "molecule": "CCO"}, {"tag": "IUPAC", "molecule": "aspirin"}, {"tag": "SMILES", "molecule": "C1C"}]}}})
    assert (said["valid"], said["written"], said["all"]) == (False, "C1C", ["CCO", "C1C"])


def test_nothing_to_validate():
    assert run("validate.py", inputs={"a": {"data": {"lines": ["C9H8O4"]}}})["needed"] is False


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
    wrong = {"valid": False, "error_message": "no", "written": "CC(=O)Oc1cccccc1C(=O)O", "all": ["CC(=O)Oc1cccccc1C(=O)O"]}
    for failures in (1, 2, 3):
        tasks = [{"task": f"t{n}", "description": "", "state": "failed", "failure": {"cause": "verdict", "detail": "no"}} for n in range(failures)]
        said = judged(tasks, "What is the formula of CC(=O)Oc1cccccc1C(=O)O?", {task["task"]: {"data": wrong} for task in tasks})
        assert ("steps" in said) == (failures < 3)


@pytest.mark.parametrize("words, tagged", [
    ("What is the molecular formula of aspirin?", "What is the molecular formula of <IUPAC> aspirin </IUPAC>?"),
    ("Weights of CCO and CCO1?", "Weights of <SMILES> CCO </SMILES> and <SMILES> CCO1 </SMILES>?"),
    ("What is the SMILES for <IUPAC> aspirin </IUPAC>?", "What is the SMILES for <IUPAC> aspirin </IUPAC>?"),
    ("Mass of C6H12O6", "Mass of <MOLFORMULA> C6H12O6 </MOLFORMULA>"),
])
def test_a_question_is_tagged(words, tagged):
    assert run("structure.py", request=words)["new_prompt"] == tagged


def test_an_answer_is_tagged():
    assert run("query.py", request="What is the molecular formula of aspirin?")["text"] == "<MOLFORMULA> C9H8O4 </MOLFORMULA>"


def test_what_somebody_has_meant_is_told():
    words = "What is the molecular weight of asprin?"
    for reply in ("yes", "Aspirin.", "CC(=O)Oc1ccccc1C(=O)O"):
        said = run("query.py", request=words, answers=[{"text": reply}])
        assert "is 180.159 g/mol." in said["lines"][0] and said["lines"][1].startswith('"asprin" is read as ') and said["status"] == "completed"
    assert run("query.py", request=words, answers=[{"text": "no"}]) == 'There is no "asprin" in the table of names.'
    assert run("query.py", request=words, answers=[{"text": "asprine"}]) == 'There is no "asprin" in the table of names, and no "asprine" either.'


def test_what_is_lacking_is_said():
    words = "What are the formula, the logP and the boiling point of ethanol?"
    tasks = [{"task": "t2", "description": "", "state": "completed"}, {"task": "t3", "description": "", "state": "completed"}]
    told = judged(tasks, words, {"t2": {"data": run("query.py", request=words)}, "t3": {"data": {"needed": False}}})
    assert told["status"] == "partial" and told["response"].splitlines() == [
        "The molecular formula of ethanol is C2H6O.", "The logP (Crippen) of ethanol is 0.0.", "This cannot be given of ethanol here: boiling point.", "ethanol = CCO, C2H6O"]


def test_what_was_spoken_of_before_is_meant():
    conversation = {"messages": [{"by": "requester", "text": "What is the weight of caffeine?"}, {"by": "podium", "text": "194.194 g/mol of CCO"}]}
    assert run("query.py", request="And its logP?", conversation=conversation)["lines"] == ["The logP (Crippen) of caffeine is -1.03."]


@pytest.mark.parametrize("written, mended", [
    ("C[N](C)(C)C", "C[N+](C)(C)C"), ("CN(C)(C)C", "C[N+](C)(C)C"), ("C[N](C)(C)CC[N](C)(C)C", "C[N+](C)(C)CC[N+](C)(C)C"),
    ("Cn1ccn(C)c1", "C[n+]1ccn(C)c1"), ("Cn1ccccc1", "C[n+]1ccccc1"),
    ("FB(F)(F)F", "F[B-](F)(F)F"), ("c1ccnc1", "c1cc[nH]c1"), ("O=c1ccnc(=O)n1", "O=c1cc[nH]c(=O)[nH]1"), ("Cc1ccccc", "Cc1ccccc1"),
    # What could be more than one molecule, or another one, is left to a person.
    ("Cc1cncn1", None), ("C[N](C)(C)O", None), ("CN(C)(C)(C)C", None), ("C1CC", None), ("c1cccc1", None), ("CC(=O)Oc1cccccc1C(=O)O", None), ("CC(=O)Oc1ccccc1C(=O", None),
])
def test_only_notation_is_mended(written, mended):
    assert mend.parse(written)[0] is None and (mend.sure(written) or [None])[0] == mended


def test_a_guess_is_asked_about():
    """A ring of seven may be one of six, or something else: it is read so only when somebody says that it is meant."""
    step, written = "Call 'answer_chemistry_query' again with clearer instructions: the structure nearest to ", "CC(=O)Oc1cccccc1C(=O)O"
    assert run("query.py", step + written) == f'{written} is no valid SMILES. Is CC(=O)Oc1ccccc1C(=O)O meant? Please answer "yes", or with the SMILES that you mean.'
    said = run("query.py", step + written, f"What is the weight of {written}?", answers=[{"text": "yes"}])
    assert said["smiles"] == ["CC(=O)Oc1ccccc1C(=O)O"] and said["instead_of"] == written and said["lines"] == [
        "The molecular weight of CC(=O)Oc1ccccc1C(=O)O is 180.159 g/mol.", f"{written} is no valid SMILES. It is read as CC(=O)Oc1ccccc1C(=O)O: you have said so."]
    said = run("query.py", step + "C[N](C)(C)C", "Formula of C[N](C)(C)C?")
    assert said["lines"] == ["The molecular formula of C[N+](C)(C)C is C4H12N+.", "C[N](C)(C)C is no valid SMILES. It is read as C[N+](C)(C)C: a nitrogen with four bonds has a charge."]
    assert run("query.py", step + written, answers=[{"text": "no"}]) == f"{written} is no valid SMILES, and no says none."


@pytest.mark.parametrize("program", ["structure.py", "query.py", "validate.py"])
@pytest.mark.parametrize("piece", ["<SMILES> ", "<SMILES>" + " " * 54, "the formula of ", "aspirin, ", "CC(=O)O "])
def test_long_questions_cost_little(program, piece):
    words = "What is the formula of " + piece * (54000 // len(piece))
    task = {"description": words, "context": {"request": words}}
    # Each expression that looks back from every place took minutes.
    subprocess.run(["/usr/bin/python3", "-B", HERE / program], input=json.dumps({"payload": {"tasks": [task]}}), capture_output=True, text=True, timeout=120)
