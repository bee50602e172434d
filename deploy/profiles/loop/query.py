#!/usr/bin/python3
"""answer_chemistry_query: answers a tagged question from the table of names, as <MOLFORMULA> C9H8O4 </MOLFORMULA>.

It stands where LlaSMol, a language model for chemistry, stands in the original. What it does not know it does not make up, and what is only
written like something that it knows it asks about.
"""

import re

from chemistry import FORM, TAGGED, answer, ask, inputs_of, kinds_of, names, near_names, parse, payload, properties, refuse, words_of

CLEARER = re.compile(r"again with clearer instructions: the structure nearest to (\S.*)$", re.S)
ASSENT = {"yes", "y", "yes please", "right", "correct", "ja"}
DISSENT = {"no", "n", "nein", "neither", "none"}


def value_of(kind, found, name):
    return {"SMILES": found["smiles"], "IUPAC": name, "MOLFORMULA": found["formula"], "NUMBER": str(found["weight"]), "EXACT": str(found["exact"]), "LOGP": str(found["logp"]), "VALID": "valid"}[kind]


def told(kind, smiles, name, **more):
    """The answer, with all that a judge may need to put it into a sentence."""
    found = properties(parse(smiles)[0])
    value = value_of(kind, found, name) if kind != "SMILES" else smiles
    tag = {"LOGP": "NUMBER", "EXACT": "NUMBER", "VALID": "BOOLEAN"}.get(kind, kind)
    answer(f"<{tag}> {value} </{tag}>", {"kind": kind, "value": value, "of": smiles if kind == "IUPAC" else name or smiles, "name": name, "properties": found, **more})


def name_of(smiles):
    same = properties(parse(smiles)[0])["smiles"]
    return next((known for known, other in names().items() if properties(parse(other)[0])["smiles"] == same), None)


def correct(written, said):
    """The molecule that one that is none stands for: by the rules of notation where they leave one, else by what the person says."""
    from mend import perhaps, sure
    mended = sure(written)
    if mended:
        return told("SMILES", mended[0], name_of(mended[0]), instead_of=written, mended=f"{written} is no valid SMILES. It is read as {mended[0]}: {mended[1]}.")
    meant = perhaps(written)
    if not said and meant is None:
        refuse(f"What {written} stands for cannot be known.")
    if not said:
        ask("molecule", f'{written} is no valid SMILES. Is {meant} meant? Please answer "yes", or with the SMILES that you mean.')
    chosen = meant if said.lower() in ASSENT else said
    if chosen is None or chosen.lower() in DISSENT or parse(chosen)[0] is None:
        refuse(f"{written} is no valid SMILES, and {said} says none.")
    return told("SMILES", chosen, name_of(chosen), instead_of=written, mended=f"{written} is no valid SMILES. It is read as {chosen}: you have said so.")


def by_name(kind, written, said):
    """By exactly that name. A name that is written alike may be another molecule: the person says whether it is meant."""
    table = {name.lower(): (name, smiles) for name, smiles in names().items()}
    near = near_names(written, names())
    known = table.get(" ".join(written.lower().split()))
    if known is None and near and not said:
        either = near[0] if len(near) == 1 else "one of these"
        listed = "" if len(near) == 1 else f" ({', '.join(near)})"
        ask("molecule", f'There is no "{written}" in the table of names. Is {either}{listed} meant? Please answer with the name or the SMILES of the molecule.')
    if known:
        return told(kind, known[1], known[0])
    if not said or said.lower() in DISSENT:
        refuse(f'There is no "{written}" in the table of names.')
    chosen = near[0] if said.lower() in ASSENT and len(near) == 1 else said
    known = table.get(chosen.lower())
    if known is None and not (FORM.fullmatch(chosen) and parse(chosen)[0]):
        refuse(f'There is no "{written}" in the table of names, and no "{chosen}" either.')
    name, smiles = known or (name_of(chosen), chosen)
    return told(kind, smiles, name, instead_of=written, mended=f'"{written}" is not in the table of names. It is read as {name or smiles}: you have said so.')


def query(kind, tag, molecule, said):
    if tag == "IUPAC":
        return by_name(kind, molecule, said)
    if parse(molecule)[0] is None:
        refuse(f"{molecule} is no valid SMILES: it has to be validated first.")
    name = name_of(molecule)
    if kind == "IUPAC" and name is None:
        refuse(f"No name of {molecule} is in the table.")
    return told(kind, molecule, name)


def main():
    task = payload()
    said = next((one["text"].strip().strip(".!\"'`") for one in reversed(task.get("context", {}).get("answers", []))), "")
    clearer = CLEARER.search(task["description"])
    if clearer:
        return correct(clearer[1].strip(), said)
    given = [(data["tag"], data["molecule"]) for data in inputs_of(task) if "molecule" in data] + TAGGED.findall(task["description"])
    if not given:
        refuse("The question has no tags: it has to be structured first.")
    return query(next(iter(kinds_of(words_of(task))), "SMILES"), *given[0], said)


main()
