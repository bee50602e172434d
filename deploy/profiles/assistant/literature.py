#!/usr/bin/python3
"""rag_agent: finds passages in the Markdown files of the folder corpus, by their words (BM25 of SQLite). Every sentence is a quotation with its place."""

import json
import pathlib
import re
import sqlite3
import sys

MOST = 3
EVERYDAY = set("""a about an and any are article articles as at be by can could do does find for from give has have how i in is it latest
literature me need of on or paper papers please publication publications report reports search show tell that the there this to us was we what
which who why with you your""".split())

task = json.load(sys.stdin)["payload"]["tasks"][0]
asked = task.get("description") or task["context"]["request"]  # of a plan, one step
words = [word for word in re.findall(r"\w+", asked.lower()) if word not in EVERYDAY]
if not words:
    print("Please name what the literature shall be searched for.", file=sys.stderr)
    sys.exit(65)

base = sqlite3.connect(":memory:")
base.execute('CREATE VIRTUAL TABLE passage USING fts5(place, title, body, tokenize="porter unicode61 remove_diacritics 2")')
folder = pathlib.Path(__file__).with_name("corpus")
files = sorted(folder.glob("**/*.md"))
for file in files:
    text = file.read_text("utf-8")
    title = re.search(r"^# (.+)", text, re.MULTILINE)
    for number, passage in enumerate((p for p in re.split(r"\n\s*\n", text) if p.strip() and not p.startswith("#")), 1):
        base.execute("INSERT INTO passage VALUES (?, ?, ?)", (f"{file.relative_to(folder)}, passage {number}", title[1] if title else file.stem, passage.strip()))
query = " OR ".join(f'"{word}"' for word in words)
found = base.execute("SELECT place, title, body, -bm25(passage, 0, 2, 1) FROM passage WHERE passage MATCH ? ORDER BY bm25(passage, 0, 2, 1), place LIMIT ?", (query, MOST)).fetchall()

results = [{"place": place, "title": title, "passage": " ".join(body.split()), "score": round(score, 3)} for place, title, body, score in found]
if results:
    text = "\n\n".join(f"“{result['passage']}”\n({result['title']}; {result['place']})" for result in results)
else:
    text = f"None of the {len(files)} documents has anything on: {' '.join(words)}."
print(json.dumps({"text": text, "data": {"query": words, "results": results}}, ensure_ascii=False))
