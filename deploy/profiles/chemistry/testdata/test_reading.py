"""What questions about molecules are answered with, and what stands for a molecule. Run by pytest."""

import csv
import json
import pathlib
import sys

import pytest
from rdkit.Chem import rdMolDescriptors

HERE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(HERE.parent))
from chemistry import names, units  # noqa: E402
from chemistry.notation import parse  # noqa: E402
from chemistry.reading import read  # noqa: E402
from chemistry.replies import reply_to  # noqa: E402

names.OPSIN = ()  # what is answered here does not depend on what is installed
QUESTIONS = [json.loads(line) for line in pathlib.Path(__file__).with_name("questions.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["ask"])
def test_questions(row):
    """Each line of questions.jsonl is a question with its outcome: what is said, what is missing, and what is asked back."""
    reply = reply_to(read(row["ask"]))
    assert (reply.status, reply.lines, reply.missing, reply.question) == (row["status"], row.get("says", []), row.get("missing", []), row.get("asks", ""))


def test_names_are_molecules():
    """Each row of the table has the formula that was typed apart from its SMILES, and no name stands for two molecules."""
    seen = {}
    with open(HERE / "names.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        molecule, why = parse(row["smiles"])
        assert molecule is not None and rdMolDescriptors.CalcMolFormula(molecule) == row["formula"], (row, why)
        for name in row["names"].split(";"):
            assert seen.setdefault(names.fold(name), row["smiles"]) == row["smiles"], name
    assert len(seen) >= 1200


@pytest.mark.parametrize("words, found", [
    ("Calculate HOMO/LUMO energy for this cation C[N+](C)(C)C and analyze the results", ["C[N+](C)(C)C"]),
    ("I have C[N+](C)(C)C, and then Cn1cc[n+](C)c1.", ["C[N+](C)(C)C", "Cn1cc[n+](C)c1"]), ("The weight of (CC(=O)O)?", ["CC(=O)O"]),
    ("SMILES: CCO, please", ["CCO"]), ("the smiles is: CCO", ["CCO"]), ("its SMILES = 'C1CC'", ["C1CC"]), ("“C1CCCCC1”", ["C1CCCCC1"]), ("SMILES: rubbish", ["rubbish"]),
    ("Design PBF_BB_1 at 400K with B3LYP, GFN2-xTB or 6-31G* on 2026-11-24 (HOMO/LUMO), an ISO PSO on a PC, in the S1 state", []),
    ("What is the molecular weight of this SMILES?", []), ("Simulate CCO at 10K for 5ps", ["CCO"]), ("The energy of O.O", ["O.O"]), ("COC, CN, CCl and CCO.CCO", ["COC", "CN", "CCl", "CCO.CCO"]),
    ("N,N-dimethylformamide and 4-methyl phenol", ["N,N-dimethylformamide", "4-methyl phenol"]), ("Is there NO way? NO idea", []),
    ("How many oxygen atoms, and is there an ether group in aspirin?", ["aspirin"]), ("the sodium salt of benzoic acid", ["sodium salt of benzoic acid"]),
])
def test_what_stands_for_a_molecule(words, found):
    assert [molecule.written for _, _, molecule in names.find_molecules(words)] == found


@pytest.mark.parametrize("number, unit, into, value", [(1, "Eh", "eV", 27.2114), (1, "eV", "kJ/mol", 96.4853), (1, "kcal/mol", "cm⁻¹", 349.755), (298.15, "K", "°C", 25), (-40, "°C", "°F", -40)])
def test_units(number, unit, into, value):
    kind = next(kind for kind, listed in units.UNITS.items() if {unit, into} <= {one[0] for one in listed})
    assert units.convert(kind, number, unit, into) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("piece", ["<SMILES> ", "the formula of ", "aspirin, ", "CC(=O)O ", "1 mol ", "and then what is ", "((((", "C1", "how many carbon and hydrogen "])
def test_long_questions_cost_little(piece):
    """Each expression that looks back from every place took minutes."""
    import time
    before = time.process_time()
    reply_to(read("What is the formula of " + piece * (54000 // len(piece))))
    assert time.process_time() - before < 30
