#!/usr/bin/python3
"""answer_chemistry_query: answers a tagged question from the table of names and by RDKit, as <MOLFORMULA> C9H8O4 </MOLFORMULA>.

It stands where LlaSMol, a language model for chemistry, stands in the original. What it does not know it does not make up, and what is only
written like something that it knows it asks about.
"""

import re

from step import answer, ask, is_valid, payload, reading_of, refuse, smiles_of

from chemistry import mend
from chemistry.names import resolve
from chemistry.replies import reply_to

CLEARER = re.compile(r"again with clearer instructions: the structure nearest to (\S.*)$", re.S)
ASSENT = {"yes", "y", "yes please", "right", "correct", "ja"}
DISSENT = {"no", "n", "nein", "neither", "none"}
TAGS = {"formula": "MOLFORMULA", "smiles": "SMILES", "canonical": "SMILES", "name": "IUPAC", "valid": "BOOLEAN", "chiral": "BOOLEAN", "aromatic": "BOOLEAN"}


def instead_of(written, said):
    """The SMILES that one which is none stands for, and why: by the rules of notation where they leave one, else by what the person says."""
    mended = mend.sure(written)
    if mended:
        return mended[0], mended[1]
    meant = mend.perhaps(written)
    if not said and meant is None:
        refuse(f"What {written} stands for cannot be known.")
    if not said:
        ask("molecule", f'{written} is no valid SMILES. Is {meant} meant? Please answer "yes", or with the SMILES that you mean.')
    chosen = meant if said.lower() in ASSENT else said
    if chosen is None or chosen.lower() in DISSENT or not is_valid(chosen):
        refuse(f"{written} is no valid SMILES, and {said} says none.")
    return chosen, "you have said so"


def settle(reading, said):
    """What the person has answered stands for the first molecule that was asked about."""
    told = []
    asked = next((molecule for clause in reading.clauses for molecule in clause.molecules if not molecule.smiles and (molecule.choices or molecule.how == "formula")), None)
    if asked is None or not said:
        return told
    chosen = asked.choices[0] if said.lower() in ASSENT and len(asked.choices) == 1 else said
    meant = resolve(chosen)
    if said.lower() in DISSENT:
        refuse(f'There is no "{asked.written}" in the table of names.')
    if not meant.smiles:
        refuse(f'There is no "{asked.written}" in the table of names, and no "{chosen}" either.')
    told.append(f'"{asked.written}" is read as {meant.written}: you have said so.')
    for clause in reading.clauses:
        clause.molecules = [meant if molecule.written == asked.written else molecule for molecule in clause.molecules]
    return told


def tagged(reading, lines):
    """The value of an answer of one line as the original writes it; other answers as they are."""
    asks = [ask for clause in reading.clauses for ask in clause.asks]
    tag = TAGS.get(asks[0].kind, "NUMBER") if asks else "NUMBER"
    _, found, said = lines[0].partition(" is ")
    return f"<{tag}> {said.rstrip('.')} </{tag}>" if found and len(lines) == 1 else "\n".join(lines)


def main():
    task = payload()
    said = next((one["text"].strip().strip(".!\"'`") for one in reversed(task.get("context", {}).get("answers", []))), "")
    clearer = CLEARER.search(task["description"])
    mended, told = {}, []
    if clearer:
        written = clearer[1].strip()
        mended[written], why = instead_of(written, said)
        told = [f"{written} is no valid SMILES. It is read as {mended[written]}: {why}."]
    reading = reading_of(task, mended)
    told += [] if clearer else settle(reading, said)
    reply = reply_to(reading)
    if reply.question:
        ask("molecule", reply.question)
    if not reply.lines:
        refuse("\n".join(reply.missing))
    output = list(mended.values()) if mended else [line.rsplit(" is ", 1)[1].rstrip(".") for line in reply.lines if line.startswith("The SMILES of ")]
    data = {
        "lines": [*reply.lines, *told], "missing": reply.missing, "read": list(dict.fromkeys(reply.read)), "smiles": output, "written": smiles_of(reading), "molecules": reply.made,
        **({"instead_of": clearer[1].strip()} if clearer else {}),
    }
    answer(f"<SMILES> {output[0]} </SMILES>" if mended else tagged(reading, reply.lines), data, "partial" if reply.missing else "completed")


main()
