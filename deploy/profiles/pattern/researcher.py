#!/usr/bin/python3
"""researcher: finds what is known of a subject in the files of the folder corpus. It says nothing of its own: each sentence is a quotation with its place."""

import re
import sqlite3

from team import EVERYDAY, FIGURES, HERE, Task, refuse, stem

MOST = 8
# What begins so, or ends so, says nothing without the sentence before it.
LEANS = re.compile(r"(?:It|Its|They|Their|This|That|These|Those|He|She|Both|Neither|None|There|In that)\b|.*\b(?:none|so|too|either)\.$")
task = Task("research find gather collect source documents say competitor launch market data investigate information")

base = sqlite3.connect(":memory:")
base.execute('CREATE VIRTUAL TABLE sentence USING fts5(file, title, body, tokenize="porter unicode61 remove_diacritics 2")')
for file in sorted((HERE / "corpus").glob("*.md")):
    text = file.read_text("utf-8")
    title = re.search(r"^# (.+)", text, re.MULTILINE)[1]
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            sentences = []
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", line.strip()):
                if sentences and LEANS.match(sentence):
                    sentences[-1] += " " + sentence
                else:
                    sentences.append(sentence)
            for sentence in sentences:
                base.execute("INSERT INTO sentence VALUES (?, ?, ?)", (file.name, title, sentence))

# What is to be done with the subject is none of it.
TO_DO = {stem(word) for word in """analyze draft write memo strategy response summarize research gather report latest
product compare impact plan board short letter figure language english german""".split()}
HAVE = {stem(word) for word in f"{FIGURES} {task.can} program code technical test".split()}
words = [word for word in dict.fromkeys(re.findall(r"\w+", task.request.lower())) if word not in EVERYDAY and stem(word) not in TO_DO]
if not words:
    refuse("Please name what the research is about.")
query = "{body} : (" + " OR ".join(f'"{word}"' for word in words) + ")"
found = base.execute("SELECT file, title, body FROM sentence WHERE sentence MATCH ? ORDER BY bm25(sentence), rowid LIMIT ?", (query, MOST)).fetchall()
if not found:
    refuse(f"None of the documents says anything of this: {' '.join(words)}.")
quotes = [{"text": body, "file": file, "title": title} for file, title, body in found]
unfound = [word for word in words if stem(word) not in HAVE and not base.execute("SELECT 1 FROM sentence WHERE sentence MATCH ?", (f'{{body}} : "{word}"',)).fetchone()]
text = "\n".join(f"“{quote['text']}” ({quote['title']}, {quote['file']})" for quote in quotes)
if unfound:
    text += f"\nNone of the documents has: {', '.join(unfound)}."
task.answer(text, {"quotes": quotes, "unfound": unfound})
