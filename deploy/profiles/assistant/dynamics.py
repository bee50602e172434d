#!/usr/bin/python3
"""md_agent: some picoseconds of molecular dynamics in vacuum, by xtb with the force field GFN-FF. Equal requests give equal trajectories."""

import re
import statistics
import tempfile

from task import Task, answer, keep, progress, refuse
from xtb import geometry, run

INPUT = "$md\n temp={temperature}\n time={time}\n dump=50.0\n step=1.0\n hmass=1\n shake=0\n nvt=true\n velo=false\n sccacc=2.0\n$end\n$samerand\n"


def asked(name, unit, otherwise, most):
    """The argument of that name, else the number before the unit in the words, which hold for the whole plan."""
    written = re.search(rf"(\d+(?:\.\d+)?) ?(?:{unit})\b", task.words)
    value = task.arguments.get(name, float(written[1]) if written else otherwise)
    if not 0 < value <= most:
        refuse(f"{value:g} {unit.split('|')[0]} is not between 0 and {most}.")
    return value


task = Task()
temperature, time = asked("temperature", "K|[Kk]elvin", 298.15, 3000), asked("picoseconds", "ps|picoseconds?", 5, 100)
given = [result for results in task.results("molecules") for result in results if "xyz" in result]
if given:
    smiles, xyz, charge, unpaired = given[0]["smiles"], given[0]["xyz"], given[0]["charge"], given[0]["unpaired"]
else:
    (smiles, molecule), = task.molecules(most=1)
    _, xyz, charge, unpaired = geometry(smiles, molecule)
progress(10, f"{time:g} ps of {smiles} at {temperature:g} K")
with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/in.xyz", "w") as file:
        file.write(xyz)
    with open(folder + "/md.inp", "w") as file:
        file.write(INPUT.format(temperature=temperature, time=time))
    said = run(folder, "in.xyz", "--gfnff", "--chrg", str(charge), "--uhf", str(unpaired), "--md", "--input", "md.inp")
    with open(folder + "/xtb.trj") as file:
        trajectory = file.read()
keep("trajectory.xyz", trajectory)

# The table of the run: step, time, mean of the potential energy, kinetic energy, mean temperature, temperature, total energy.
rows = re.findall(r"^ +\d+ +\d+\.\d\d +-?[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+) +-?[\d.]+ *$", said, re.MULTILINE)
temperatures = [float(row) for row in rows]
half = temperatures[len(temperatures) // 2:]
mean = round(statistics.fmean(half), 1) if half else None
equilibrated = "thermostating problem" not in said and "normal exit of md()" in said
frames = trajectory.count("energy:")
text = f"{time:g} ps of molecular dynamics of {smiles} in vacuum by GFN-FF, set to {temperature:g} K: {frames} frames"
text += f", mean temperature of the second half {mean} K." if mean else "."
text += " xtb reports no problem of the thermostat." if equilibrated else " Not equilibrated: xtb reports a problem of the thermostat, so that this is no sample of that temperature."
answer(text, {"smiles": smiles, "temperature": temperature, "picoseconds": time, "frames": frames, "mean_temperature": mean, "equilibrated": equilibrated})
