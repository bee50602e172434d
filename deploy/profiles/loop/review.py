#!/usr/bin/python3
"""review_validation_error: says in plain words what RDKit's words mean, and where in the SMILES that is."""

import re

from step import answer, payload

KINDS = [
    (r"unclosed ring", "ring", "A ring is opened and not closed: each ring digit has to stand twice."),
    (r"extra (open|close) parentheses", "branch", "A branch is opened and not closed, or the other way round."),
    (r"Explicit valence for atom # (\d+) (\w+), (\d+)", "valence", "Atom {0} ({1}, counted from 0) has {2} bonds, more than it can have; an ion is written with its charge, as in [N+]."),
    (r"Can't kekulize mol\.\s+Unkekulized atoms: ([\d ]+)", "aromaticity", "The ring with the atoms {0} (counted from 0) cannot be aromatic as it is written: often one atom is too many or too few."),
    (r"syntax error", "syntax", "Something in it is no sign of SMILES."),
]

error = payload()["description"].partition("error: ")[2]
for pattern, kind, meaning in KINDS:
    match = re.search(pattern, error, re.I)
    if match:
        answer(meaning.format(*(group.strip() for group in match.groups())), {"error_message": error, "reviewed": kind})
        break
else:
    answer("RDKit cannot read it.", {"error_message": error, "reviewed": "other"})
