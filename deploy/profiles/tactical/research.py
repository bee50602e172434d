#!/usr/bin/python3
"""research: quotes what the documents in the folder corpus say of a subject. It says nothing of its own."""

import os
import re
import sqlite3
import sys

from specialist import DOCUMENTATION, HERE, Task, refuse

task = Task()
if "attempt" in task.arguments.get("slip", []) and os.environ["PODIUM_ATTEMPT"] == "1":
    print("The documents could not be opened; another attempt may help.", file=sys.stderr)
    sys.exit(75)
base = sqlite3.connect(":memory:")
base.execute('CREATE VIRTUAL TABLE sentence USING fts5(file, title, body, tokenize="porter unicode61")')
for file in sorted((HERE / "corpus").glob("*.md")):
    text = file.read_text("utf-8")
    title = re.search(r"^# (.+)", text, re.MULTILINE)[1]
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", line.strip()):
                base.execute("INSERT INTO sentence VALUES (?, ?, ?)", (file.name, title, sentence))
words = re.findall(r"\w+", task.arguments.get("subject", "").lower())
if not words:
    question = "What is the research about?"
    task.answer("", status="blocked", needs=[{"name": "subject", "question": {"en": question}, "from": "supervisor"}],
                issues_encountered=[{"severity": "high", "description": "It needs a subject, which the plan does not name.", "resolution": "escalated"}])
found = base.execute(
    "SELECT file, title, body FROM sentence WHERE sentence MATCH ? ORDER BY bm25(sentence), rowid LIMIT 5", ("{body} : (" + " OR ".join(f'"{word}"' for word in words) + ")",),
).fetchall()
if not found:
    refuse(f"None of the documents says anything of this: {' '.join(words)}.")
quotes = [{"text": body, "file": file, "title": title} for file, title, body in found]
task.keep("docs/research.md", "# Research\n\n" + "".join(f"- “{quote['text']}” ({quote['title']})\n" for quote in quotes), DOCUMENTATION, "what the documents say")
less = {"status": "partial"} if len(quotes) < task.arguments.get("least", 1) else {}
task.answer("\n".join(f"“{quote['text']}” ({quote['title']}, {quote['file']})" for quote in quotes), data={"quotes": quotes}, **less)
