"""Three dimensions by RDKit: the best of some conformers, separate molecules beside each other; and whether a calculation has kept the bonds."""

import math

from rdkit import Chem
from rdkit.Chem import AllChem
from rdkit.Geometry import Point3D

from task import refuse

MOST_ATOMS = 200
GAP = 3.0  # in Ångström, between separate molecules
LOST, NEW = 0.4, 0.5  # orders by Wiberg below which a bond is none, and above which there is one
# Metals whose contacts with other atoms have orders like bonds, though SMILES writes them as ions.
IONIC = {3, 4, 11, 12, 19, 20, 37, 38, 55, 56}


def embedded(smiles, part, conformers):
    """One molecule in its best conformer, always the same one."""
    if not list(AllChem.EmbedMultipleConfs(part, conformers, randomSeed=42)):
        refuse(f"RDKit finds no three-dimensional structure of {smiles}.")
    if part.GetNumAtoms() == 1:
        return part, part.GetConformers()[0].GetId()
    if AllChem.MMFFHasAllMoleculeParams(part):
        energies = AllChem.MMFFOptimizeMoleculeConfs(part, maxIters=2000)
    elif AllChem.UFFHasAllMoleculeParams(part):
        energies = AllChem.UFFOptimizeMoleculeConfs(part, maxIters=2000)
    else:
        return part, part.GetConformers()[0].GetId()
    return part, part.GetConformers()[min(range(len(energies)), key=lambda i: energies[i][1])].GetId()


def geometry(smiles, molecule, conformers=10):
    """The atoms with hydrogen, and where they are as an XYZ file. Separate molecules stand in a row, so that no two are in one place."""
    if any(atom.GetAtomicNum() == 0 for atom in molecule.GetAtoms()):
        refuse(f"{smiles} has an open end (*). Please cap it, for instance with C.")
    whole = Chem.AddHs(molecule)
    if whole.GetNumAtoms() > MOST_ATOMS:
        refuse(f"{smiles} has {whole.GetNumAtoms()} atoms, and at most {MOST_ATOMS} are worked on.")
    places, placed = {}, []
    for part, atoms in zip(Chem.GetMolFrags(whole, asMols=True), Chem.GetMolFrags(whole)):
        part, best = embedded(smiles, part, conformers)
        at = [part.GetConformer(best).GetAtomPosition(i) for i in range(part.GetNumAtoms())]
        shift = max((p.x for p in placed), default=min(p.x for p in at) - GAP) + GAP - min(p.x for p in at) if placed else 0.0
        at = [Point3D(p.x + shift, p.y, p.z) for p in at]
        placed += at
        places.update(zip(atoms, at))
    lines = [f"{atom.GetSymbol()} {places[atom.GetIdx()].x:.6f} {places[atom.GetIdx()].y:.6f} {places[atom.GetIdx()].z:.6f}" for atom in whole.GetAtoms()]
    return whole, f"{len(lines)}\n\n" + "\n".join(lines) + "\n"


def parts(molecule):
    return len(Chem.GetMolFrags(molecule))


def protons(molecule):
    return sum(atom.GetAtomicNum() for atom in molecule.GetAtoms())


def changed_bonds(whole, orders):
    """The bonds that a calculation has broken and made, by its bond orders, as words; empty when the molecule is still the same."""
    said = []
    written = {tuple(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))) for bond in whole.GetBonds()}
    for kind, pairs in (("broken", [pair for pair in written if orders.get(pair, 0) < LOST]), ("new", [pair for pair, order in orders.items() if order > NEW and pair not in written])):
        between = [[whole.GetAtomWithIdx(i) for i in pair] for pair in sorted(pairs)]
        names = sorted("–".join(sorted(atom.GetSymbol() for atom in pair)) for pair in between if not any(atom.GetAtomicNum() in IONIC for atom in pair))
        if names:
            said.append(f"{', '.join(names)} {kind}")
    return "; ".join(said)


def read_orders(path):
    """Bond orders by Wiberg, as xtb writes them."""
    orders = {}
    with open(path) as file:
        for line in file:
            first, second, order = line.split()
            orders[tuple(sorted((int(first) - 1, int(second) - 1)))] = float(order)
    return orders


def debye(dipole):
    return round(2.541746 * math.sqrt(sum(x * x for x in dipole)), 3)
