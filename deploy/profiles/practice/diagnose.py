#!/usr/bin/python3
"""Nennt zu Beschwerden mögliche Ursachen und Warnzeichen, nach den Stichworten in diagnose.csv, und was rag_read dazu gefunden hat.

Zeichen eines Notfalls (notfall.txt) gehen vor: dann steht der Notruf am Anfang, und die Praxis bekommt eine Mail, wenn hinter dem
Namen des Programms Server, Absender und Empfänger stehen.

Was über einen einzelnen Patienten gelernt ist, bleibt weg: wer schreibt, ist nicht immer der, dessen Nummer er nennt.
Ersetzt keine ärztliche Untersuchung und sagt das am Ende jeder Antwort. Bilder werden nicht gedeutet: genannt werden ihre
Prüfsummen, damit feststeht, welche vorlagen.
"""

import csv
import hashlib
import json
import os
import pathlib
import sys

import melden
import notfall
import wissen

task = json.load(sys.stdin)["payload"]["tasks"][0]
context = task["context"]
said = [task["description"]] + [answer["text"] for answer in context.get("answers", [])]
words = "\n".join(said).casefold()

also = notfall.signs("\n".join(said))  # None: kein Notfall
hypotheses, red_flags = [], []
with open(pathlib.Path(__file__).with_name("diagnose.csv"), encoding="utf-8", newline="") as table:
    for row in csv.DictReader(table, delimiter=";"):
        if row["stichwort"].casefold() not in words:
            continue
        for found, value in ((hypotheses, row["vermutung"]), (red_flags, row["warnzeichen"])):
            if value and value not in found:
                found.append(value)

MOST = 3  # Textstellen
knowledge = wissen.readable((context.get("inputs", {}).get("wissen", {}).get("data") or {}).get("results", []))[:MOST]

images = []
folder = os.environ.get("PODIUM_DIR")
index = pathlib.Path(folder, "in", "index.json") if folder else None
for entry in json.loads(index.read_text("utf-8")) if index and index.exists() else []:
    if entry["media_type"].startswith("image/") and not entry.get("missing"):
        content = pathlib.Path(folder, entry["file"]).read_bytes()
        images.append({"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)})

lines = []
if also is not None:
    lines.append("Das klingt nach einem Notfall. Rufen Sie sofort den Notruf 112 an und warten Sie nicht auf eine Antwort von hier.")
    lines += also
    if sys.argv[1:] and melden.tell(*sys.argv[1:], task["description"]):
        lines.append("Die Praxis hat Ihre Nachricht auch als Mail bekommen. Das ersetzt den Anruf nicht.")
lines += ["Mögliche Ursachen: " + "; ".join(hypotheses) + "."] if hypotheses else [] if also is not None else [
    "Dazu steht keine mögliche Ursache in der Tabelle der Praxis. Im Notfall rufen Sie 112, außerhalb der Sprechzeiten den Bereitschaftsdienst 116117."
]
lines += ["Aus dem Wissen der Praxis: " + passage for passage in knowledge]
if red_flags:
    lines.append("Sofort ärztliche Hilfe (Notruf 112) bei: " + "; ".join(red_flags) + ".")
lines += [f"Bild mit {image['bytes']} Bytes lag vor, Prüfsumme {image['sha256']}." for image in images]
lines.append("Das ersetzt keine ärztliche Untersuchung.")

data = {"hypotheses": hypotheses, "red_flags": red_flags, "images": images, "knowledge": knowledge}
patient = context.get("entities", {}).get("patient_id")
if patient:
    data["patient_id"] = patient
print(json.dumps({"text": "\n".join(lines), "data": data}, ensure_ascii=False))
