"""What a SMILES that is none stands for, by what RDKit says of it: no table of molecules, and no likeness of letters.

What is notation is mended: a charge, the hydrogen of an aromatic nitrogen, the end of an aromatic ring. It is so only where exactly one
molecule comes of it. What would change which atoms there are is a guess, and somebody is asked.
"""

import itertools
import re

from rdkit import Chem, rdBase

from .notation import parse

TOKEN = re.compile(r"(?P<atom>\[[^\[\]]*\]|Br|Cl|[BCNOPSFIbcnops*])|%\d\d|.")
CARBON_OR_HYDROGEN = {1, 6}


def tokens_of(smiles):
    """The signs of a SMILES, and at which of them its atoms stand."""
    found = list(TOKEN.finditer(smiles))
    return [match[0] for match in found], [at for at, match in enumerate(found) if match["atom"]]


def molecules(candidates):
    """Those that are molecules, one way of writing each."""
    made = {}
    for smiles in candidates:
        molecule, _ = parse(smiles)
        if molecule is not None:
            made.setdefault(Chem.MolToSmiles(molecule), smiles)
    return list(made.values())


def with_sign(signs, at, sign):
    return "".join([*signs[:at], sign, *signs[at + 1:]])


def unchecked(smiles):
    """The atoms and bonds as they are written."""
    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles, sanitize=False)


def charged(token, charge):
    """The same atom with a charge; None where it has one already, or an isotope or a class that this does not read."""
    inner = token.strip("[]")
    return f"[{inner}{charge}]" if re.fullmatch(r"[A-Za-z][a-z]?@{0,2}(?:H\d?)?", inner) else None


def by_valence(smiles, why):
    """The charge of a nitrogen or boron with four bonds. What else has too many bonds is wrong in a way that nobody can know."""
    said = re.search(r"Explicit valence for atom # (\d+) (N|B), 4, ", why)
    if not said:
        return [], ""
    atom = unchecked(smiles).GetAtomWithIdx(int(said[1]))
    beside = {other.GetAtomicNum() for other in atom.GetNeighbors()}
    if said[2] == "N" and not beside <= CARBON_OR_HYDROGEN or said[2] == "B" and not beside <= {1, 6, 8, 9, 17}:
        return [], ""
    signs, atoms = tokens_of(smiles)
    name, charge = ("nitrogen", "+") if said[2] == "N" else ("boron", "-")
    written = charged(signs[atoms[atom.GetIdx()]], charge)
    return [with_sign(signs, atoms[atom.GetIdx()], written)] if written else [], f"a {name} with four bonds has a charge"


def by_aromaticity(smiles, why):
    """The hydrogen or the charge of an aromatic nitrogen, or of two."""
    if "Can't kekulize mol" not in why:
        return [], ""
    drawn = unchecked(smiles)
    signs, atoms = tokens_of(smiles)
    for sign, neighbours, because in (("[nH]", 2, "an aromatic nitrogen of such a ring carries a hydrogen"), ("[n+]", 3, "an aromatic nitrogen with three neighbours has a charge")):
        places = [place for atom, place in zip(drawn.GetAtoms(), atoms) if signs[place] == "n" and atom.GetDegree() == neighbours]
        for many in (1, 2):
            made = []
            for chosen in itertools.combinations(places, many):
                made.append("".join(sign if at in chosen else written for at, written in enumerate(signs)))
            if molecules(made):
                return made, because
    return [], ""


def by_ring(smiles, why):
    """The second digit of an aromatic ring: atoms in small letters stand in a ring, so that it ends behind one of them."""
    if "unclosed ring" not in why:
        return [], ""
    signs, atoms = tokens_of(smiles)
    digits = [sign for sign in signs if sign.isdigit()]
    open_ones = [digit for digit in set(digits) if digits.count(digit) % 2]
    if len(open_ones) != 1:
        return [], ""
    opened = len(signs) - 1 - signs[::-1].index(open_ones[0])
    made = ["".join([*signs[:at + 1], open_ones[0], *signs[at + 1:]]) for at in atoms if at > opened and signs[at].islower()]
    return made, "an aromatic ring is closed at its last atom"


def sure(smiles):
    """The one molecule that is meant, and why; None where that cannot be known."""
    molecule, why = parse(smiles)
    mended, said = smiles, []
    for _ in range(4):  # a molecule may lack more than one charge
        for rule in (by_valence, by_aromaticity, by_ring):
            candidates, because = rule(mended, why)
            if rule is by_valence and len(candidates) == 1:
                mended, said = candidates[0], [*said, because]
                break
            made = molecules(candidates)
            if len(made) == 1:
                mended, said = made[0], [*said, because]
                break
        else:
            return None
        molecule, why = parse(mended)
        if molecule is not None:
            return mended, " and ".join(dict.fromkeys(said))
    return None


def perhaps(smiles):
    """The one molecule that may be meant, to ask about: a branch is closed at the end, or an atom of an aromatic ring is left out."""
    _, why = parse(smiles)
    signs, atoms = tokens_of(smiles)
    made = []
    if "extra open parentheses" in why:
        made = [smiles + ")" * (signs.count("(") - signs.count(")"))]
    said = re.search(r"Can't kekulize mol\.\s+Unkekulized atoms: ([\d ]+)", why)
    if said and len(said[1].split()) == 7:
        places = [atoms[int(at)] for at in said[1].split()]
        made = [with_sign(signs, at, "") for at in places if signs[at] == "c" and signs[at + 1:at + 2] in ([], ["c"])]
    made = molecules(made)
    return made[0] if len(made) == 1 else None
