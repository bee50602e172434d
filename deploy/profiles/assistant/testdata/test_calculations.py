"""What the programs do of what is wished, and that they say what they do not. Run by pytest."""

import json
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(HERE))
import structures  # noqa: E402
import wishes  # noqa: E402


def run(program, request, **arguments):
    """What a program says to a request, with its answer or with its refusal."""
    asked = {"payload": {"tasks": [{"description": request, "context": {"request": request, "arguments": arguments}}]}}
    done = subprocess.run(["/usr/bin/python3", "-B", HERE / program], input=json.dumps(asked), capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    said = json.loads(done.stdout)
    return said["needs"][0]["question"]["en"] if "needs" in said else said["result"]["text"]


@pytest.mark.parametrize("words, says", [
    ("Optimize [NH4+].[Cl-]", ["The optimization has made other molecules of [NH4+].[Cl-] (H–N broken; Cl–H new)", "Ions that react with each other have no stable state side by side."]),
    ("Optimize C[N+](C)(C)C.[OH-]", ["xtb did not end well on this molecule: scf: Self consistent charge iterator did not converge. Ions that react"]),
    ("Optimize [NH3+]CC(=O)[O-]", ["(H–N broken; H–O new)", "A solvent may keep it."]),
    ("Optimize [NH3+]CC(=O)[O-] in water", ["in water (ALPB)", "total energy -17.892104 Eh"]),
    ("Optimize [Na+].[Cl-]", ["total energy -4.82047 Eh", "These are 2 separate molecules, put beside each other"]),
    ("The frequencies of `O` in water", ["in water (ALPB)", "Vibrations: 3 modes from 144", "no imaginary mode", "zero point energy 0.0196", "free energy at 298.15 K -5.08"]),
    ("Frequencies of N#N", ["Vibrations: 1 mode at 2437.", "free energy at 298.15 K -5.7768"]),  # RT ln 2 more than of what looks alike in one orientation
    ("Optimize CC(=O)[O-] in water, then give the charges", ["Partial charges by Mulliken, summed by element: C +0.222, H +0.109, O -1.331."]),
    ("Single point of the dimer of `O` under 2 GPa", ["Not done here: more than one copy of a molecule: write them side by side, as in O.O; a pressure: the molecule is alone."]),
    ("Single point of `C` in the S1 state", ["C (CH4, charge 0)", "Not done here: excited states."]),
    ("Reaction energy: single point of `O`", ["Not done here: differences of energies of several structures."]),
    ("Single point of [CH3]", ["With unpaired electrons the HOMO is the highest orbital that holds one."]),
    ("Optimize O=O as a triplet", ["(O2, charge 0, multiplicity 3)"]),
    ("Energy of `CO` with charge +1", ["(CH4O, charge +1 as asked, 0 by the SMILES, multiplicity 2)"]),
    ("Single point and NMR of O.O in vacuum", ["single point by GFN2-xTB", "A single point is calculated on the geometry of a force field", "Not done here: NMR."]),
    ("Optimize CCO as a doublet", ["A multiplicity of 2 does not fit CCO: with charge 0 it has 26 electrons."]),
    ("Optimize CCO in ethanol", ["ethanol is not known to xtb. It knows: acetone, acetonitrile"]),
    ("The transition state of CCO", ["Transition states, reaction paths and barriers cannot be calculated here"]),
    ("Single points of CCO and methanol", ["CCO (C2H6O", "CO (CH4O", "methanol = CO"]),
    ("The energy of xylene", ["“xylene” is not one known molecule. Is it o-xylene, m-xylene or p-xylene?"]),
    ("Single point, molecular weight, chirality and boiling point of CCO", [
        "HOMO", "The molecular weight of CCO is 46.069 g/mol.", "CCO is not chiral by its stereocentres.", "This cannot be given of CCO here: boiling point."]),
    ("The energies of CCO and CO", ["CCO (C2H6O", "CO (CH4O"]),
])
def test_what_is_wished_is_done_or_told(words, says):
    told = run("qm.py", words)
    assert [part for part in says if part not in told] == [], told


def test_properties_that_are_not_there():
    assert run("properties.py", "What is the boiling point of CCO?") == "This cannot be given of CCO here: boiling point."
    assert run("properties.py", "What are logP and boiling point of CCO?").endswith("\nThis cannot be given of CCO here: boiling point.")


@pytest.mark.parametrize("arguments, says", [
    ({"celsius": 25, "picoseconds": 0.1}, "0.1 ps of molecular dynamics of O in vacuum by GFN-FF, set to 298.15 K"),
    ({"temperature": 300, "picoseconds": 0.1}, "set to 300 K"),
    ({"picoseconds": 0.1}, "No temperature was said: 298.15 K was taken."),
    ({"temperature": 298.15, "picoseconds": 0.1}, "No temperature was said: 298.15 K was taken."),  # as a plan fills it in
    ({"picoseconds": 200}, "200 ps is not between 0.1 ps and 100 ps, which is what is simulated here."),
    ({"temperature": 300, "celsius": 25}, "There are two temperatures in the request"),
    ({"celsius": -300}, "-26.85 K is not above 0 and at most 3000 K."),
])
def test_dynamics_do_what_was_filled(arguments, says):
    assert says in run("dynamics.py", "Simulate `O`", **arguments)


def test_a_time_that_was_not_understood_is_no_default():
    assert run("dynamics.py", "Simulate `O` for 2 minutes").startswith("The time in your words was not understood.")
    told = run("dynamics.py", "Simulate `O` in water at a pressure of 1 bar", picoseconds=0.1)
    assert "in water (ALPB) by GFN-FF" in told and told.endswith("Not done here: a pressure: the molecule is alone, at constant temperature.")


def test_a_bond_that_has_come_apart_is_told():
    """What vibrates is whole; what is far away is not, and a salt has no bond that could break."""
    frames = [f"2\n energy: 0\nC 0 0 0\nH {x} 0 0\n" for x in (1.0, 1.4, 2.5, 3.0)]
    assert structures.come_apart("2\n\nC 0 0 0\nH 1.09 0 0\n", "".join(frames)) == ("C–H", 2)
    assert structures.come_apart("2\n\nC 0 0 0\nH 1.09 0 0\n", "".join(frames[:2])) == ("", 0)
    assert structures.come_apart("2\n\nNa 0 0 0\nCl 2.3 0 0\n", "2\n\nNa 0 0 0\nCl 9 0 0\n") == ("", 0)


def test_atoms_on_a_line():
    assert structures.axis_of("3\n\nC 0 0 0\nO 0.8 0.8 0\nO -0.8 -0.8 0\n") in (["O", "C", "O"], ["O", "C", "O"][::-1])
    assert structures.axis_of("3\n\nO 0 0 0\nH 0.96 0 0\nH -0.24 0.93 0\n") == []


def test_capacity_and_lumo_of_a_cation():
    """Two hydrogens go where a backbone and a cation are joined; the LUMO is that of qm_agent."""
    told = run("swarm.py", "x", backbone="PBF_BB_1", cation_name="piperidinium", property="iec", num_part=2, steps=1, seed=14)
    assert "of 336 combinations" in told and "(GFN2-xTB, optimized)" in told
    from rdkit.Chem import Descriptors, MolFromSmiles
    weight = Descriptors.MolWt(MolFromSmiles("*c1ccc(-c2ccc(*)cc2)cc1")) + Descriptors.MolWt(MolFromSmiles("C[N+]1(C)CCCCC1"))
    assert round(1000 / (weight - 2 * 1.008), 3) == 3.782


@pytest.mark.parametrize("words, charge, multiplicity, solvent", [
    ("this cation in DMSO", None, None, "dmso"), ("charge of -1, S = 1/2 spin 1/2", -1, 2, None), ("charge 2+ in aqueous solution", 2, None, "water"), ("neutral triplet", 0, 3, None),
    ("charges and orbitals of water", None, None, None), ("two unpaired electrons, dissolved in THF", None, 3, "thf"), ("multiplicity: 4", None, 4, None),
])
def test_wishes(words, charge, multiplicity, solvent):
    wished = wishes.Wishes(words)
    assert (wished.charge, wished.multiplicity, wished.solvent) == (charge, multiplicity, solvent)


def test_separate_molecules_stand_apart():
    from rdkit import Chem
    _, xyz = structures.geometry("", Chem.MolFromSmiles("[Na+].[Cl-].O"))
    places = [tuple(float(x) for x in line.split()[1:]) for line in xyz.splitlines()[2:]]
    assert min(abs(a[0] - b[0]) for a in places[:2] for b in places if a != b) >= structures.GAP - 0.001
