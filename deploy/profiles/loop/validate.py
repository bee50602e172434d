#!/usr/bin/python3
"""validate_smiles_rdkit: whether a SMILES is one, in RDKit's own words. Its data says so by "valid"; nothing is wrong with the program then."""

from chemistry import TAGGED, answer, inputs_of, parse, payload, properties

task = payload()
written = [data["value"] for data in inputs_of(task) if data.get("kind") == "SMILES"] + [data["molecule"] for data in inputs_of(task) if data.get("tag") == "SMILES"]
written += [found for tag, found in TAGGED.findall(task["description"]) if tag == "SMILES"]
if not written:
    answer("Validation is not needed: there is no SMILES output.", {"needed": False})
else:
    smiles = written[0]
    molecule, why = parse(smiles)
    if molecule is None:
        answer(f"{smiles} is no valid SMILES.", {"valid": False, "error_message": why, "written": smiles})
    else:
        answer(f"<SMILES> {smiles} </SMILES> is valid.", {"valid": True, "error_message": "", "tag": "SMILES", "molecule": smiles, "written": smiles, **properties(molecule)})
