"""Which words of a message are taken for molecules. Run by pytest."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import task  # noqa: E402


@pytest.mark.parametrize("words, found", [
    ("Calculate HOMO/LUMO energy for this cation C[N+](C)(C)C and analyze the results", ["C[N+](C)(C)C"]),
    ("I have C[N+](C)(C)C, and then Cn1cc[n+](C)c1.", ["C[N+](C)(C)C", "Cn1cc[n+](C)c1"]),
    ("The weight of (CC(=O)O)?", ["CC(=O)O"]),
    ("SMILES: CCO, please", ["CCO"]),
    ("the smiles is: CCO", ["CCO"]),
    ("its SMILES = 'C1CC'", ["C1CC"]),
    ("“C1CCCCC1”", ["C1CCCCC1"]),
    ("CCO CCO C1CC1 C1CC1", ["CCO", "C1CC1"]),
    ("Design PBF_BB_1 at 400K with B3LYP, GFN2-xTB or 6-31G* on 2026-11-24 (HOMO/LUMO) for C4H12N+", []),
    ("I SPF ISO of CO on a PC", []),
    ("SMILES: rubbish", ["rubbish"]),
    ("What is the molecular weight of this SMILES?", []),
    ("Simulate CCO at 10K for 5ps", ["CCO"]),
    ("The energy of O.O", ["O.O"]),
])
def test_tokens(words, found):
    assert task.tokens(words) == found


@pytest.mark.parametrize("smiles, says", [
    ("C1CC", "SMILES Parse Error: unclosed ring for input: 'C1CC'"),
    ("C[N](C)(C)C", "Explicit valence for atom # 1 N, 4, is greater than permitted"),
    ("CC(=O)Oc1cccccc1C(=O)O", "Can't kekulize mol.  Unkekulized atoms: 4 5 6 7 8 9 10"),
    ("CC(=O)Oc1ccccc1C(=O", "SMILES Parse Error: extra open parentheses for input: 'CC(=O)Oc1ccccc1C(=O'"),
    ("", "no atoms"),
])
def test_no_molecule(smiles, says):
    molecule, why = task.parse(smiles)
    assert molecule is None and why.startswith(says) and "[" not in why


@pytest.mark.parametrize("words, short, names", [
    ("Energies of CCO and CO", ["CO"], []), ("C, CC and CCO, please", ["CC"], []), ("CCO vs. N", ["N"], []), ("Compare CCO and ethane", [], ["ethane"]), ("aspirin and CCO", [], ["aspirin"]),
    ("Optimize CCO and determine its energy", [], []), ("Optimize CCO and simulate it", [], []),
])
def test_no_molecule_of_a_list_is_left_out(words, short, names):
    assert task.listed(words, ["CCO"]) == (short, names)
