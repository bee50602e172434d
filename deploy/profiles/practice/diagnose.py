#!/usr/bin/python3
"""Nennt zu Beschwerden mögliche Ursachen und Warnzeichen, nach den Stichworten in diagnose.csv.

Ersetzt keine ärztliche Untersuchung und sagt das am Ende jeder Antwort. Bilder werden nicht gedeutet: genannt werden ihre
Prüfsummen, damit feststeht, welche vorlagen.
"""

import csv
import hashlib
import json
import os
import pathlib
import sys

task = json.load(sys.stdin)["payload"]["tasks"][0]
arguments = task["context"]["arguments"]
words = arguments["symptoms"].casefold()

hypotheses, red_flags = [], []
with open(pathlib.Path(__file__).with_name("diagnose.csv"), encoding="utf-8", newline="") as table:
    for row in csv.DictReader(table, delimiter=";"):
        if row["stichwort"].casefold() not in words:
            continue
        for found, value in ((hypotheses, row["vermutung"]), (red_flags, row["warnzeichen"])):
            if value and value not in found:
                found.append(value)

images = []
folder = os.environ.get("PODIUM_DIR")
index = pathlib.Path(folder, "in", "index.json") if folder else None
for entry in json.loads(index.read_text("utf-8")) if index and index.exists() else []:
    if entry["media_type"].startswith("image/") and not entry.get("missing"):
        content = pathlib.Path(folder, entry["file"]).read_bytes()
        images.append({"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)})

lines = ["Mögliche Ursachen: " + "; ".join(hypotheses) + "."] if hypotheses else ["Dazu steht keine mögliche Ursache in der Tabelle der Praxis."]
if red_flags:
    lines.append("Sofort ärztliche Hilfe (Notruf 112) bei: " + "; ".join(red_flags) + ".")
lines += [f"Bild mit {image['bytes']} Bytes lag vor, Prüfsumme {image['sha256']}." for image in images]
lines.append("Das ersetzt keine ärztliche Untersuchung.")

data = {"hypotheses": hypotheses, "red_flags": red_flags, "images": images}
if "patient_id" in arguments:
    data["patient_id"] = arguments["patient_id"]
print(json.dumps({"text": "\n".join(lines), "data": data}, ensure_ascii=False))
