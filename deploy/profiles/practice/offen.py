#!/usr/bin/python3
"""Was jemand in der Praxis ansehen sollte, das Älteste zuerst: podium runs -o json --limit 1000 | python3 offen.py [SEIT [SERVER VON AN]]

SEIT ist ein Tag wie 2026-11-27, oder „heute“. Mit SERVER (127.0.0.1:25), VON und AN kommt es als Mail, auch wenn nichts offen ist.
Genannt werden Notfälle, Fragen nach eigenen Daten, was chat_agent allein beantwortet hat, was nicht gelang, und was auf jemanden wartet.
"""

import datetime
import json
import sys
import uuid

import melden

COURTESY = 40  # Zeichen: ein Dank, der nicht länger ist, ist nichts als das


def why(run):
    agents = [task.get("agent") for task in run.get("tasks", [])]
    answer = " ".join(part["body"].get("text", "") for part in run.get("answer", []))
    said = run["message"]["text"].get("text", "")
    if "klingt nach einem Notfall" in answer:
        return "Notfall"
    if answer.startswith("Über Ihre Daten entscheidet die Praxis"):
        return "Datenschutz"
    if run["phase"] != "complete":
        return "wartet"
    if run.get("status") != "completed":
        return "nicht gelungen"
    if agents == ["chat_agent"] and not (answer == "Gern geschehen." and len(said) <= COURTESY and "?" not in said):
        return "nur chat_agent"
    return ""


def listed(runs, since):
    """Die Zeilen, und über wie viele Läufe."""
    lines = []
    for run in sorted(runs, key=lambda run: run["started"]):
        if run["profile"] != "practice" or run["started"] < since or not why(run):
            continue
        said = " ".join(run["message"]["text"].get("text", "").split())
        lines.append(f"{run['started'][:16].replace('T', ' ')} UTC  {why(run):14}  {run['id']}\n    {said[:200]}")
    return lines + [f"{len(lines)} von {len(runs)} Läufen. Einen ganz: podium runs show LAUF"]


since, *letter = sys.argv[1:] or [""]
if since == "heute":
    since = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
report = "\n".join(listed([json.loads(line) for line in sys.stdin if line.strip()], since))
if not letter or not melden.send(*letter, "Was in der Praxis offen ist", report + "\n", f"offen.{uuid.uuid4()}"):
    print(report)
    sys.exit("Die Mail ist nicht angenommen." if letter else 0)
