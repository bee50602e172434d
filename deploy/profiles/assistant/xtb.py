"""Three dimensions by RDKit, and xtb on them: one directory for each run, one thread, and the charge that RDKit counts.

With a wrong charge xtb ends well and its numbers are wrong, so that nobody types it. Its results are read from xtbout.json, never from its text.
"""

import json
import os
import subprocess
import tempfile

from rdkit import Chem
from rdkit.Chem import AllChem, rdMolDescriptors

from task import refuse

MOST_ATOMS = 200


def run(folder, *arguments):
    """Runs xtb in a folder and returns what it has printed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_STACKSIZE": "256M"}
    try:
        done = subprocess.run(["xtb", *arguments], cwd=folder, capture_output=True, text=True, env=environment)
    except FileNotFoundError:
        refuse("The program xtb is not installed; on Debian: apt-get install xtb", 78)
    if done.returncode or "normal termination of xtb" not in done.stderr:
        refuse("xtb did not end well on this molecule.", 70)
    return done.stdout


def geometry(smiles, molecule, conformers=10):
    """The best of some conformers, always the same ones, with its charge and its unpaired electrons."""
    if any(atom.GetAtomicNum() == 0 for atom in molecule.GetAtoms()):
        refuse(f"{smiles} has an open end (*). Please cap it, for instance with C.")
    whole = Chem.AddHs(molecule)
    if whole.GetNumAtoms() > MOST_ATOMS:
        refuse(f"{smiles} has {whole.GetNumAtoms()} atoms, and at most {MOST_ATOMS} are worked on.")
    if not list(AllChem.EmbedMultipleConfs(whole, conformers, randomSeed=42)):
        refuse(f"RDKit finds no three-dimensional structure of {smiles}.")
    known = AllChem.MMFFHasAllMoleculeParams(whole)
    optimize = AllChem.MMFFOptimizeMoleculeConfs if known else AllChem.UFFOptimizeMoleculeConfs
    energies = optimize(whole, maxIters=2000)
    best = min(range(len(energies)), key=lambda i: energies[i][1])
    charge = Chem.GetFormalCharge(whole)
    unpaired = (sum(atom.GetAtomicNum() for atom in whole.GetAtoms()) - charge) % 2
    return whole, Chem.MolToXYZBlock(whole, confId=best), charge, unpaired


def frontier(result):
    """Energies of HOMO and LUMO in eV, and which orbital the HOMO is, counted from 0."""
    occupied = [i for i, x in enumerate(result["fractional occupation"]) if x > 0.5]
    energies = result["orbital energies/eV"]
    if max(occupied) + 1 == len(energies):
        refuse("All orbitals of this molecule are occupied, so that it has no LUMO.")
    return energies[max(occupied)], energies[max(occupied) + 1], max(occupied)


def calculate(smiles, molecule, optimize=True, conformers=10):
    """GFN2-xTB on a molecule: energies, orbitals, charges, bonds."""
    whole, xyz, charge, unpaired = geometry(smiles, molecule, conformers)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/in.xyz", "w") as file:
            file.write(xyz)
        run(folder, "in.xyz", "--gfn", "2", "--chrg", str(charge), "--uhf", str(unpaired), "--json", *(["--opt"] if optimize else []))
        if optimize and not os.path.exists(folder + "/.xtboptok"):
            refuse(f"The structure of {smiles} does not converge.", 70)
        with open(folder + "/xtbout.json") as file:
            result = json.load(file)
        if optimize:
            with open(folder + "/xtbopt.xyz") as file:
                xyz = file.read()
    homo, lumo, at = frontier(result)
    if not unpaired and abs(lumo - homo - result["HOMO-LUMO gap/eV"]) > 0.01:
        # Levels of equal energy that electrons share: as many pairs as can be are not the ground state.
        refuse(f"{smiles} has an open shell: its highest electrons share levels of equal energy. Such a molecule is not worked on.")
    charges = {}
    for atom, partial in zip(whole.GetAtoms(), result["partial charges"]):
        charges[atom.GetSymbol()] = charges.get(atom.GetSymbol(), 0) + partial
    return {
        "smiles": Chem.MolToSmiles(molecule), "formula": rdMolDescriptors.CalcMolFormula(molecule), "charge": charge, "unpaired": unpaired,
        "energy_eh": round(result["total energy"], 6), "homo_ev": round(homo, 3), "lumo_ev": round(lumo, 3),
        "gap_ev": round(result["HOMO-LUMO gap/eV"], 3), "homo_orbital": at + 1, "optimized": optimize, "xyz": xyz,
        "method": result["method"], "xtb": result["xtb version"].split()[0], "charges_by_element": {e: round(q, 3) for e, q in sorted(charges.items())},
    }
