#!/usr/bin/python3
"""planner: a plan for a question, step by step; the steps name the tools. It is asked by a request of kind plan."""

from step import answer, payload, reading_of, smiles_of

task = payload()
agents = task["context"]["arguments"]["agents"]
barred = {agent["name"] for agent in agents if agent.get("unavailable")}
TAG = "Call 'structure_chem_prompt' to tag chemical information"
QUERY = "Call 'answer_chemistry_query' to get what is asked for"
SEARCH = "Call 'search_knowledge' for passages about it"
VALIDATE = "Call 'validate_smiles_rdkit' to validate the SMILES"
RETURN = "Return the answer to the user"
# A SMILES that the person has written is validated before anything is made of it.
steps = [TAG, VALIDATE, QUERY, RETURN] if smiles_of(reading_of(task)) else [TAG, QUERY, VALIDATE, RETURN]
if "answer_chemistry_query" in barred:
    steps.remove(QUERY)
if any(agent["name"] == "search_knowledge" for agent in agents):
    steps.insert(0, SEARCH)
answer("\n".join(steps), {"steps": steps})
