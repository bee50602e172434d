#!/usr/bin/python3
"""chemistry_agent: what RDKit knows of a molecule by its structure alone, and conversions of units."""

from task import Task, answer, ask, refuse

from chemistry.names import resolve
from chemistry.reading import read
from chemistry.replies import CAN, reply_to

task = Task()
before = []
for said in (task.request, *task.earlier()):
    before = before or read(said).molecules
reading = read(task.words, before)
answered = [said["text"].strip().strip(".!\"'`") for said in task.context.get("answers", [])]
if answered:
    meant = resolve(answered[-1])
    if not meant.smiles:
        refuse(f"“{answered[-1]}” is no molecule that is known here.")
    for clause in reading.clauses:
        unknown = [molecule.smiles is None for molecule in clause.molecules]
        clause.molecules = [meant if lacks else molecule for lacks, molecule in zip(unknown, clause.molecules)] or [meant]
reply = reply_to(reading)
if reply.question:
    ask("smiles", reply.question)
if not reply.lines:
    refuse("\n".join(reply.missing) or f"This was not understood, and nothing was done. {CAN}")
answer("\n".join(dict.fromkeys([*reply.lines, *reply.read])), {"molecules": reply.made}, reply.missing)
