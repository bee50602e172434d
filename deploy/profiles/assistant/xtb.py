"""xtb on molecules: one directory for each run, one thread, and the charge that RDKit counts, unless somebody asks for another one.

With a wrong charge xtb ends well and its numbers are wrong. Its results are read from xtbout.json; the free energy alone stands only in its text.
"""

import ctypes
import json
import math
import os
import re
import signal
import subprocess
import tempfile

from rdkit import Chem
from rdkit.Chem import rdMolDescriptors

from structures import axis_of, changed_bonds, debye, geometry, parts, protons, read_orders
from task import refuse, signed
from wishes import Wishes


SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
KT = 298.15 * 3.166811563e-6  # in Eh
SEPARATE = " Ions that react with each other have no stable state side by side. Please ask for each by itself, or with a solvent."


def end_with_us():
    """Has the kernel end xtb when this program is gone, however that has come about."""
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def run(folder, *arguments, hint=""):
    """Runs xtb in a folder and returns what it has printed. The hint is told where it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_STACKSIZE": "256M"}
    try:
        done = subprocess.run(["xtb", *arguments], cwd=folder, capture_output=True, text=True, env=environment, preexec_fn=end_with_us)
    except FileNotFoundError:
        refuse("The program xtb is not installed; on Debian: apt-get install xtb", 78)
    if done.returncode or "normal termination of xtb" not in done.stderr:
        said = re.findall(r"^-\d+- *(.+)$", done.stdout + done.stderr, re.MULTILINE)
        refuse(f"xtb did not end well on this molecule{': ' + said[-1].strip().rstrip('.') if said else ''}.{hint}", 65 if said else 70)
    return done.stdout


def frontier(result):
    """Energies of HOMO and LUMO in eV, and which orbital the HOMO is, counted from 0."""
    occupied = [i for i, x in enumerate(result["fractional occupation"]) if x > 0.5]
    energies = result["orbital energies/eV"]
    if not occupied:
        refuse("GFN2-xTB counts valence electrons alone, and this has none.")
    if max(occupied) + 1 == len(energies):
        refuse("All orbitals of this molecule are occupied, so that it has no LUMO.")
    return energies[max(occupied)], energies[max(occupied) + 1], max(occupied)


def vibrations(result, said, alike=1):
    """What a calculation of vibrations has found, without the motions of the whole molecule. What xtb took no symmetry for looks alike in that many orientations."""
    modes = [(round(mode, 1), round(intensity, 2)) for mode, intensity in zip(result["vibrational frequencies/rcm"], result["IR intensities/amu"]) if abs(mode) > 0.5]
    free, zero = re.findall(r"TOTAL FREE ENERGY +(-?[\d.]+) Eh", said), re.findall(r"zero point energy +(-?[\d.]+) Eh", said)
    return {"modes": modes, "imaginary": sum(1 for mode, _ in modes if mode < 0), "free_energy_eh": round(float(free[-1]) + KT * math.log(alike), 6), "zero_point_eh": round(float(zero[-1]), 6)}


def without_symmetry(folder):
    """Has xtb look for no symmetry: it breaks off on molecules whose atoms stand on a line."""
    with open(folder + "/unsymmetric.inp", "w") as file:
        file.write("$symmetry\n maxat=1\n$end\n")
    return ["--input", "unsymmetric.inp"]


def task_of(optimize, vibrating):
    return ["--ohess"] if vibrating else ["--opt"] if optimize else []


def calculate(smiles, molecule, optimize=True, conformers=10, wishes=None):
    """GFN2-xTB on a molecule: energies, orbitals, charges, bonds. A molecule that has become another one is no result."""
    wishes = wishes or Wishes("")
    whole, xyz = geometry(smiles, molecule, conformers)
    charge, unpaired = wishes.state(smiles, Chem.GetFormalCharge(whole), protons(whole))
    vibrating = wishes.vibrations and whole.GetNumAtoms() > 1
    optimize = optimize or vibrating
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/in.xyz", "w") as file:
            file.write(xyz)
        solvent = ["--alpb", wishes.solvent] if wishes.solvent else []
        axis = axis_of(xyz) if vibrating else []
        unsymmetric = without_symmetry(folder) if axis else []
        said = run(folder, "in.xyz", *unsymmetric, "--gfn", "2", "--chrg", str(charge), "--uhf", str(unpaired), "--json", *solvent, *task_of(optimize, vibrating),
                   hint=SEPARATE if parts(molecule) > 1 else "")
        if optimize and not os.path.exists(folder + "/.xtboptok"):
            refuse(f"The structure of {smiles} does not converge.", 70)
        with open(folder + "/xtbout.json") as file:
            result = json.load(file)
        if optimize:
            with open(folder + "/xtbopt.xyz") as file:
                xyz = file.read()
            held_to_its_bonds(smiles, whole, read_orders(folder + "/wbo"))
    homo, lumo, at = frontier(result)
    if not unpaired and abs(lumo - homo - result["HOMO-LUMO gap/eV"]) > 0.01:
        # Levels of equal energy that electrons share: as many pairs as can be are not the ground state.
        refuse(f"{smiles} has an open shell: its highest electrons share levels of equal energy. Please say its multiplicity, such as triplet.")
    charges = {}
    for atom, partial in zip(whole.GetAtoms(), result["partial charges"]):
        charges[atom.GetSymbol()] = charges.get(atom.GetSymbol(), 0) + partial
    return {
        "smiles": Chem.MolToSmiles(molecule), "formula": rdMolDescriptors.CalcMolFormula(molecule), "charge": charge, "unpaired": unpaired,
        "energy_eh": round(result["total energy"], 6), "homo_ev": round(homo, 3), "lumo_ev": round(lumo, 3),
        "gap_ev": round(result["HOMO-LUMO gap/eV"], 3), "homo_orbital": at + 1, "optimized": optimize, "xyz": xyz, "parts": parts(molecule),
        "solvent": wishes.solvent, "by_smiles": Chem.GetFormalCharge(molecule), "dipole_debye": debye(result["dipole"]),
        **({"vibrations": vibrations(result, said, 2 if axis and axis == axis[::-1] else 1)} if vibrating else {}),
        "method": result["method"], "xtb": result["xtb version"].split()[0], "charges_by_element": {e: round(q, 3) for e, q in sorted(charges.items())},
    }


def held_to_its_bonds(smiles, whole, orders):
    changed = changed_bonds(whole, orders)
    if changed:
        refuse(f"The optimization has made other molecules of {smiles} ({changed}): what comes out is no answer about it.{SEPARATE if parts(whole) > 1 else ' A solvent may keep it.'}")


def named(result):
    """A molecule with what was assumed of it."""
    told = f"{result['smiles']} ({result['formula']}, charge {signed(result['charge'])}"
    if result["charge"] != result["by_smiles"]:
        told += f" as asked, {signed(result['by_smiles'])} by the SMILES"
    if result["unpaired"]:
        told += f", multiplicity {result['unpaired'] + 1}"
    return told + ")"
