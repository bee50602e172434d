"""SMILES in the words of a sentence: which tokens are written as one, and what RDKit says of them."""

import contextlib
import functools
import io
import re

# A token that is made of atoms, bonds, branches and ring digits alone.
FORM = re.compile(r"(?:\[[^\[\]\s]*\]|Br|Cl|[BCNOPSFIbcnops*]|[-=#$:/\\.()%@\d])+")
SIGNS = re.compile(r"[\[\]()=#@]|(?<=[A-Za-z\]])\d|[./\\](?=[A-Za-z\[])")
# Atoms in capitals alone. Two atoms or more are a molecule, such as CCO, COC, CN and CCl; what is a word or a name of something else is none.
LETTERS = re.compile(r"(?:Br|Cl|[BCNOPSFI]){2,}")
# Carbon monoxide or methanol, nitric oxide or hydroxylamine: a SMILES of two letters that is a formula as well is asked about.
DOUBTFUL = {"CO": "carbon monoxide or methanol", "NO": "nitric oxide or hydroxylamine", "HF": "hydrogen fluoride", "CN": None}
WORDS = {
    "BCC", "BSC", "CBS", "CIP", "CIPS", "CCS", "CFC", "CIF", "CIS", "CISCO", "CNC", "COIN", "COP", "CPC", "CSI", "FCC", "ICON", "ICP", "IF", "IN", "IS", "NCI", "NO", "OF",
    "ON", "OR", "PBC", "PC", "PCB", "PIN", "SCF", "SI", "SIC", "SO", "SON", "SONIC", "SOP", "SPIN", "IC", "FIN", "BIN", "COO", "PS", "NPS", "PF", "PP", "PO",
}
LONGEST = 800  # characters of a SMILES: what RDKit computes grows faster than a molecule
QUOTES = "\"'`“”„‘’«»"


def bare(token):
    """A token without the quotes and the punctuation of the sentence around it."""
    token = token.strip(QUOTES).rstrip(".,;:!?" + QUOTES).lstrip(QUOTES + ",;:")
    if token.count("(") < token.count(")"):
        token = token.rstrip(")").rstrip(".,;:!?" + QUOTES)
    if token.count("(") > token.count(")") and token.startswith("("):
        token = token[1:]
    if token.startswith("(") and token.endswith(")") and closing(token) == len(token) - 1:
        token = token[1:-1]
    return token.strip(QUOTES)


def closing(token):
    """Where the parenthesis is closed with which a token begins."""
    depth = 0
    for at, sign in enumerate(token):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return at
    return -1


def is_written_as_smiles(token):
    """Whether a token can be nothing else: it has a sign that words do not have, or is letters of atoms alone."""
    if not token or not re.search("[A-Za-z*]", token) or token[0].isdigit() or not FORM.fullmatch(token):
        return False
    if re.fullmatch(r"[SDTsdt]\d{1,2}|[A-Za-z]\d?|[Cc]?sp[23]?", token):  # an excited state, or one letter
        return False
    if LETTERS.fullmatch(token):
        return token not in WORDS and "C" in re.sub("Cl", "", token)
    return bool(SIGNS.search(token)) and not re.fullmatch(r"[bcnops.()-]+|(?:[A-Za-z]+-)+[A-Za-z]+", token)


@functools.cache
def parse(smiles):
    """The molecule, or None, with RDKit's own words on why it is none."""
    if len(smiles) > LONGEST:
        return None, f"it has {len(smiles)} characters, and at most {LONGEST} are read"
    from rdkit import Chem, rdBase  # not needed by a program that only plans
    rdBase.LogToPythonStderr()
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        molecule = Chem.MolFromSmiles(smiles)
    if molecule is not None and molecule.GetNumAtoms() > 0:
        return molecule, ""
    words = [re.sub(r"^\[[0-9:]+\]\s*", "", line).strip() for line in said.getvalue().splitlines()]
    return None, "; ".join(word for word in words if word and not word.startswith("Failed while parsing")) or "no atoms"
