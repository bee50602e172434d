"""What the programs of this profile make of words and of work. Run by pytest."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(HERE))
import chemistry  # noqa: E402
import mend  # noqa: E402


def run(program, description="", request="", **context):
    task = {"description": description, "context": {"request": request, **context}}
    done = subprocess.run(["/usr/bin/python3", "-B", HERE / program], input=json.dumps({"payload": {"tasks": [task]}}), capture_output=True, text=True)
    said = json.loads(done.stdout or "{}")
    if "needs" in said:
        return said["needs"][0]["question"]["en"]
    return said["data"] if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


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
    assert (said["kind"], said["value"], said["of"]) == ("MOLFORMULA", "C9H8O4", "aspirin") and "mended" not in said
    assert run("query.py", request="What is the formula of unobtainium?", inputs={"t1": {"data": {"tag": "IUPAC", "molecule": "unobtainium"}}}) == 'There is no "unobtainium" in the table of names.'


def queried(words, **context):
    tagged = run("structure.py", request=words)
    return tagged if isinstance(tagged, str) else run("query.py", request=words, inputs={"t1": {"data": tagged}}, **context)


@pytest.mark.parametrize("words, asks", [
    ("What is the formula of ethane?", 'There is no "ethane" in the table of names. Is methane meant? Please answer with the name or the SMILES of the molecule.'),
    ("Weight of methanal, please", 'There is no "methanal" in the table of names. Is one of these (methanol, methane, ethanol) meant?'),
    ("What is the formula of benzoic acid methyl ester?", 'There is no "benzoic acid methyl ester" in the table of names. Is benzoic acid meant?'),
    ("The weight of sodium salicylic acid?", 'There is no "sodium salicylic acid" in the table of names. Is salicylic acid meant?'),
    ("What is the formula of the methyl ester of benzoic acid?", 'There is no "methyl ester of benzoic acid" in the table of names. Is benzoic acid meant?'),
    ("The sodium salt of aspirin: which formula?", 'There is no "sodium salt of aspirin" in the table of names. Is aspirin meant?'),
    ("Weight of the conjugate base of phenol", 'There is no "conjugate base of phenol" in the table of names. Is phenol meant?'),
    ("weight of asprin in g/mol", 'There is no "asprin" in the table of names. Is aspirin meant?'),
])
def test_another_name_is_another_molecule(words, asks):
    """What is written like a known name is asked about, and never answered for."""
    assert queried(words).startswith(asks)


def test_what_somebody_has_meant_is_told():
    words = "What is the molecular weight of asprin?"
    for reply in ("yes", "Aspirin.", "CC(=O)Oc1ccccc1C(=O)O"):
        said = queried(words, answers=[{"text": reply}])
        assert said["value"] == "180.159" and said["mended"] == '"asprin" is not in the table of names. It is read as aspirin: you have said so.'
    assert queried(words, answers=[{"text": "no"}]) == 'There is no "asprin" in the table of names.'
    assert queried(words, answers=[{"text": "asprine"}]) == 'There is no "asprin" in the table of names, and no "asprine" either.'


@pytest.mark.parametrize("words, says", [
    ("What is the boiling point of ethanol?", "This cannot be given of ethanol here: boiling point. What can be given here is"),
    ("Is ethanol toxic?", "This cannot be given of ethanol here: toxic."),
    ("Tell me the pH of aspirin", "This cannot be given of aspirin here: pH."),
    ("What are the formulas of ethanol and methanol?", "One molecule at a time is worked on here, and the question names ethanol and methanol."),
    ("The formulas of ethanol and unobtainium?", "One molecule at a time is worked on here, and the question names ethanol and unobtainium."),
    ("Weights of CCO and CCN?", "One molecule at a time is worked on here, and the question names CCO and CCN."),
])
def test_what_is_not_there_is_said(words, says):
    assert queried(words).startswith(says)


@pytest.mark.parametrize("words, says", [
    ("What is the exact mass of caffeine?", "The exact mass of caffeine is 194.0804 u, of its most common isotopes."),
    ("What does caffeine weigh?", "The molecular weight of caffeine is 194.194 g/mol."),
    ("Mass and exact mass of ethanol", "The molecular weight of ethanol is 46.069 g/mol. The exact mass of ethanol is 46.0419 u, of its most common isotopes."),
    ("What is the IUPAC name of CC(=O)Oc1ccccc1C(=O)O?", "CC(=O)Oc1ccccc1C(=O)O is aspirin, by the table of names; whether that is its name by the rules of IUPAC is not known here."),
    ("What is the name of CCO?", "CCO is ethanol."),
])
def test_what_is_meant_is_answered(words, says):
    said = queried(words)
    tasks = [{"task": "t2", "description": "", "state": "completed"}, {"task": "t3", "description": "", "state": "completed"}]
    assert judged(tasks, words, {"t2": {"data": said}, "t3": {"data": {"needed": False}}})["response"] == says


def test_all_that_is_asked_is_answered():
    words = "What are the formula, the logP and the boiling point of ethanol?"
    said = queried(words)
    tasks = [{"task": "t2", "description": "", "state": "completed"}, {"task": "t3", "description": "", "state": "completed"}]
    told = judged(tasks, words, {"t2": {"data": said}, "t3": {"data": {"needed": False}}})["response"]
    assert told == "The molecular formula of ethanol is C2H6O. The logP of ethanol is 0.0 (Crippen, calculated).\nThis cannot be given here: boiling point."


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
    said = run("query.py", step + written, answers=[{"text": "yes"}])
    assert said["value"] == "CC(=O)Oc1ccccc1C(=O)O" and said["mended"] == f"{written} is no valid SMILES. It is read as CC(=O)Oc1ccccc1C(=O)O: you have said so."
    assert run("query.py", step + "C[N](C)(C)C")["mended"] == "C[N](C)(C)C is no valid SMILES. It is read as C[N+](C)(C)C: a nitrogen with four bonds has a charge."
    assert run("query.py", step + written, answers=[{"text": "no"}]) == f"{written} is no valid SMILES, and no says none."


@pytest.mark.parametrize("program", ["structure.py", "query.py", "validate.py"])
@pytest.mark.parametrize("piece", ["<SMILES> ", "<SMILES>" + " " * 54, "the formula of ", "aspirin, ", "CC(=O)O "])
def test_long_questions_cost_little(program, piece):
    words = "What is the formula of " + piece * (54000 // len(piece))
    task = {"description": words, "context": {"request": words}}
    # Each expression that looks back from every place took minutes.
    subprocess.run(["/usr/bin/python3", "-B", HERE / program], input=json.dumps({"payload": {"tasks": [task]}}), capture_output=True, text=True, timeout=120)
