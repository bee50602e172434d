"""What RDKit knows of a molecule by its structure alone."""

import re

from rdkit import Chem, rdBase
from rdkit.Chem import Crippen, Descriptors, GetPeriodicTable, rdMolDescriptors
from rdkit.Chem.Scaffolds import MurckoScaffold

from .names import counted, hill
from .notation import parse
from .vocabulary import ELEMENTS, GROUPS

MOST_ISOMERS = 512  # that are looked at one by one
ELEMENT_NAMES = {}
for _name, _symbol in ELEMENTS.items():
    ELEMENT_NAMES.setdefault(_symbol, _name)
# The properties that are numbers: how they are told, and the unit.
NUMBERS = {
    "weight": ("molecular weight", "g/mol"), "exact": ("exact mass", "u"), "logp": ("logP (Crippen)", ""), "tpsa": ("polar surface", "Å²"), "donors": ("number of hydrogen bond donors", ""),
    "acceptors": ("number of hydrogen bond acceptors", ""), "rotors": ("number of rotatable bonds", ""), "atoms": ("number of atoms", ""), "heavy atoms": ("number of heavy atoms", ""),
    "heteroatoms": ("number of heteroatoms", ""), "rings": ("number of rings", ""), "aromatic rings": ("number of aromatic rings", ""), "aromatic atoms": ("number of aromatic atoms", ""),
    "stereo": ("number of stereocentres", ""), "undefined stereo": ("number of undefined stereocentres", ""), "charge": ("charge", ""), "double bonds": ("number of double bonds", ""),
    "triple bonds": ("number of triple bonds", ""), "bonds": ("number of bonds", ""), "refractivity": ("molar refractivity", ""), "sp3": ("fraction of sp³ carbons", ""),
    "unsaturation": ("degree of unsaturation", ""), "sp3 carbons": ("number of sp³ carbons", ""), "valence": ("number of valence electrons", ""), "electrons": ("number of electrons", ""),
}


def number(kind, smiles, ask=None):
    """The value of a property that is a number."""
    molecule, _ = parse(smiles)
    whole = Chem.AddHs(molecule)
    if kind == "weight":
        return round(Descriptors.MolWt(molecule), 3)
    if kind == "exact":
        return round(Descriptors.ExactMolWt(molecule), 4)
    if kind == "logp":
        return round(Crippen.MolLogP(molecule), 2) + 0.0
    if kind == "tpsa":
        return round(rdMolDescriptors.CalcTPSA(molecule), 2)
    if kind == "refractivity":
        return round(Crippen.MolMR(molecule), 2)
    if kind == "sp3":
        return round(rdMolDescriptors.CalcFractionCSP3(molecule), 2)
    if kind in ("stereo", "undefined stereo"):
        centres = Chem.FindMolChiralCenters(molecule, includeUnassigned=True, useLegacyImplementation=False)
        if all(label == "?" for _, label in centres) and chirality(smiles)[1] < 2:
            return 0  # as in adamantane: no other arrangement makes another molecule
        return len([one for one in centres if kind == "stereo" or one[1] == "?"])
    if kind == "unsaturation":
        counts = element_counts(smiles)
        return unsaturation(counts, Chem.GetFormalCharge(molecule))
    if kind == "element":
        return element_counts(smiles).get(ask.element, 0)
    if kind == "percent":
        return round(100 * mass_of(smiles, ask.element) / Descriptors.MolWt(molecule), 2)
    if kind == "group":
        return len(molecule.GetSubstructMatches(Chem.MolFromSmarts(ask.group[1])))
    return {
        "donors": lambda: rdMolDescriptors.CalcNumHBD(molecule), "acceptors": lambda: rdMolDescriptors.CalcNumHBA(molecule), "rotors": lambda: rdMolDescriptors.CalcNumRotatableBonds(molecule),
        "atoms": whole.GetNumAtoms, "heavy atoms": molecule.GetNumHeavyAtoms, "heteroatoms": lambda: rdMolDescriptors.CalcNumHeteroatoms(molecule),
        "rings": lambda: rdMolDescriptors.CalcNumRings(molecule), "aromatic rings": lambda: rdMolDescriptors.CalcNumAromaticRings(molecule),
        "aromatic atoms": lambda: sum(atom.GetIsAromatic() for atom in molecule.GetAtoms()), "charge": lambda: Chem.GetFormalCharge(molecule), "bonds": whole.GetNumBonds,
        "double bonds": lambda: bonds_of(molecule, Chem.BondType.DOUBLE), "triple bonds": lambda: bonds_of(molecule, Chem.BondType.TRIPLE),
        "sp3 carbons": lambda: sum(atom.GetSymbol() == "C" and atom.GetHybridization() == Chem.HybridizationType.SP3 for atom in molecule.GetAtoms()),
        "valence": lambda: Descriptors.NumValenceElectrons(molecule), "electrons": lambda: sum(atom.GetAtomicNum() for atom in whole.GetAtoms()) - Chem.GetFormalCharge(molecule),
    }[kind]()


def unsaturation(counts, charge=0):
    """Rings and double bonds by the formula: phosphorus counts as nitrogen, silicon as carbon, a metal of a salt as hydrogen."""
    single = sum(counts.get(symbol, 0) for symbol in ("H", "D", "F", "Cl", "Br", "I", "Na", "K", "Li"))
    value = (2 * (counts.get("C", 0) + counts.get("Si", 0)) + 2 + counts.get("N", 0) + counts.get("P", 0) + counts.get("B", 0) - single + charge) / 2
    return int(value) if value == int(value) else value


def bonds_of(molecule, kind):
    """The bonds of an order; an aromatic ring is written with single and double ones in turn."""
    drawn = Chem.Mol(molecule)
    Chem.Kekulize(drawn, clearAromaticFlags=True)
    return sum(bond.GetBondType() == kind for bond in drawn.GetBonds())


def element_counts(smiles):
    counts = {}
    for atom in Chem.AddHs(parse(smiles)[0]).GetAtoms():
        symbol = "D" if atom.GetSymbol() == "H" and atom.GetIsotope() == 2 else atom.GetSymbol()
        counts[symbol] = counts.get(symbol, 0) + 1
    return counts


def mass_of(smiles, symbol):
    return element_counts(smiles).get(symbol, 0) * weight_of_element(symbol)


def weight_of_element(symbol):
    return 2.014 if symbol == "D" else GetPeriodicTable().GetAtomicWeight(symbol)


def composition(smiles):
    counts = element_counts(smiles)
    total = sum(counts[symbol] * weight_of_element(symbol) for symbol in counts)
    order = sorted(counts, key=lambda symbol: ({"C": 0, "H": 1}.get(symbol, 2) if "C" in counts else 2, symbol))
    return [(symbol, round(100 * counts[symbol] * weight_of_element(symbol) / total, 2)) for symbol in order]


def formula_of(smiles):
    return rdMolDescriptors.CalcMolFormula(parse(smiles)[0])


def formula_number(kind, formula, element=None):
    """The value of a property that a formula alone says."""
    counts, charge = counted(formula)
    return {
        "weight": lambda: formula_weight(formula), "exact": lambda: formula_exact(formula), "element": lambda: counts.get(element, 0), "has element": lambda: counts.get(element, 0),
        "atoms": lambda: sum(counts.values()), "charge": lambda: charge, "unsaturation": lambda: unsaturation(counts, charge),
        "percent": lambda: round(100 * counts.get(element, 0) * weight_of_element(element) / formula_weight(formula), 2),
    }[kind]()


def formula_weight(formula):
    counts, _ = counted(formula)
    return round(sum(weight_of_element(symbol) * many for symbol, many in counts.items()), 3)


def formula_exact(formula):
    counts, charge = counted(formula)
    mass = sum(GetPeriodicTable().GetMostCommonIsotopeMass(symbol) * many for symbol, many in counts.items())
    return round(mass - charge * 0.000548579909, 4)


def empirical(smiles):
    import math
    counts = element_counts(smiles)
    divisor = math.gcd(*counts.values())
    return hill({symbol: many // divisor for symbol, many in counts.items()})


GENERAL = {"carbonyl", "methyl", "phenyl"}  # groups that are parts of others: they are counted when somebody asks for them
WHOLE = {"carboxylic acid", "ester", "amide", "sulfonamide", "anhydride", "nitro"}  # no atom of these is a part of another group


def groups_of(smiles):
    """The functional groups, in the order of the vocabulary, in which the particular ones stand before those that they hold."""
    molecule = parse(smiles)[0]
    found, taken = [], set()
    for name, _, smarts in GROUPS:
        if name in GENERAL:
            continue
        fresh = [match for match in molecule.GetSubstructMatches(Chem.MolFromSmarts(smarts)) if not set(match[:2]) <= taken and not (name == "hydroxyl" and match[0] in taken)]
        if fresh:
            found.append((name, len(fresh)))
        for match in fresh:
            taken.update(match if name in WHOLE else match[:2])
    rings = rdMolDescriptors.CalcNumAromaticRings(molecule)
    return found + ([("aromatic ring", rings)] if rings else [])


def chirality(smiles):
    """Whether a molecule is chiral, by its stereocentres: None where they are not all defined."""
    from rdkit.Chem.EnumerateStereoisomers import EnumerateStereoisomers, StereoEnumerationOptions
    molecule = parse(smiles)[0]
    if not Chem.FindMolChiralCenters(molecule, includeUnassigned=True, useLegacyImplementation=False):
        return False, 0
    forms = [Chem.MolToSmiles(one) for one in EnumerateStereoisomers(molecule, options=StereoEnumerationOptions(unique=True, maxIsomers=MOST_ISOMERS))]
    if len(forms) >= MOST_ISOMERS:
        return None, len(forms)  # too many to look at each of them
    chiral = [Chem.MolToSmiles(mirrored(Chem.MolFromSmiles(one))) != one for one in forms]
    return (True if all(chiral) else None if any(chiral) else False), len(forms)


def stereoisomers(smiles):
    """How many arrangements in space the atoms and bonds have, whatever is written of them."""
    from rdkit.Chem.EnumerateStereoisomers import EnumerateStereoisomers, StereoEnumerationOptions
    flat = Chem.MolFromSmiles(Chem.MolToSmiles(parse(smiles)[0], isomericSmiles=False))
    many = len({Chem.MolToSmiles(one) for one in EnumerateStereoisomers(flat, options=StereoEnumerationOptions(unique=True, maxIsomers=MOST_ISOMERS))})
    return str(many) if many < MOST_ISOMERS else f"{MOST_ISOMERS} or more"


def configuration(smiles):
    """The stereocentres and double bonds by CIP, atoms counted from 1 as the SMILES has them."""
    from rdkit.Chem import rdCIPLabeler
    molecule = Chem.Mol(parse(smiles)[0])
    rdCIPLabeler.AssignCIPLabels(molecule)
    centres = Chem.FindMolChiralCenters(molecule, includeUnassigned=True, useLegacyImplementation=False)
    said = [f"{'not defined' if label == '?' else label} at {molecule.GetAtomWithIdx(at).GetSymbol()}{at + 1}" for at, label in centres]
    said += [f"{bond.GetProp('_CIPCode')} at the double bond {bond.GetBeginAtomIdx() + 1}–{bond.GetEndAtomIdx() + 1}" for bond in molecule.GetBonds() if bond.HasProp("_CIPCode")]
    return ", ".join(said) or "none: it has no stereocentre"


def mirrored(molecule):
    other = Chem.Mol(molecule)
    for atom in other.GetAtoms():
        atom.InvertChirality()
    return Chem.MolFromSmiles(Chem.MolToSmiles(other))


def canonical(smiles):
    return Chem.MolToSmiles(parse(smiles)[0])


def inchi(smiles):
    """The InChI, or None where RDKit is built without it, as Debian's is."""
    from rdkit.Chem import inchi as library
    with rdBase.BlockLogs():
        return library.MolToInchi(parse(smiles)[0]) if library.INCHI_AVAILABLE else None


def inchikey(smiles):
    from rdkit.Chem import inchi as library
    with rdBase.BlockLogs():
        return library.MolToInchiKey(parse(smiles)[0]) if library.INCHI_AVAILABLE else None


def scaffold(smiles):
    return MurckoScaffold.MurckoScaffoldSmiles(mol=parse(smiles)[0]) or "none"


def lipinski(smiles):
    values = {"weight": number("weight", smiles), "logp": number("logp", smiles), "donors": number("donors", smiles), "acceptors": number("acceptors", smiles)}
    limits = {"weight": 500, "logp": 5, "donors": 5, "acceptors": 10}
    return values, [kind for kind, value in values.items() if value > limits[kind]]


def tautomer(smiles):
    """The tautomer that RDKit prefers."""
    from rdkit.Chem.MolStandardize import rdMolStandardize
    with rdBase.BlockLogs():
        return Chem.MolToSmiles(rdMolStandardize.TautomerEnumerator().Canonicalize(parse(smiles)[0]))


def same(one, other):
    """What two molecules are to each other: the same, stereoisomers, isomers, or none of these."""
    if canonical(one) == canonical(other):
        return "same"
    flat = [Chem.MolToSmiles(parse(smiles)[0], isomericSmiles=False) for smiles in (one, other)]
    if flat[0] == flat[1]:
        open_ones = [canonical(smiles) == plain for smiles, plain in zip((one, other), flat)]
        return "unspecified" if any(open_ones) else "stereoisomers"
    if formula_of(one) == formula_of(other):
        return "tautomers" if tautomer(one) == tautomer(other) else "isomers"
    return "different"


def properties(smiles):
    """What an overview tells of a molecule."""
    return {
        "smiles": canonical(smiles), "formula": formula_of(smiles), "charge": number("charge", smiles), "weight": number("weight", smiles), "exact": number("exact", smiles),
        "logp": number("logp", smiles), "tpsa": round(number("tpsa", smiles), 1), "donors": number("donors", smiles), "acceptors": number("acceptors", smiles), "rotors": number("rotors", smiles),
    }


def element_name(symbol):
    return ELEMENT_NAMES.get(symbol, symbol)


def plural(many, word):
    return f"{many} {word}" if many == 1 else f"{many} {word[:-1] + 'ies' if re.search('[^aeiou]y$', word) else word + 's'}"
