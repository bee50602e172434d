"""What the agents of this profile share: reading a request, finding molecules in words, and saying no.

A program reads one request as JSON, tells progress on standard error, and prints a result as JSON. Exit code 65 is for what no further
attempt can help; its last line on standard error is for the person.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import sys

from rdkit import Chem, rdBase

rdBase.LogToPythonStderr()

# A token that is made of atoms, bonds, branches and ring digits alone. The dot of SMILES is left out at its end: there it ends a sentence.
FORM = re.compile(r"(?:\[[^\[\]\s]*\]|Br|Cl|[BCNOPSFIbcnops*]|[-=#$:/\\.()%@\d])+")
SIGNS = re.compile(r"[\[\]()=#@\d]")
# Three atoms or more in capitals, one of them carbon, such as CCO. Names that sentences about chemistry have are none.
LETTERS = re.compile(r"(?=.*C(?!l))(?:Br|Cl|[BCNOPSFI]){3,}|(?:Br|Cl|[BCNOPSFI])+(?:\.(?:Br|Cl|[BCNOPSFI])+)+")
# What stands beside a molecule in a list, such as the CO of "CCO and CO", is one too, though it looks like a word by itself.
BESIDE = re.compile(r"(?:,|/|&|\band|\bor|\bvs\.?|\bversus|\bwith|\bto)$")
SHORT = re.compile(r"(?:Br|Cl|[BCNOPSFI]){1,2}")
NAMED = re.compile(r"(?i)[a-z,\d-]*(?:ane|ene|yne|anol|enol|ethanal|one|acid|amine|amide|acetate|chloride|hydroxide|ium|benzene|ether|caffeine|aspirin|water|urea|glucose|pyridine|imidazole)")
STATE = re.compile(r"\b[SDT]\d+(?= (?:excited )?states?\b)")
VERBS = {"determine", "combine", "define", "one", "done", "membrane", "membranes", "plane", "alone", "none", "scene", "gene", "someone", "everyone", "phone"}
NAMES = {"BCC", "BSC", "CBS", "CCS", "CFC", "CIF", "CIS", "CISCO", "CNC", "COIN", "COP", "CPC", "CSI", "FCC", "ICON", "ICP", "NCI", "PBC", "PCB", "SCF", "SIC", "SONIC"}


def refuse(sentence, code=65):
    print(sentence, file=sys.stderr)
    sys.exit(code)


def progress(percentage, words):
    print(f"{percentage}% {words}", file=sys.stderr, flush=True)


def answer(text, data):
    print(json.dumps({"text": text, "data": data}))


def ask(name, question):
    """Ends as blocked: the person is asked, and the next attempt has the answer."""
    print(json.dumps({"status": "blocked", "needs": [{"name": name, "question": {"en": question}, "schema": {"type": "string", "minLength": 1}}]}))
    sys.exit(0)


def signed(charge):
    return f"{charge:+d}" if charge else "0"


def keep(name, content):
    """Sends a file along with the answer."""
    folder = os.environ.get("PODIUM_DIR")
    if folder:
        (pathlib.Path(folder) / "out" / name).write_text(content, encoding="utf-8")


def parse(smiles):
    """The molecule, or None with RDKit's own words on why it is none."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        molecule = Chem.MolFromSmiles(smiles)
    if molecule is not None and molecule.GetNumAtoms() > 0:
        return molecule, ""
    words = [re.sub(r"^\[[0-9:]+\]\s*", "", line).strip() for line in said.getvalue().splitlines()]
    return None, "; ".join(word for word in words if word) or "no atoms"


def tokens(words):
    """What in the words is written as a SMILES is: behind "SMILES", or with signs that words do not have."""
    found = []
    named = {match[1] for match in re.finditer(r"(?i)\bsmiles\b\s*(?:(?:is|of)\b\s*)?[:=]\s*(\S+)", words)}
    # Behind "SMILES" without a sign, or in backticks, it is one by its form.
    marked = re.findall(r"\bSMILES\s+(?:(?:is|of)\s+)?(\S+)", words) + re.findall(r"`([^`\s]+)`", words)
    marked = {mark.strip("\"'`“”„‘’").rstrip(".,;:!?\"'`“”‘’") for mark in marked}
    for token in STATE.sub(" ", words).split():
        token = token.strip("\"'`“”„‘’").rstrip(".,;:!?\"'`“”‘’")
        if token.count("(") < token.count(")"):
            token = token.rstrip(")")
        if token.startswith("(") and token.endswith(")"):
            token = token[1:-1]
        is_named = any(name.startswith(token) for name in named) and token
        # What begins with a digit is a quantity, such as 5ps.
        written = FORM.fullmatch(token) and SIGNS.search(token) and re.search("[A-Za-z]", token) and not token[0].isdigit()
        letters = (LETTERS.fullmatch(token) and token not in NAMES) or (token in marked and FORM.fullmatch(token) and re.search("[A-Za-z]", token))
        if (is_named or written or letters) and token not in found:
            found.append(token)
    return found


def listed(words, found):
    """The words that stand in a list with a molecule: short SMILES, and names, which nothing here reads."""
    said = re.findall(r"[^\s,;&/]+|[,&/]", words)
    short, names = [], []
    for at, word in enumerate(said):
        bare = word.strip("\"'`“”„‘’().;:!?")
        behind = at > 1 and BESIDE.search(said[at - 1]) and said[at - 2].strip("\"'`().;:!?") in found
        before = at + 2 < len(said) and BESIDE.search(said[at + 1]) and said[at + 2].strip("\"'`().;:!?") in found
        if not (behind or before) or bare in found:
            continue
        if SHORT.fullmatch(bare) and bare not in short:
            short.append(bare)
        elif NAMED.fullmatch(bare) and bare.lower() not in VERBS:
            names.append(bare)
    return short, names


def excerpt(words, most=4000):
    """The beginning and the end of a long text: what the expressions here cost grows faster than its length."""
    return words if len(words) <= most else words[:most - 1000] + "\n\n" + words[-1000:]


class Task:
    def __init__(self):
        self.task = json.load(sys.stdin)["payload"]["tasks"][0]
        self.context = self.task.get("context", {})
        self.words = excerpt(self.context.get("request") or self.task["description"])
        self.arguments = self.context.get("arguments", {})

    def results(self, member):
        """That member of the data of each result that this task builds on."""
        for given in self.context.get("inputs", {}).values():
            data = given.get("data")
            if isinstance(data, dict) and member in data:
                yield data[member]

    def earlier(self):
        """What this person has said before, the newest first."""
        for said in reversed(self.context.get("conversation", {}).get("messages", [])):
            if said["by"] == "requester":
                yield said["text"]

    def molecules(self, most=4):
        """The molecules that are meant: SMILES as written, with what RDKit makes of them.

        The first that has any counts: the words, what the person has answered, what was said before. Without any they are asked for.
        """
        answered = [said["text"] for said in self.context.get("answers", [])]
        found = tokens(self.words)
        if not found and answered:
            word = answered[-1].strip().strip("\"'`").rstrip(".")
            found = tokens(answered[-1]) or ([word] if FORM.fullmatch(word) and parse(word)[0] else [])
        if found:
            short, names = listed(self.words, found)
            if names:
                refuse(f"{' and '.join(names)}: names are not read here. Please write each molecule as its SMILES, such as CCO.")
            found = sorted([*found, *short], key=self.words.find) if short else found
        for said in [] if found else self.earlier():
            found = tokens(said)
            if found:
                break
        if not found:
            ask("smiles", "Which molecule? Please give its SMILES, such as C[N+](C)(C)C.")
        if len(found) > most:
            refuse(f"These are {len(found)} molecules, and at most {most} are worked on at a time.")
        made = []
        for smiles in found:
            molecule, why = parse(smiles)
            if molecule is None:
                refuse(f"{smiles} is no valid SMILES. RDKit says: {why}")
            made.append((smiles, molecule))
        return made
