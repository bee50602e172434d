#!/usr/bin/python3
"""structure_chem_prompt: writes tags around the chemistry of a question, as in <IUPAC> aspirin </IUPAC>."""

from chemistry import TAGGED, answer, asked_name, known_name, names, payload, refuse, smiles_in, words_of

words = words_of(payload())
tagged = TAGGED.search(words)
if tagged:  # the person has written the tags
    prompt, tag, found = words, tagged[1], tagged[2]
else:
    smiles = smiles_in(words)
    tag, found = ("SMILES", smiles) if smiles else ("IUPAC", known_name(words, names()) or asked_name(words))
    if not found:
        refuse('There is no molecule in the question. Name one, or write its SMILES, as in "What is the molecular formula of aspirin?"')
    prompt = words.replace(found, f"<{tag}> {found} </{tag}>", 1)
answer(prompt, {"new_prompt": prompt, "tag": tag, "molecule": found})
