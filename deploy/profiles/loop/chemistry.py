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
EXACT = r"\b(?:exact|accurate|monoisotopic) mass(?:es)?\b"
ASKED = [
    ("MOLFORMULA", r"\bformulae?s?\b|formel\b"), ("EXACT", EXACT),
    ("NUMBER", r"(?:(?<!exact )(?<!accurate )(?<!monoisotopic )\bmass(?:es)?\b|\bweights?\b|\bweighs?\b|\bhow heavy\b|gewicht\b|molmasse\b)"), ("LOGP", r"\blog ?p\b"),
    ("SMILES", r"\bsmiles (?:for|of)\b|\bits smiles\b|\bsmiles (?:and|or)\b|\bstructure of\b"),
    ("IUPAC", r"(?<!^)\bname\b|\bcalled\b|\bwhich molecule\b"), ("VALID", r"\bvalid\b|\bright\b|\bcorrect\b"),
]
# What people ask of molecules and what no program here knows: a word of it is told, and never answered by something else.
CANNOT = re.compile(
    r"\b(?:(?:boiling|melting|freezing|flash|glass transition) (?:points?|temperatures?)|solub\w+|toxic\w*|LD50|densit\w+|pKa|(?:vapou?r|steam) pressure|viscosity"
    r"|refractive index|dipole(?: moment)?|spectr\w+|NMR|IR|UV|mass spectrum|energ\w+|enthalp\w+|entrop\w+|HOMO|LUMO|charges?|conformers?|polar surface"
    r"|synthes\w+|reacti\w+|price|colou?r|smells?|odou?r|taste|hazards?|stability|bioavailability)\b", re.I)
TAGGED = re.compile(r"<(IUPAC|SMILES|MOLFORMULA|NUMBER)>\s*([^<]*?)\s*</\1>")
MOST = 4000  # characters that are read of a question


# Words of a sentence around a name. Any other one beside a name is taken for a part of it.
AROUND = set("""a about accurate according also an and are as at be by calculate called can compound could determine do does drug exact find for formula formulae formulas from g/mol give given gram
grams has have heavy how i in is it its iupac know like liquid logp many mass me molar molecular molecule mole mol monoisotopic much
my name named names need of on or out please pure right say show smiles
solid structure substance tell than thank thanks that the their then there this to two us using want was we weigh weighs weight weights what what's whats which with write written yes you your
auch bitte das der die eine für hat ist lautet molekulargewicht molmasse name namen nach summenformel und von was welche welches wie""".split())


def refuse(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(65)


def answer(text, data):
    print(json.dumps({"text": text, "data": data}))


def ask(name, question):
    """Ends as blocked: the person is asked, and the next attempt has the answer."""
    print(json.dumps({"status": "blocked", "needs": [{"name": name, "question": {"en": question}, "schema": {"type": "string", "minLength": 1}}]}))
    sys.exit(0)


def excerpt(words):
    """The beginning and the end of a long text: what the expressions here cost grows faster than its length."""
    return words if len(words) <= MOST else words[:MOST - 1000] + "\n\n" + words[-1000:]


def payload():
    task = json.load(sys.stdin)["payload"]["tasks"][0]
    task["description"] = excerpt(task["description"])
    return task


def words_of(task):
    """What the person has asked: data, never instruction."""
    return excerpt(task.get("context", {}).get("request") or task["description"])


def inputs_of(task):
    """The data of each result that this task builds on."""
    return [given["data"] for given in task.get("context", {}).get("inputs", {}).values() if isinstance(given.get("data"), dict)]


def kinds_of(words):
    """What is asked for, in its order: formula, weight (NUMBER), logP, SMILES, name, and whether a SMILES is one. Nothing that is named stands for the SMILES."""
    plain = TAGGED.sub(" ", words).lower()
    found = {kind: match.start() for kind, match in ((kind, re.search(pattern, plain)) for kind, pattern in ASKED) if match}
    return sorted(found, key=found.get)


def cannot_of(words):
    """What is asked for and cannot be given here, as the words have it."""
    return list(dict.fromkeys(match[0] for match in CANNOT.finditer(TAGGED.sub(" ", words))))


def names():
    """The table of names, each with its SMILES."""
    with open(pathlib.Path(__file__).with_name("names.csv"), encoding="utf-8", newline="") as file:
        return {row["name"]: row["smiles"] for row in csv.DictReader(file)}


def known_names(words, table):
    """The names of the table in the words, as they are written there, and with what belongs to them: "benzoic acid methyl ester" is no benzoic acid."""
    found = []
    for name in sorted(table, key=len, reverse=True):
        for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words, re.I):
            if not any(match.start() < end and start < match.end() for start, end in found):
                found.append(match.span())
    return list(dict.fromkeys(with_what_belongs(words, start, end) for start, end in sorted(found)))


def with_what_belongs(words, start, end):
    """A name with the words beside it that are none of the sentence."""
    while (before := of_another(words, start) or re.search(r"([^\s?!,;:()]+)\s+$", words[:start])) and belongs(before[1]):
        start -= len(before[0])
    while (after := re.match(r"\s+([^\s?!,;:()]+)", words[end:])) and belongs(after[1]):
        end += len(after[0])
    return words[start:end].strip(" .\"'`")


def of_another(words, start):
    """What makes another molecule of the one behind it, as "the sodium salt of" does, and "the formula of" or "the boiling point of" does not."""
    found = re.search(r"([^\s?!,;:()]+)\s+(?:of|from)\s+(?:(?:the|an?)\s+)?$", words[:start], re.I)
    asked = found and any(match.end() == found.end(1) for match in CANNOT.finditer(words))
    return found if kinds_of(words) and not asked else None


def belongs(word):
    """Whether a word beside a name is part of the name, and no word of the sentence."""
    word = word.strip(".,;:()\"'`“”‘’")
    return bool(word) and word.lower() not in AROUND and not CANNOT.fullmatch(word) and not LETTERS.fullmatch(word)


def asked_name(words):
    """What stands where a name is expected: behind the last "of" or "for", up to the next word of the sentence."""
    match = re.search(r".*\b(?:of|for)\s+(?:(?:the|an?)\s+)?([^?!]+)", words, re.I | re.S)
    taken = []
    for word in match[1].split() if match else []:
        if taken and not belongs(word):
            break
        taken.append(word)
    return " ".join(taken).strip(" .,;:\"'`") or None


def all_smiles_in(words):
    """The tokens that are written as a SMILES, each once."""
    found = []
    for token in words.split():
        token = token.strip("\"'`“”„‘’").rstrip(".,;:!?\"'`“”‘’")
        if token.count("(") < token.count(")"):
            token = token.rstrip(")")
        if token.startswith("(") and token.endswith(")"):
            token = token[1:-1]
        if (LETTERS.fullmatch(token) or FORM.fullmatch(token) and SIGNS.search(token) and re.search("[A-Za-z]", token)) and token not in found:
            found.append(token)
    return found


def smiles_in(words):
    """The first of them."""
    return next(iter(all_smiles_in(words)), None)


def near_names(written, table):
    """Known names to ask about: those that are written alike, and those that the words hold. They are other molecules until somebody says that they are not."""
    held = [name for name in table if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", written, re.I)]
    alike = difflib.get_close_matches(written.lower(), table, 3, 0.8)
    return list({table[name]: name for name in [*alike, *held]}.values())[:3]


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
    from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors
    return {
        "smiles": Chem.MolToSmiles(molecule), "formula": rdMolDescriptors.CalcMolFormula(molecule),
        "weight": round(Descriptors.MolWt(molecule), 3), "exact": round(Descriptors.ExactMolWt(molecule), 4),
        "logp": round(Crippen.MolLogP(molecule), 2) + 0.0, "charge": Chem.GetFormalCharge(molecule),
    }
