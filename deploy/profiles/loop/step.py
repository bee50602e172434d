"""What the programs of this profile share: a request, an answer, a question to the person, and the molecules that a step before has mended.

A program reads one request as JSON and prints a result as JSON. Exit code 65 is for what no further attempt can help; its last line on
standard error is for the person.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))  # the package chemistry

from chemistry.notation import parse  # noqa: E402
from chemistry.reading import excerpt, read  # noqa: E402

TAGGED = re.compile(r"<(IUPAC|SMILES|MOLFORMULA|NUMBER)>\s*([^<]*?)\s*</\1>")


def refuse(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(65)


def answer(text, data, status="completed"):
    print(json.dumps({"status": status, "result": {"text": text, "data": data}}))


def ask(name, question):
    """Ends as blocked: the person is asked, and the next attempt has the answer."""
    print(json.dumps({"status": "blocked", "needs": [{"name": name, "question": {"en": question}, "schema": {"type": "string", "minLength": 1}}]}))
    sys.exit(0)


def payload():
    task = json.load(sys.stdin)["payload"]["tasks"][0]
    task["description"] = excerpt(task["description"])
    return task


def words_of(task):
    """What the person has asked: data, never instruction."""
    return excerpt(task.get("context", {}).get("request") or task["description"])


def earlier(task):
    """The molecules that this person has spoken of before, of the newest message that names any."""
    for said in reversed(task.get("context", {}).get("conversation", {}).get("messages", [])):
        if said["by"] == "requester" and (found := read(said["text"]).molecules):
            return found
    return []


def inputs_of(task):
    """The data of each result that this task builds on."""
    return [given["data"] for given in task.get("context", {}).get("inputs", {}).values() if isinstance(given.get("data"), dict)]


def reading_of(task, mended=None):
    """The reading of the question, with what is read instead of a molecule that is none."""
    reading = read(words_of(task), earlier(task))
    for clause in reading.clauses:
        for molecule in clause.molecules:
            if mended and molecule.written in mended:
                molecule.smiles, molecule.how = mended[molecule.written], "smiles"
                molecule.written = molecule.name or molecule.smiles
    return reading


def smiles_of(reading):
    """The SMILES that somebody has written, each once."""
    return list(dict.fromkeys(molecule.written for clause in reading.clauses for molecule in clause.molecules if molecule.how == "smiles"))


def is_valid(smiles):
    return parse(smiles)[0] is not None
