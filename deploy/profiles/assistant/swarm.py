#!/usr/bin/python3
"""hem_agent: a particle swarm over cations on a backbone. Fitness is the energy of the LUMO by GFN2-xTB, the ion exchange capacity, or both.

Each cation is optimized before its LUMO is looked at: on the geometries of a force field LUMOs are off by more than an electron volt, and in
another order. A higher LUMO is taken for a cation that alkali attacks less. What needs a trained model (ec, ewu, esr) is refused: there is none here.
"""

import csv
import io
import random

from rdkit import Chem
from rdkit.Chem import Descriptors

from task import Task, answer, keep, progress, refuse
from xtb import calculate

BACKBONES = {"PBF_BB_1": "*c1ccc(-c2ccc(*)cc2)cc1", "PP_BB_1": "*c1ccc(*)cc1", "PPO_BB_1": "*Oc1ccc(*)cc1"}
# Substituents number their rings 9: with a 1 they would close the ring of the cation.
ALKYL = ["C", "CC", "CCC", "CCCC", "CC(C)C", "CCCCCC", "CC9CCCCC9", "COC"]
TETHER = ["C", "CC", "CCC", "CCCC", "CCCCCC", "Cc9ccccc9"]
RING = ["", "(C)", "(CC)", "(OC)", "(C(C)(C)C)", "(c9ccccc9)", "(F)"]
CATIONS = {
    "piperidinium": ("[N+]1({0})({1})CCC{2}CC1", [ALKYL, TETHER, RING]),
    "tetraalkylammonium": ("[N+]({0})({1})({2})C", [ALKYL, TETHER, ALKYL]),
    "imidazolium": ("[n+]1({0})c{2}n({1})cc1", [ALKYL, TETHER, ["", "(C)", "(CC)", "(c9ccccc9)"]]),
}
SHOWN = 10
HYDROGEN = 1.008


class Space:
    def __init__(self, backbone, cation, goal):
        self.form, self.lists = CATIONS[cation]
        self.goal, self.weight = goal, Descriptors.MolWt(Chem.MolFromSmiles(BACKBONES[backbone]))
        self.known = {}

    def fitness(self, position):
        chosen = [values[min(int(x), len(values) - 1)] for x, values in zip(position, self.lists)]
        smiles = Chem.CanonSmiles(self.form.format(*chosen))
        if smiles not in self.known:
            molecule = Chem.MolFromSmiles(smiles)
            lumo = calculate(smiles, molecule, conformers=4)["lumo_ev"]
            # The unit that repeats is a backbone and a cation, each without the hydrogen where they are joined, and without a counter-ion.
            capacity = 1000 / (self.weight + Descriptors.MolWt(molecule) - 2 * HYDROGEN)
            self.known[smiles] = ({"lumo": lumo, "iec": capacity, "multi": (lumo + 8) / 3 + capacity / 5}[self.goal], lumo, capacity)
        return self.known[smiles][0]


def swarm(space, particles, steps, seed):
    """The usual swarm: inertia 0.6, and 1.5 towards the best of the particle and of all. Returns max, min and mean of each step."""
    dice, sizes = random.Random(seed), [len(values) for values in space.lists]
    at = [[dice.uniform(0, size) for size in sizes] for _ in range(particles)]
    speed = [[dice.uniform(-1, 1) for _ in sizes] for _ in range(particles)]
    own, own_fitness, best, best_fitness, history = [list(x) for x in at], [float("-inf")] * particles, None, float("-inf"), []
    for step in range(1, steps + 1):
        now = []
        for i in range(particles):
            value = space.fitness(at[i])
            now.append(value)
            if value > own_fitness[i]:
                own_fitness[i], own[i] = value, list(at[i])
            if value > best_fitness:
                best_fitness, best = value, list(at[i])
        history.append((max(now), min(now), sum(now) / particles))
        progress(100 * step // steps, "Step {}/{}, max: {:.3f}, min: {:.3f}, mean: {:.3f}".format(step, steps, *history[-1]))
        for i in range(particles):
            for k, size in enumerate(sizes):
                speed[i][k] = 0.6 * speed[i][k] + 1.5 * dice.random() * (own[i][k] - at[i][k]) + 1.5 * dice.random() * (best[k] - at[i][k])
                at[i][k] = min(max(at[i][k] + speed[i][k], 0), size - 1e-9)
    return history


def table(head, rows):
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows([head, *rows])
    return made.getvalue()


arguments = Task().arguments
backbone, cation, goal = arguments["backbone"].upper(), arguments.get("cation_name", "piperidinium"), arguments.get("property", "multi")
particles, steps, seed = arguments.get("num_part", 12), arguments.get("steps", 6), arguments.get("seed", 7)
if goal in ("ec", "ewu", "esr"):
    refuse(f"The property {goal} needs its trained model, which is not here. What can be designed for is lumo, iec, or multi for both.", 64)
if backbone not in BACKBONES:
    refuse(f"The structure of the backbone {backbone} is not known here. These are: {', '.join(BACKBONES)}.")
space = Space(backbone, cation, goal)
history = swarm(space, particles, steps, seed)
ranked = sorted(space.known.items(), key=lambda one: (-one[1][0], one[0]))
size = 1
for values in space.lists:
    size *= len(values)
keep(f"best_solutions_{backbone}_{cation}.csv", table(
    ["smiles", f"fitness_{goal}", "lumo_ev", "iec_mmol_per_g"], [(s, round(f, 4), round(lumo, 3), round(iec, 3)) for s, (f, lumo, iec) in ranked[:SHOWN]]))
keep(f"best_fitness_history_{backbone}_{cation}.csv", table(["step", "max", "min", "mean"], [(n, *(round(x, 4) for x in row)) for n, row in enumerate(history, 1)]))
best, (fitness, lumo, capacity) = ranked[0]
answer(
    f"Best {cation} cation on {backbone} for {goal}: {best}, fitness {fitness:.4f}, LUMO {lumo:.3f} eV (GFN2-xTB, optimized), "
    f"ion exchange capacity {capacity:.3f} mmol/g without counter-ion.\n"
    f"A swarm of {particles} particles in {steps} steps has looked at {len(space.known)} of {size} combinations; another seed may end at another one.",
    {"backbone": backbone, "cation": cation, "property": goal, "evaluated": len(space.known), "of": size,
     "best": [{"smiles": s, "fitness": round(f, 4), "lumo_ev": round(lumo, 3), "iec_mmol_per_g": round(iec, 3)} for s, (f, lumo, iec) in ranked[:SHOWN]]})
