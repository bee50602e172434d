#!/usr/bin/python3
"""qm_agent: optimizes each molecule with GFN2-xTB and says its energies. It is no density functional theory, and says so when asked for that."""

import re

from task import Task, answer, beside, keep, progress
from wishes import Wishes
from xtb import calculate, named

task = Task()
wishes = Wishes(task.words)
single_point = bool(re.search(r"(?i)\bsingle[ -]point\b", task.words))
molecules = task.molecules()


def vibrating(number, found):
    """The sentence on vibrations, with all of them in a file."""
    keep(f"vibrations-{number}.csv", "wavenumber_per_cm,ir_intensity_amu\n" + "".join(f"{mode},{intensity}\n" for mode, intensity in found["modes"]))
    state = "no imaginary mode, so that it is a minimum" if not found["imaginary"] else f"{found['imaginary']} imaginary modes, so that it is no minimum"
    modes = [mode for mode, _ in found["modes"]]
    span = f"{len(modes)} modes from {modes[0]} to {modes[-1]}" if len(modes) > 1 else f"1 mode at {modes[0]}"
    return (
        f"Vibrations: {span} cm⁻¹, {state}; zero point energy {found['zero_point_eh']} Eh, "
        f"free energy at 298.15 K {found['free_energy_eh']} Eh.")


done, lines = [], []
for number, (smiles, molecule) in enumerate(molecules, 1):
    progress(10 + 80 * (number - 1) // len(molecules), "optimizing " + smiles)
    result = calculate(smiles, molecule, optimize=not single_point, wishes=wishes)
    done.append(result)
    keep(f"structure-{number}.xyz", result["xyz"])
    place = f" in {wishes.solvent_told} (ALPB)" if wishes.solvent else ""
    lines.append(
        f"{named(result)}, {'optimized' if result['optimized'] else 'single point'} by {result['method']} (xtb {result['xtb']}){place}: total energy {result['energy_eh']} Eh, "
        f"HOMO {result['homo_ev']} eV, LUMO {result['lumo_ev']} eV, gap {result['gap_ev']} eV.")
    if not result["optimized"]:
        lines.append("A single point is calculated on the geometry of a force field: its numbers differ from those of an optimized structure.")
    if wishes.dipole:
        lines.append(f"Dipole moment: {result['dipole_debye']} D{', which depends on the origin because of the charge' if result['charge'] else ''}.")
    if wishes.charges:
        lines.append(f"Partial charges by Mulliken, summed by element: {', '.join(f'{element} {charge:+.3f}' for element, charge in result['charges_by_element'].items())}.")
    if result["unpaired"]:
        lines.append("With unpaired electrons the HOMO is the highest orbital that holds one. GFN2-xTB has no terms of spin: energies of different multiplicities compare poorly.")
    if "vibrations" in result:
        lines.append(vibrating(number, result["vibrations"]))
    elif wishes.vibrations:
        lines.append("One atom has no vibrations.")
    if result["parts"] > 1:
        lines.append(f"These are {result['parts']} separate molecules, put beside each other: this is one arrangement of many.")
if single_point and wishes.vibrations:
    lines.append("Vibrations need a minimum, so that the structure was optimized first.")
if re.search(r"(?i)\b(dft|b3lyp|pbe0?|density functional|orca)\b", task.words):
    lines.append("You asked for density functional theory. This is GFN2-xTB, a semi-empirical method: its numbers are others.")
more, missing = beside(task.words, task.found)
answer("\n".join([*lines, *more, *task.read]), {"molecules": done}, [*wishes.not_done(), *missing])
