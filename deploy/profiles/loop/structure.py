#!/usr/bin/python3
"""structure_chem_prompt: writes tags around the chemistry of a question, as in <IUPAC> aspirin </IUPAC>."""

import re

from chemistry import TAGGED, all_smiles_in, answer, asked_name, belongs, cannot_of, kinds_of, known_names, names, payload, refuse, words_of

GIVEN = "What can be given here is the formula, the molecular weight, the exact mass, logP (Crippen), the SMILES and the name"


def named_in(words, table, smiles):
    """The names in the words, each molecule once, and with what stands beside the last one in a list."""
    found = list({table.get(name.lower(), name): name for name in known_names(words, table)}.values())
    behind = words.partition(found[-1])[2] if found else ""
    listed = [word.strip(".") for word in re.findall(r"(?:\band\b|\bor\b|,|/)\s*(?:of\s+)?([^\s?!,;:()/]+)", behind) if belongs(word)]
    return found + [word for word in listed if word not in smiles]


def tagged_by_us(words):
    """The tag and the molecule of a question that has one of them."""
    table, smiles = names(), all_smiles_in(words)
    named = named_in(words, table, smiles)
    if len(smiles) + len(named) > 1 and {table.get(name.lower()) for name in named} != set(smiles):
        refuse(f"One molecule at a time is worked on here, and the question names {' and '.join([*smiles, *named])}. Please ask for each by itself.")
    found = next(iter([*smiles, *named]), None) or asked_name(words)
    if not found:
        refuse('There is no molecule in the question. Name one, or write its SMILES, as in "What is the molecular formula of aspirin?"')
    return "SMILES" if smiles else "IUPAC", found


words = words_of(payload())
tagged = TAGGED.search(words)
if tagged:  # the person has written the tags
    prompt, tag, found = words, tagged[1], tagged[2]
else:
    tag, found = tagged_by_us(words)
    prompt = words.replace(found, f"<{tag}> {found} </{tag}>", 1)
if not kinds_of(words):
    other = cannot_of(words) or [word.strip(".,;:?!\"'`()") for word in TAGGED.sub(" ", prompt).split() if belongs(word.rstrip("?!"))]
    if other:
        refuse(f"This cannot be given of {found} here: {', '.join(other)}. {GIVEN}.")
answer(prompt, {"new_prompt": prompt, "tag": tag, "molecule": found})
