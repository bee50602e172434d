"""What the agents of this profile share: reading a request, finding molecules in words, and saying no.

A program reads one request as JSON, tells progress on standard error, and prints a result as JSON. Exit code 65 is for what no further
attempt can help; its last line on standard error is for the person.
"""

import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))  # the package chemistry

from chemistry.names import find_molecules, resolve  # noqa: E402
from chemistry.notation import parse  # noqa: E402
from chemistry.reading import excerpt, read  # noqa: E402
from chemistry.replies import choices, reply_to  # noqa: E402

# Where a name in words is that of a solvent, and no molecule to work on. "In" alone may say so beside another molecule.
SOLVENT_BEFORE = re.compile(r"\b(?:solvent(?: is)?:?|dissolved in|solvated (?:in|by|with))\s+(?:(?:implicit|pure|liquid|bulk|the|an?)\s+)*$", re.I)
IN_BEFORE = re.compile(r"\bin\s+(?:(?:implicit|pure|liquid|bulk|the|an?)\s+)*$", re.I)
SPOKEN_OF = re.compile(r"\b(?:its?|this|that|the (?:same )?(?:molecule|cation|compound))\b", re.I)
SOLVENT_BEHIND = re.compile(r"\s+(?:solution|solvent|solvation|as (?:a )?solvent)\b", re.I)


def refuse(sentence, code=65):
    print(sentence, file=sys.stderr)
    sys.exit(code)


def progress(percentage, words):
    print(f"{percentage}% {words}", file=sys.stderr, flush=True)


def answer(text, data, left_out=()):
    """Ends with a result. What is left out of it makes it partial."""
    status = "partial" if left_out else "completed"
    print(json.dumps({"status": status, "result": {"text": "\n".join([text, *left_out]), "data": data}}))


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


def molecules_in(words):
    """What stands for a molecule to work on: (start, end, molecule), without solvents beside another one."""
    found = [one for one in find_molecules(words) if not (SOLVENT_BEFORE.search(words[:one[0]]) or SOLVENT_BEHIND.match(words[one[1]:]))]
    others = [one for one in found if not IN_BEFORE.search(words[:one[0]])]
    return others if others or SPOKEN_OF.search(words) else found


def without_molecules(words):
    """The words without what stands for a molecule: a solvent stays."""
    for start, end, _ in reversed(molecules_in(words)):
        words = words[:start] + " " + words[end:]
    return words


# What an agent that calculates tells as well when it is asked for it in the same breath, and what nobody here can give.
BESIDE = {
    "weight", "exact", "formula", "logp", "tpsa", "donors", "acceptors", "rotors", "rings", "aromatic rings", "atoms", "heavy atoms", "stereo", "chiral", "groups", "group", "percent",
    "composition", "element", "lipinski", "aromatic", "configuration", "unsaturation", "canonical",
}
NOBODY = re.compile(r"boil|melt|freez|flash|solub|toxic|poison|ld50|densit|pk[ab]|vapou?r|viscos|refract|price|cost|colou?r|smell|odou?r|taste|hazard|siede|schmelz|löslich|giftig|dichte|preis")


def beside(words, molecules):
    """The sentences about what RDKit knows of the molecules by itself, where the words ask for that too, and what is left out."""
    reading = read(words)
    for clause in reading.clauses:
        clause.molecules = [molecule for molecule in molecules if molecule.smiles]
        clause.asks = [one for one in clause.asks if one.kind in BESIDE]
        clause.cannot = [word for word in clause.cannot if NOBODY.match(word)]
        clause.amounts, clause.social, clause.unread = [], [], []
        clause.operations = [kind for kind in clause.operations if kind in ("greatest", "least", "difference", "ratio", "compare")] if clause.asks else []
    reading.clauses = [clause for clause in reading.clauses if clause.molecules and (clause.asks or clause.cannot)]
    reply = reply_to(reading) if reading.clauses else None
    return (reply.lines, reply.missing) if reply else ([], [])


class Task:
    def __init__(self):
        self.task = json.load(sys.stdin)["payload"]["tasks"][0]
        self.context = self.task.get("context", {})
        self.request = excerpt(self.context.get("request") or "")
        self.words = excerpt(self.task.get("description") or self.request)  # of a plan, one step
        self.arguments = self.context.get("arguments", {})
        self.found, self.read = [], []  # the molecules that are worked on, and what was read for each name

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

    def named(self):
        """The molecules that are meant: those of the words, else of what the person has answered, of the whole request, or of what was said before."""
        answered = [said["text"] for said in self.context.get("answers", [])]
        found = [molecule for _, _, molecule in molecules_in(self.words)]
        if found and answered and any(not molecule.smiles for molecule in found):
            said = resolve(answered[-1])
            found = [said if not molecule.smiles else molecule for molecule in found]
        if not found and answered:
            found = [molecule for _, _, molecule in find_molecules(answered[-1])] or [resolve(answered[-1])]
        for said in [] if found else (self.request, *self.earlier()):
            found = [molecule for _, _, molecule in molecules_in(said)]
            if found:
                break
        return list({molecule.smiles or molecule.written: molecule for molecule in found}.values())

    def molecules(self, most=4):
        """The molecules that are meant, each with its SMILES and what RDKit makes of it. Without any they are asked for."""
        found = self.named()
        if not found:
            ask("smiles", "Which molecule? Please give its name or its SMILES, such as C[N+](C)(C)C.")
        if len(found) > most:
            refuse(f"These are {len(found)} molecules, and at most {most} are worked on at a time.")
        made = []
        for molecule in found:
            if molecule.smiles is None and (molecule.choices or molecule.how == "formula"):
                listed = f" Is it {choices(molecule.choices)}?" if molecule.choices else ""
                ask("smiles", f"“{molecule.written}” is not one known molecule.{listed} Please answer with the name or the SMILES of the molecule.")
            if molecule.smiles is None:
                refuse(f"“{molecule.written}” is not in the table of names. Please write it as its SMILES, such as CCO.")
            structure, why = parse(molecule.smiles)
            if structure is None:
                refuse(f"{molecule.written} is no valid SMILES. RDKit says: {why}")
            if molecule.how != "smiles":
                self.read.append(f"{molecule.written} = {molecule.smiles}")
            self.found.append(molecule)
            made.append((molecule.smiles, structure))
        return made
