#!/usr/bin/python3
"""validate_smiles_rdkit: whether each SMILES is one, in RDKit's own words. Its data says so by "valid"; nothing is wrong with the program then."""

from step import TAGGED, answer, inputs_of, payload

from chemistry import facts
from chemistry.notation import parse

task = payload()
given = inputs_of(task)
written = [smiles for data in given for smiles in data.get("smiles", [])]
if not written:
    written = [one["molecule"] for data in given for one in data.get("molecules", []) if one.get("tag") == "SMILES"]
written += [found for tag, found in TAGGED.findall(task["description"]) if tag == "SMILES"]
written = list(dict.fromkeys(written))
if not written:
    answer("Validation is not needed: there is no SMILES output.", {"needed": False})
else:
    wrong = next((smiles for smiles in written if parse(smiles)[0] is None), None)
    if wrong is not None:
        answer(f"{wrong} is no valid SMILES.", {"valid": False, "error_message": parse(wrong)[1], "written": wrong, "all": written})
    else:
        answer("\n".join(f"<SMILES> {smiles} </SMILES> is valid." for smiles in written),
               {"valid": True, "error_message": "", "written": written[0], "all": written, **facts.properties(written[0])})
