#!/usr/bin/python3
"""multiwfn_agent: on which elements HOMO and LUMO lie, by Mulliken shares of the orbitals that xtb writes. Multiwfn itself is not asked.

All orbitals are in xtb's file, and with coefficients C the overlap is S = inverse of C times its transpose: no integrals are needed. The
charges that follow have to be xtb's own, or nothing is answered.
"""

import tempfile

import numpy as np

from task import Task, answer, beside, progress, refuse
from wishes import Wishes
from xtb import calculate, named, run

HARTREE = 27.211386
VALENCE = {1: 1, 3: 1, 5: 3, 6: 4, 7: 5, 8: 6, 9: 7, 11: 1, 12: 2, 13: 3, 14: 4, 15: 5, 16: 6, 17: 7, 19: 1, 20: 2, 35: 7, 53: 7}
FUNCTIONS = {"s": 1, "p": 3, "d": 5}


def read_molden(path):
    """Atoms, the atom of each basis function, and energies, occupations and coefficients of all orbitals."""
    atoms, functions, energies, occupations, columns = [], [], [], [], []
    section = atom = None
    with open(path) as file:
        for line in file:
            words = line.split()
            if line.startswith("["):
                section = line[1:line.index("]")].upper()
            elif section == "ATOMS":
                atoms.append((words[0], int(words[2])))
            elif section == "GTO" and len(words) == 2 and words[1] == "0":
                atom = int(words[0]) - 1
            elif section == "GTO" and words and words[0].isalpha():
                functions += [atom] * FUNCTIONS[words[0].lower()]
            elif section == "MO" and "=" in line:
                key, value = (part.strip() for part in line.split("=", 1))
                if key == "Ene":
                    energies.append(float(value))
                    columns.append([])
                elif key == "Occup":
                    occupations.append(float(value))
            elif section == "MO" and words:
                columns[-1].append(float(words[1]))
    return atoms, functions, np.array(energies), np.array(occupations), np.array(columns).T


def analyze(result):
    if result["unpaired"]:
        refuse(f"{result['smiles']} has an unpaired electron; shares of orbitals are for closed shells.")
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/in.xyz", "w") as file:
            file.write(result["xyz"])
        run(folder, "in.xyz", "--gfn", "2", "--chrg", str(result["charge"]), "--molden", *(["--alpb", result["solvent"]] if result.get("solvent") else []))
        atoms, functions, energies, occupations, coefficients = read_molden(folder + "/molden.input")
        with open(folder + "/charges") as file:
            own = [float(line) for line in file]
    unknown = sorted({symbol for symbol, number in atoms if number not in VALENCE})
    if unknown:
        refuse(f"Shares of orbitals are not known for {', '.join(unknown)}.")
    if coefficients.shape != (len(functions), len(functions)):
        refuse("The file of the orbitals is not complete.", 70)
    overlap = np.linalg.inv(coefficients @ coefficients.T)
    share = np.zeros((len(atoms), len(functions)))
    for atom, row in zip(functions, coefficients * (overlap @ coefficients)):
        share[atom] += row
    error = max(abs(np.array([VALENCE[number] for _, number in atoms]) - share @ occupations - own))
    if error > 1e-3:
        refuse(f"The charges of these orbitals are not those of xtb: they differ by {error:.1e}.", 70)
    ev, homo = energies * HARTREE, int(np.where(occupations > 0.5)[0].max())
    made = {"smiles": result["smiles"], "gap_ev": result["gap_ev"], "charge_error": float(f"{error:.1e}")}
    for name, at in (("homo", homo), ("lumo", homo + 1)):
        # Degenerate orbitals mix freely: only the mean of their set means something.
        same = [k for k in range(len(ev)) if abs(ev[k] - ev[at]) < 0.02 and (occupations[k] > 0.5) == (occupations[at] > 0.5)]
        by = {}
        for (symbol, _), x in zip(atoms, share[:, same].mean(axis=1)):
            by[symbol] = by.get(symbol, 0) + 100 * float(x)
        made[name] = {"ev": round(float(ev[at]), 3), "degenerate": len(same), "by_element_percent": {e: abs(round(x, 1)) for e, x in sorted(by.items())}}
    return made


def tell(name, orbital):
    shares = sorted(orbital["by_element_percent"].items(), key=lambda share: -share[1])
    many = f", {orbital['degenerate']} of equal energy" if orbital["degenerate"] > 1 else ""
    return f"{name} {orbital['ev']} eV{many}: " + ", ".join(f"{symbol} {percent} %" for symbol, percent in shares)


task = Task()
results = [result for given in task.results("molecules") for result in given if "xyz" in result]
left_out = []
if not results:
    wishes = Wishes(task.words)
    left_out = wishes.not_done()
    for smiles, molecule in task.molecules():
        progress(20, "calculating " + smiles)
        results.append(calculate(smiles, molecule, wishes=wishes))
made, lines = [], []
for result in results:
    progress(60, "analyzing " + result["smiles"])
    analysis = analyze(result)
    made.append(analysis)
    charges = ", ".join(f"{symbol} {charge:+.3f}" for symbol, charge in result["charges_by_element"].items())
    solvent = f" in {result['solvent']} (ALPB)" if result.get("solvent") else ""
    lines.append(
        f"{named(result)} by {result['method']}{solvent}: gap {result['gap_ev']} eV.\n"
        f"{tell('HOMO', analysis['homo'])}.\n{tell('LUMO', analysis['lumo'])}.\nCharge by element: {charges}.")
more, missing = beside(task.words, task.found)
answer("\n\n".join([*lines, *filter(None, ["\n".join([*more, *task.read])])]), {"analyses": made}, [*left_out, *missing])
