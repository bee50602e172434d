"""Three dimensions by RDKit: the best of some conformers, separate molecules beside each other; and whether a calculation has kept the bonds."""

import math

from rdkit import Chem
from rdkit.Chem import AllChem
from rdkit.Geometry import Point3D

from task import refuse

MOST_ATOMS = 200
GAP = 3.0  # in Ångström, between separate molecules
LOST, NEW = 0.4, 0.5  # orders by Wiberg below which a bond is none, and above which there is one
# Of the sum of two covalent radii: up to where atoms of a structure are bonded, and from where on they are not any more. Vibrations stay well within.
STRETCHED = 1.3, 1.7
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


def atoms_of(xyz):
    """The atoms of one frame, each with its place."""
    return [(symbol, (float(x), float(y), float(z))) for symbol, x, y, z in (line.split()[:4] for line in xyz.splitlines()[2:] if line.strip())]


def axis_of(xyz):
    """The atoms in the order in which they stand on a line; none when they do not."""
    atoms = atoms_of(xyz)
    start = max(atoms, key=lambda atom: math.dist(atom[1], atoms[0][1]))[1]
    end = max(atoms, key=lambda atom: math.dist(atom[1], start))[1]
    length = math.dist(start, end)
    along = {at: sum((a - s) * (e - s) for a, s, e in zip(place, start, end)) / length for at, (_, place) in enumerate(atoms)}
    if any(math.dist(place, start) ** 2 - along[at] ** 2 > 0.01 for at, (_, place) in enumerate(atoms)):
        return []
    return [atoms[at][0] for at in sorted(along, key=along.get)]


def come_apart(xyz, trajectory):
    """The bonds of a structure that are none any more in frames of its trajectory, as words, with how many frames those are."""
    atoms, table = atoms_of(xyz), Chem.GetPeriodicTable()
    reach = [table.GetRcovalent(symbol) for symbol, _ in atoms]
    ionic = {at for at, (symbol, _) in enumerate(atoms) if table.GetAtomicNumber(symbol) in IONIC}
    bonds = {(i, j): math.dist(atoms[i][1], atoms[j][1]) for i in range(len(atoms)) for j in range(i) if not {i, j} & ionic}
    bonds = {pair: length for pair, length in bonds.items() if length < STRETCHED[0] * (reach[pair[0]] + reach[pair[1]])}
    lines, broken, frames = trajectory.splitlines(), set(), 0
    for start in range(0, len(lines), len(atoms) + 2):
        at = [place for _, place in atoms_of("\n".join(lines[start:start + len(atoms) + 2]))]
        now = {pair for pair in bonds if math.dist(at[pair[0]], at[pair[1]]) > STRETCHED[1] * (reach[pair[0]] + reach[pair[1]])}
        broken |= now
        frames += bool(now)
    return ", ".join(sorted("–".join(sorted((atoms[i][0], atoms[j][0]))) for i, j in broken)), frames


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
