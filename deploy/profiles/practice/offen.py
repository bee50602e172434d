#!/usr/bin/python3
"""Was jemand in der Praxis ansehen sollte: podium runs -o json --limit 1000 | python3 offen.py [SEIT], mit SEIT wie 2026-11-27.

Notfälle, was chat_agent allein beantwortet hat, was nicht gelang, und was auf jemanden wartet, das Älteste zuerst.
"""

import json
import sys

since = sys.argv[1] if len(sys.argv) > 1 else ""


def why(run):
    tasks = run.get("tasks", [])
    agents = [task.get("agent") for task in tasks]
    answer = " ".join(part["body"].get("text", "") for part in run.get("answer", []))
    if "klingt nach einem Notfall" in answer:
        return "Notfall"
    if run["phase"] != "complete":
        return "wartet"
    if run.get("status") != "completed":
        return "nicht gelungen"
    if agents == ["chat_agent"]:
        return "nur chat_agent"
    return ""


runs = [json.loads(line) for line in sys.stdin if line.strip()]
shown = 0
for run in sorted(runs, key=lambda run: run["started"]):
    if run["profile"] != "practice" or run["started"] < since or not why(run):
        continue
    shown += 1
    said = " ".join(run["message"]["text"].get("text", "").split())
    print(f"{run['started'][:16].replace('T', ' ')} UTC  {why(run):14}  {run['id']}\n    {said[:200]}")
print(f"{shown} von {len(runs)} Läufen.")
