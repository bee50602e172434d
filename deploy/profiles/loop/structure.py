#!/usr/bin/python3
"""structure_chem_prompt: writes tags around the chemistry of a question, as in <IUPAC> aspirin </IUPAC>."""

import re

from step import TAGGED, answer, payload, reading_of, words_of

TAGS = {"smiles": "SMILES", "formula": "MOLFORMULA"}

task = payload()
words, found = words_of(task), []
for clause in reading_of(task).clauses:
    for molecule in clause.molecules:
        if all(other["molecule"] != molecule.written for other in found):
            found.append({"tag": TAGS.get(molecule.how, "IUPAC"), "molecule": molecule.written})
prompt = words
if not TAGGED.search(words):  # else the person has written the tags
    for one in sorted(found, key=lambda one: -len(one["molecule"])):
        place = re.compile(rf"(?<![\w<>]){re.escape(one['molecule'])}(?![\w>])(?! </)")
        prompt = place.sub(lambda match, one=one: f"<{one['tag']}> {match[0]} </{one['tag']}>", prompt, count=1)
answer(prompt, {"new_prompt": prompt, "molecules": found})
