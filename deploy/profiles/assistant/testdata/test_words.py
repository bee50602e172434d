"""Which words of a message are taken for molecules to work on, and how a request is divided. Run by pytest."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(HERE))
import task  # noqa: E402


@pytest.mark.parametrize("words, found", [
    ("Calculate HOMO/LUMO energy for this cation C[N+](C)(C)C and analyze the results", ["C[N+](C)(C)C"]),
    ("Optimize ethanol in water", ["ethanol"]), ("The energy of its cation in water", []), ("Frequencies of water", ["water"]), ("Energies of CCO and CO", ["CCO", "CO"]),
    ("Dipole of acetone as a toluene solution", ["acetone"]), ("Design PBF_BB_1 at 400K with B3LYP, GFN2-xTB or 6-31G* by a PSO", []),
])
def test_molecules_to_work_on(words, found):
    assert [molecule.written for _, _, molecule in task.molecules_in(words)] == found


def planned(words):
    done = subprocess.run(["/usr/bin/python3", "-B", HERE / "plan.py"], input=json.dumps({"payload": {"tasks": [{"description": words}]}}), capture_output=True, text=True)
    return json.loads(done.stdout)["result"]["data"]["tasks"]


@pytest.mark.parametrize("words, agents, dependent", [
    ("Calculate HOMO/LUMO energy for this cation C[N+](C)(C)C and analyze the results", ["qm_agent", "multiwfn_agent"], {"s2": ["s1"]}),
    ("First optimize c1ccncc1, then find papers on alkaline stability", ["qm_agent", "rag_agent"], {}),
    ("Find papers on conductivity after you calculate the energy of CCN", ["qm_agent", "rag_agent"], {}),
    ("Optimize c1ccccc1 and run MD for 1 ps, then analyze the orbitals", ["qm_agent", "md_agent", "multiwfn_agent"], {"s2": ["s1"], "s3": ["s1"]}),
    ("Optimize CCO and simulate CCN for 1 ps", ["qm_agent", "md_agent"], {}),
    ("Is CCO chiral, and what are its HOMO and LUMO energies?", ["chemistry_agent", "qm_agent"], {}),
    ("Membranes\n\nDear assistant,\nplease determine the weight of CCO and then compute its energy.\n\nAda", ["chemistry_agent", "qm_agent"], {}),
    ("Determine the weight of CCO and then make some coffee", ["chemistry_agent", "chemistry_agent"], {}),
])
def test_each_part_is_a_step(words, agents, dependent):
    steps = planned(words)
    assert [step["assigned_to"] for step in steps] == agents
    assert {step["task_id"]: step["dependencies"] for step in steps if step["dependencies"]} == dependent


def test_the_example_plan_has_its_titles():
    """Step 1 "Run quantum chemistry calculation", step 2 "Analyze orbital energies (HOMO/LUMO) from calculation results" (O-26)."""
    steps = planned("Calculate HOMO/LUMO energy for this cation and analyze the results")
    assert [(step["description"].partition(": ")[0], step["assigned_to"]) for step in steps] == [
        ("Run quantum chemistry calculation", "qm_agent"), ("Analyze orbital energies (HOMO/LUMO) from calculation results", "multiwfn_agent")]


def test_a_step_says_which_molecule_it_is_about():
    assert planned("First evaluate the logP of CCCCO, then optimize its geometry")[1]["description"] == "Run quantum chemistry calculation: optimize its geometry (CCCCO)"
