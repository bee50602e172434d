#!/usr/bin/python3
"""chemistry_agent: what RDKit knows of a molecule by its structure alone."""

import re

from rdkit import Chem
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors

from task import Task, answer, refuse, signed, tokens

# What people ask of molecules and RDKit does not know by the structure alone.
NOT_KNOWN = re.compile(
    r"\b(?:(?:boiling|melting|freezing|flash|glass transition) (?:points?|temperatures?)|solubilit\w+|toxicit\w+|toxic|ld50|densit\w+|pka|vapou?r pressure|viscosity"
    r"|refractive index|spectr\w+|nmr|synthes\w+|reactivit\w+|price|colou?r|smell|odou?r|hazards?|stability|iupac name|name|cas(?: number)?)\b", re.I)
KNOWN = re.compile(r"\b(?:weight|mass|formula|log ?p|tpsa|polar|donors?|acceptors?|rota\w+|charge|propert\w+|valid\w*)\b", re.I)

task = Task()
words = " ".join(word for word in task.words.split() if not any(token in word for token in tokens(task.words)))
not_known = list(dict.fromkeys(match.lower() for match in NOT_KNOWN.findall(words)))
if not_known and not KNOWN.search(words):
    refuse(f"This cannot be given here: {', '.join(not_known)}. What can be given is the molecular weight, the formula, logP (Crippen), the polar surface, and hydrogen bonds.")
made, lines = [], []
for smiles, molecule in task.molecules(most=16):
    found = {
        "smiles": Chem.MolToSmiles(molecule), "formula": rdMolDescriptors.CalcMolFormula(molecule), "charge": Chem.GetFormalCharge(molecule),
        "weight": round(Descriptors.MolWt(molecule), 3), "logp": round(Crippen.MolLogP(molecule), 2) + 0.0, "tpsa": round(rdMolDescriptors.CalcTPSA(molecule), 1),
        "donors": rdMolDescriptors.CalcNumHBD(molecule), "acceptors": rdMolDescriptors.CalcNumHBA(molecule), "rotors": rdMolDescriptors.CalcNumRotatableBonds(molecule),
    }
    made.append(found)
    lines.append(
        f"{found['smiles']} ({found['formula']}, charge {signed(found['charge'])}): molecular weight {found['weight']} g/mol, logP {found['logp']} (Crippen), "
        f"polar surface {found['tpsa']} Å², {found['donors']} donors and {found['acceptors']} acceptors of hydrogen bonds, {found['rotors']} rotatable bonds.")
if not_known:
    lines.append(f"This cannot be given here: {', '.join(not_known)}.")
answer("\n".join(lines), {"molecules": made})
