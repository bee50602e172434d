#!/usr/bin/python3
"""qm_agent: optimizes each molecule with GFN2-xTB and says its energies. It is no density functional theory, and says so when asked for that."""

import re

from task import Task, answer, keep, progress, signed
from xtb import calculate

task = Task()
molecules = task.molecules()
done, lines = [], []
for number, (smiles, molecule) in enumerate(molecules, 1):
    progress(10 + 80 * (number - 1) // len(molecules), "optimizing " + smiles)
    result = calculate(smiles, molecule, optimize=not re.search(r"(?i)\bsingle[ -]point\b", task.words))
    done.append(result)
    keep(f"structure-{number}.xyz", result["xyz"])
    lines.append(
        f"{result['smiles']} ({result['formula']}, charge {signed(result['charge'])}), {'optimized' if result['optimized'] else 'single point'} by "
        f"{result['method']} (xtb {result['xtb']}): total energy {result['energy_eh']} Eh, HOMO {result['homo_ev']} eV, LUMO {result['lumo_ev']} eV, gap {result['gap_ev']} eV.")
if re.search(r"(?i)\b(dft|b3lyp|pbe0?|density functional|orca)\b", task.words):
    lines.append("You asked for density functional theory. This is GFN2-xTB, a semi-empirical method: its numbers are others.")
answer("\n".join(lines), {"molecules": done})
