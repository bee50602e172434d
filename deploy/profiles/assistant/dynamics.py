#!/usr/bin/python3
"""md_agent: some picoseconds of molecular dynamics in vacuum, by xtb with the force field GFN-FF. Equal requests give equal trajectories."""

import re
import statistics
import tempfile

from rdkit import Chem

from structures import come_apart, geometry, protons
from task import Task, answer, beside, keep, progress, refuse
from wishes import NOT_SIMULATED, Wishes
from xtb import run

INPUT = "$md\n temp={temperature}\n time={time}\n dump=50.0\n step=1.0\n hmass=1\n shake=0\n nvt=true\n velo=false\n sccacc=2.0\n$end\n$samerand\n"
TIME = r"\d\s*(?:[fpnµuμm]?s|\w*seconds?|minutes?|min|hours?|h)\b"
TEMPERATURE = r"(?i)\d\s*(?:K|kelvins?|(?:°|deg(?:rees?)?|grad) ?(?:C|celsius)|℃|celsius)(?!\w)"
MOST_KELVIN, MOST_PICOSECONDS, LEAST_PICOSECONDS = 3000, 100, 0.1


def kelvin(arguments):
    """The temperature, in whichever unit it was given."""
    if "celsius" in arguments and "temperature" in arguments:
        refuse("There are two temperatures in the request, one in kelvin and one in degrees Celsius. Please give one.")
    value = arguments["celsius"] + 273.15 if "celsius" in arguments else arguments.get("temperature", 298.15)
    if not 0 < value <= MOST_KELVIN:
        refuse(f"{value:g} K is not above 0 and at most {MOST_KELVIN} K.")
    return round(value, 2)


def said_by_somebody(pattern):
    """Whether somebody has written such a quantity: in the request, or in what they were asked."""
    answers = [said["text"] for said in task.context.get("answers", [])]
    return any(re.search(pattern, words) for words in (task.words, *answers))


task = Task()
temperature, time = kelvin(task.arguments), task.arguments.get("picoseconds", 5)
if not LEAST_PICOSECONDS <= time <= MOST_PICOSECONDS:
    refuse(f"{time:g} ps is not between {LEAST_PICOSECONDS} ps and {MOST_PICOSECONDS} ps, which is what is simulated here.")
if "picoseconds" not in task.arguments and re.search(TIME, task.words):
    refuse("The time in your words was not understood. Please write it as in 5 ps, 500 fs or 0.05 ns.")
wishes = Wishes(task.words)
given = [result for results in task.results("molecules") for result in results if "xyz" in result]
if given:
    if len(given) > 1:
        refuse(f"One molecule at a time is simulated here, and these are {len(given)}.")
    smiles, xyz, charge, unpaired = given[0]["smiles"], given[0]["xyz"], given[0]["charge"], given[0]["unpaired"]
else:
    (smiles, molecule), = task.molecules(most=1)
    whole, xyz = geometry(smiles, molecule)
    charge, unpaired = wishes.state(smiles, Chem.GetFormalCharge(whole), protons(whole))
progress(10, f"{time:g} ps of {smiles} at {temperature:g} K")
with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/in.xyz", "w") as file:
        file.write(xyz)
    with open(folder + "/md.inp", "w") as file:
        file.write(INPUT.format(temperature=temperature, time=time))
    solvent = ["--alpb", wishes.solvent] if wishes.solvent else []
    said = run(folder, "in.xyz", "--gfnff", "--chrg", str(charge), "--uhf", str(unpaired), "--md", "--input", "md.inp", *solvent)
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
text = f"{time:g} ps of molecular dynamics of {smiles} in {wishes.solvent_told + ' (ALPB)' if wishes.solvent else 'vacuum'} by GFN-FF, set to {temperature:g} K: {frames} frames"
text += f", mean temperature of the second half {mean} K." if mean else "."
if equilibrated:
    text += " xtb reports no problem of the thermostat."
else:
    text += " Not equilibrated: xtb reports a problem of the thermostat, so that this is no sample of that temperature."
broken, apart = come_apart(xyz, trajectory)
if broken:
    text += f" In {apart} of the frames bonds are broken ({broken}): GFN-FF is not made for that, and those frames are none of {smiles}."
# A plan fills in what nobody has said, too.
unsaid = [("time", "5 ps")] if task.arguments.get("picoseconds", 5) == 5 and not said_by_somebody(TIME) else []
unsaid += [("temperature", "298.15 K")] if temperature == 298.15 and not said_by_somebody(TEMPERATURE) else []
for what, taken in unsaid:
    text += f" No {what} was said: {taken} was taken."
more, missing = beside(task.words, task.found)
answer("\n".join([text, *more, *task.read]), {
    "smiles": smiles, "frames_broken": apart, "temperature": temperature, "picoseconds": time, "frames": frames, "mean_temperature": mean, "equilibrated": equilibrated,
}, [*wishes.not_done(NOT_SIMULATED), *missing])
