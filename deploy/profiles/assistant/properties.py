#!/usr/bin/python3
"""chemistry_agent: what RDKit knows of a molecule by its structure alone."""

from rdkit import Chem
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors

from task import Task, answer, signed

made, lines = [], []
for smiles, molecule in Task().molecules(most=16):
    found = {
        "smiles": Chem.MolToSmiles(molecule), "formula": rdMolDescriptors.CalcMolFormula(molecule), "charge": Chem.GetFormalCharge(molecule),
        "weight": round(Descriptors.MolWt(molecule), 3), "logp": round(Crippen.MolLogP(molecule), 2) + 0.0, "tpsa": round(rdMolDescriptors.CalcTPSA(molecule), 1),
        "donors": rdMolDescriptors.CalcNumHBD(molecule), "acceptors": rdMolDescriptors.CalcNumHBA(molecule), "rotors": rdMolDescriptors.CalcNumRotatableBonds(molecule),
    }
    made.append(found)
    lines.append(
        f"{found['smiles']} ({found['formula']}, charge {signed(found['charge'])}): molecular weight {found['weight']} g/mol, logP {found['logp']} (Crippen), "
        f"polar surface {found['tpsa']} Å², {found['donors']} donors and {found['acceptors']} acceptors of hydrogen bonds, {found['rotors']} rotatable bonds.")
answer("\n".join(lines), {"molecules": made})
