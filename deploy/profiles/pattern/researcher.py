#!/usr/bin/python3
"""researcher: finds what is known of a subject in the files of the folder corpus. It says nothing of its own: each sentence is a quotation with its place."""

import re
import sqlite3

from team import EVERYDAY, HERE, Task, refuse, stem

MOST = 8
task = Task("research find gather collect source competitor launch market data investigate information")

base = sqlite3.connect(":memory:")
base.execute('CREATE VIRTUAL TABLE sentence USING fts5(file, title, body, tokenize="porter unicode61 remove_diacritics 2")')
for file in sorted((HERE / "corpus").glob("*.md")):
    text = file.read_text("utf-8")
    title = re.search(r"^# (.+)", text, re.MULTILINE)[1]
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", line.strip()):
                base.execute("INSERT INTO sentence VALUES (?, ?, ?)", (file.name, title, sentence))

# What is to be done with the subject is none of it.
TO_DO = {stem(word) for word in "analyze draft write memo strategy response summarize research gather report latest product".split()}
words = [word for word in dict.fromkeys(re.findall(r"\w+", task.request.lower())) if word not in EVERYDAY and stem(word) not in TO_DO]
if not words:
    refuse("Please name what the research is about.")
query = "{body} : (" + " OR ".join(f'"{word}"' for word in words) + ")"
found = base.execute("SELECT file, title, body FROM sentence WHERE sentence MATCH ? ORDER BY bm25(sentence), rowid LIMIT ?", (query, MOST)).fetchall()
if not found:
    refuse(f"None of the documents says anything of this: {' '.join(words)}.")
quotes = [{"text": body, "file": file, "title": title} for file, title, body in found]
task.answer("\n".join(f"“{quote['text']}” ({quote['title']}, {quote['file']})" for quote in quotes), {"quotes": quotes})
