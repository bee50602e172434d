#!/usr/bin/python3
"""Das Lager der Praxis: check sagt den Bestand, update setzt ihn, order schreibt auf die Bestellliste.

Eine Wirkung tritt einmal ein, auch wenn die Anfrage wiederholt wird: PODIUM_EFFECT ist ihr Schlüssel. Artikel werden ohne
Rücksicht auf Groß- und Kleinschreibung gefunden, auch bei Umlauten, was COLLATE NOCASE von SQLite nicht kann.
"""

import csv
import json
import os
import pathlib
import sqlite3
import sys
import unicodedata

SCHEMA = """
CREATE TABLE IF NOT EXISTS item(key TEXT PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, stock REAL NOT NULL CHECK(stock >= 0), minimum REAL NOT NULL);
CREATE TABLE IF NOT EXISTS effect(id TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES item, action TEXT NOT NULL, quantity REAL NOT NULL);
"""
ENDINGS = ("en", "n", "e", "s")


def folded(name):
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def refuse(words, code=65):
    print(words, file=sys.stderr)
    sys.exit(code)


def opened():
    database = sqlite3.connect(os.environ.get("LAGER", "lager.db"), timeout=10, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("BEGIN IMMEDIATE")  # wer gleichzeitig kommt, wartet und sieht das Ergebnis
    for statement in SCHEMA.strip().splitlines():
        database.execute(statement)
    if not database.execute("SELECT 1 FROM item LIMIT 1").fetchone():
        with open(pathlib.Path(__file__).with_name("bestand.csv"), encoding="utf-8", newline="") as first:
            for row in csv.DictReader(first, delimiter=";"):
                values = (folded(row["artikel"]), row["artikel"], row["einheit"], float(row["bestand"]), float(row["mindestbestand"]))
                database.execute("INSERT INTO item VALUES(?,?,?,?,?)", values)
    return database


def find(database, name):
    """Der Artikel mit diesem Namen, in Ein- oder Mehrzahl; der einzige, der so anfängt, wenn keiner so heißt."""
    key = folded(name)
    rows = database.execute("SELECT key, name, unit, stock, minimum FROM item ORDER BY key").fetchall()
    stems = {key} | {key[: -len(ending)] for ending in ENDINGS if key.endswith(ending) and len(key) - len(ending) > 3}
    same = [row for row in rows if row[0] == key] or [
        row for row in rows if row[0] in stems or any(row[0] == stem + ending for stem in stems for ending in ENDINGS)
    ] or [row for row in rows if row[0].startswith(key + " ")]
    return same


def number(value):
    return f"{value:g}".replace(".", ",")


def main():
    arguments = json.load(sys.stdin)["payload"]["tasks"][0]["context"]["arguments"]
    action, item = arguments["action"], arguments["item_data"]
    database = opened()
    found = find(database, item["item"])
    if len(found) > 1:
        refuse("Welcher Artikel ist gemeint? " + ", ".join(row[1] for row in found))
    if not found:
        refuse(f"Den Artikel {item['item']} gibt es im Lager nicht. Geändert ist nichts.")
    key, name, unit, stock, minimum = found[0]
    quantity = float(item.get("quantity", 0))
    said = ""
    if action != "check":
        effect = os.environ.get("PODIUM_EFFECT") or refuse("Der Anfrage fehlt ihr Schlüssel.", 64)
        if "unit" in item and folded(item["unit"])[:3] not in (folded(unit)[:3], "stü"):
            refuse(f"{name} wird in der Einheit {unit} geführt, nicht in {item['unit']}. Geändert ist nichts.")
        new = database.execute("INSERT OR IGNORE INTO effect VALUES(?,?,?,?)", (effect, key, action, quantity)).rowcount
        if new and action == "update":
            database.execute("UPDATE item SET stock = ? WHERE key = ?", (quantity, key))
        stock = database.execute("SELECT stock FROM item WHERE key = ?", (key,)).fetchone()[0]
        said = {"order": f"Auf der Bestellliste: {number(quantity)} {unit} {name}. ", "update": "Der Bestand ist gesetzt. "}[action]
    ordered = database.execute("SELECT COALESCE(SUM(quantity), 0) FROM effect WHERE key = ? AND action = 'order'", (key,)).fetchone()[0]
    database.execute("COMMIT")
    said += f"{name}: {number(stock)} {unit} im Lager, Mindestbestand {number(minimum)}, auf der Bestellliste {number(ordered)}."
    if stock < minimum:
        said += " Der Mindestbestand ist unterschritten."
    data = {"item": name, "unit": unit, "stock": stock, "minimum": minimum, "ordered": ordered, "reorder": stock < minimum}
    print(json.dumps({"text": said, "data": data}, ensure_ascii=False))


try:
    main()
except sqlite3.OperationalError as error:
    refuse(f"Das Lager ist gerade nicht erreichbar: {error}", 75)
