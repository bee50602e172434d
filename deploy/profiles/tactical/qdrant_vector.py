#!/usr/bin/python3
"""qdrant_vector: indexes the files of a project, and finds passages in them by words. It is a full-text index, and knows no meanings."""

import json
import sqlite3

from specialist import REPORT, Task, refuse

task = Task()
files = task.files()
if not files:
    refuse("There are no files to index.")
base = sqlite3.connect(":memory:")
base.execute('CREATE VIRTUAL TABLE passage USING fts5(file UNINDEXED, line UNINDEXED, body, tokenize="unicode61 tokenchars \'_\'")')
for path, content in files.items():
    for line, body in enumerate(content.splitlines(), 1):
        if body.strip():
            base.execute("INSERT INTO passage VALUES (?, ?, ?)", (path, line, body.strip()))
count = base.execute("SELECT count(*) FROM passage").fetchone()[0]
query = " OR ".join('"' + word.replace('"', "") + '"' for word in task.arguments.get("query", "").split())
hits = base.execute("SELECT file, line, body FROM passage WHERE passage MATCH ? ORDER BY bm25(passage), rowid LIMIT 5", (query,)).fetchall() if query else []
found = [{"file": file, "line": line, "text": body} for file, line, body in hits]
task.keep("index/passages.json", json.dumps({"files": sorted(files), "passages": count, "found": found}, indent=2) + "\n", REPORT, "the index of the files")
task.answer(
    f"{count} passages of {len(files)} files are indexed." + "".join(f"\n{hit['file']}:{hit['line']}: {hit['text']}" for hit in found),
    data={"passages": count, "found": found},
)
