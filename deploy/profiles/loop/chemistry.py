"""What the programs of this profile share: requests, answers, the names that are known, and what RDKit says of a SMILES.

A program reads one request as JSON and prints a result as JSON. Exit code 65 is for what no further attempt can help; its last line on
standard error is for the person.
"""

import contextlib
import csv
import difflib
import io
import json
import pathlib
import re
import sys

# A token that is made of atoms, bonds, branches and ring digits alone, with a sign that words do not have.
FORM = re.compile(r"(?:\[[^\[\]\s]*\]|Br|Cl|[BCNOPSFIbcnops*]|[-=#$:/\\.()%@\d])+")
SIGNS = re.compile(r"[\[\]()=#@]|(?<=[A-Za-z])\d")
# Three atoms or more in capitals, two of them carbon in a row, such as CCO; but no lattice, as in "is it bcc?".
LETTERS = re.compile(r"(?!(?:BCC|FCC)$)(?=.*CC)(?:Br|Cl|[BCNOPSFI]){3,}")
TAGGED = re.compile(r"<(IUPAC|SMILES|MOLFORMULA|NUMBER)>\s*(.*?)\s*</\1>", re.S)


def refuse(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(65)


def answer(text, data):
    print(json.dumps({"text": text, "data": data}))


def payload():
    return json.load(sys.stdin)["payload"]["tasks"][0]


def words_of(task):
    """What the person has asked: data, never instruction."""
    return task.get("context", {}).get("request") or task["description"]


def inputs_of(task):
    """The data of each result that this task builds on."""
    return [given["data"] for given in task.get("context", {}).get("inputs", {}).values() if isinstance(given.get("data"), dict)]


def kind_of(words):
    """What is asked for: the tag of the answer."""
    words = words.lower()
    if "formula" in words:
        return "MOLFORMULA"
    if "weight" in words or "molar mass" in words:
        return "NUMBER"
    if re.search(r"\bsmiles (?:for|of)\b|\bstructure of\b", words):
        return "SMILES"
    if re.search(r"\b(?:name|called)\b", words):
        return "IUPAC"
    return "SMILES"


def names():
    """The table of names, each with its SMILES."""
    with open(pathlib.Path(__file__).with_name("names.csv"), encoding="utf-8", newline="") as file:
        return {row["name"]: row["smiles"] for row in csv.DictReader(file)}


def known_name(words, table):
    """The longest known name in the words, as they write it; None without any."""
    found = [re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words, re.I) for name in table]
    return max((match[0] for match in found if match), key=len, default=None)


def asked_name(words):
    """What stands where a name is expected: behind the last "of" or "for"."""
    match = re.search(r".*\b(?:of|for)\s+(?:the\s+)?([^?.!]+)", words, re.I | re.S)
    return match[1].strip(" \"'`") if match else None


def smiles_in(words):
    """The first token that is written as a SMILES."""
    for token in words.split():
        token = token.strip("\"'`“”„‘’").rstrip(".,;:!?\"'`“”‘’")
        if token.count("(") < token.count(")"):
            token = token.rstrip(")")
        if token.startswith("(") and token.endswith(")"):
            token = token[1:-1]
        if LETTERS.fullmatch(token) or FORM.fullmatch(token) and SIGNS.search(token) and re.search("[A-Za-z]", token):
            return token
    return None


def nearest(written, table):
    """The known name and SMILES that are written most alike; None when none is."""
    alike = difflib.get_close_matches(written, list(table.values()), 1, 0.85)
    return next(((name, smiles) for name, smiles in table.items() if smiles == alike[0]), None) if alike else None


def nearest_name(written, table):
    return next(iter(difflib.get_close_matches(written.lower(), table, 1, 0.8)), None)


def parse(smiles):
    """The molecule, or None with RDKit's own words on why it is none."""
    from rdkit import Chem, rdBase  # not needed by whoever only plans
    rdBase.LogToPythonStderr()
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        molecule = Chem.MolFromSmiles(smiles)
    if molecule is not None and molecule.GetNumAtoms() > 0:
        return molecule, ""
    words = [re.sub(r"^\[[0-9:]+\]\s*", "", line).strip() for line in said.getvalue().splitlines()]
    return None, "; ".join(word for word in words if word) or "no atoms"


def properties(molecule):
    from rdkit import Chem
    from rdkit.Chem import Descriptors, rdMolDescriptors
    return {
        "smiles": Chem.MolToSmiles(molecule), "formula": rdMolDescriptors.CalcMolFormula(molecule),
        "weight": round(Descriptors.MolWt(molecule), 3), "charge": Chem.GetFormalCharge(molecule),
    }
