#!/usr/bin/python3
"""answer_chemistry_query: answers a tagged question from the table of names, as <MOLFORMULA> C9H8O4 </MOLFORMULA>.

It stands where LlaSMol, a language model for chemistry, stands in the original. What it does not know it does not make up.
"""

import re

from chemistry import TAGGED, answer, inputs_of, kind_of, names, nearest, parse, payload, properties, refuse, words_of

CLEARER = re.compile(r"again with clearer instructions: the (structure nearest to|name) (\S.*)$", re.S)


def correct(written):
    """The known structure that is written most like one that is none."""
    alike = nearest(written, names())
    if alike is None:
        refuse(f"No known structure is written like {written}.")
    answer(f"<SMILES> {alike[1]} </SMILES>", {"kind": "SMILES", "value": alike[1], "of": alike[0], "instead_of": written})


def query(kind, tag, molecule):
    if tag == "IUPAC":
        smiles, name = next((smiles for known, smiles in names().items() if known.lower() == molecule.lower()), None), molecule
        if smiles is None:
            refuse(f'There is no "{molecule}" in the table of names.')
    else:
        smiles = molecule
        if parse(smiles)[0] is None:
            refuse(f"{smiles} is no valid SMILES: it has to be validated first.")
        same = properties(parse(smiles)[0])["smiles"]
        name = next((known for known, other in names().items() if properties(parse(other)[0])["smiles"] == same), None)
    if kind == "IUPAC" and name is None:
        refuse(f"No name of {smiles} is in the table.")
    found = properties(parse(smiles)[0])
    value = {"SMILES": smiles, "IUPAC": name, "MOLFORMULA": found["formula"], "NUMBER": str(found["weight"])}[kind]
    answer(f"<{kind}> {value} </{kind}>", {"kind": kind, "value": value, "of": smiles if kind == "IUPAC" else name or smiles})


def main():
    task = payload()
    clearer = CLEARER.search(task["description"])
    if clearer and clearer[1] != "name":
        return correct(clearer[2].strip())
    if clearer:
        return query(kind_of(words_of(task)), "IUPAC", clearer[2].strip())
    given = [(data["tag"], data["molecule"]) for data in inputs_of(task) if "molecule" in data] + TAGGED.findall(task["description"])
    if not given:
        refuse("The question has no tags: it has to be structured first.")
    return query(kind_of(words_of(task)), *given[0])


main()
