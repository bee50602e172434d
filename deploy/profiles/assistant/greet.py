#!/usr/bin/python3
"""greet: answers who says hello or thanks, lets go who says goodbye, and sends everything else to chemistry_agent. It is asked by a request of kind route."""

import re

from task import Task, answer

CAN = (
    "I calculate energies and orbitals of a molecule (\"Calculate HOMO/LUMO of C[N+](C)(C)C and analyze the results\"), say its properties (\"Molecular weight of aspirin\"), "
    "simulate it (\"Simulate C[N+](C)(C)C at 400 K for 5 ps\"), look for cations (\"Design piperidinium cations for PBF_BB_1\"), and find passages in papers "
    "(\"Find papers on alkaline stability\"). Molecules are written by name or as SMILES.")
GERMAN = "Questions are understood in English and German; answers are English. (Auf Deutsch: Fragen gehen auch auf Deutsch, die Antworten sind englisch.) "

words = Task().words
if re.match(r"\W*(?:good ?bye|bye|see you|farewell|auf wiedersehen|tschüss|ciao)\b", words, re.I):
    chosen = {"next_agent": "FINISH", "reasoning": "a goodbye", "response": ""}
elif re.match(r"\W*(?:thanks?|thank you|danke)\b", words, re.I):
    chosen = {"next_agent": "RESPOND", "reasoning": "thanks", "response": "You are welcome."}
elif re.search(r"\b(?:guten (?:tag|morgen|abend)|hallo|was kannst du|wer bist du)\b", words, re.I):
    chosen = {"next_agent": "RESPOND", "reasoning": "a greeting", "response": GERMAN + CAN}
elif re.match(r"\W*(?:hello|hi|hey|good (?:morning|afternoon|evening))\b[^?]{0,30}$", words, re.I) or re.search(
        r"\bwhat can you do|who are you|what do you do|how does this work|how can you help|^\W*help\W*$", words, re.I):
    chosen = {"next_agent": "RESPOND", "reasoning": "a greeting", "response": CAN}
else:
    chosen = {"next_agent": "chemistry_agent", "reasoning": "no greeting", "response": ""}
answer(chosen["next_agent"], chosen)
