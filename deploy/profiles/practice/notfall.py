"""Erkennt Zeichen eines Notfalls, nach notfall.txt."""

import pathlib
import re

NEGATED = re.compile(r"\b(?:kein\w*|ohne|weder|nicht)(?: mehr)? $")
FOLDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "-": " ", "‐": " ", "–": " ", "—": " "})


def folded(text):
    """Wie Podium Stichworte vergleicht: ohne Großbuchstaben und Umlaute, Wörter mit einem Leerzeichen dazwischen."""
    paragraphs = re.split(r"\n\s*\n", text.casefold().translate(FOLDED))
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def begins(word, stem):
    """Ob ein Wort so anfängt, auch wenn ein Buchstabe fehlt, zu viel, falsch oder mit dem nächsten vertauscht ist."""
    same = 0
    while same < min(len(word), len(stem)) and word[same] == stem[same]:
        same += 1
    word, stem = word[same:], stem[same:]
    if not stem or word.startswith(stem[1:]) or word and word[1:].startswith((stem, stem[1:])):
        return True
    return word[:2] == stem[1::-1] and word[2:].startswith(stem[2:])


def excerpt(words):
    """Anfang und Ende eines langen Textes, so viel, wie Podiums Regeln lesen."""
    return words if len(words) <= 32768 else words[:24576] + "\n\n" + words[-8192:]


def windows(text, size=1000, before=100):
    """Ein Text in Stücken, die sich überlappen, je mit der Stelle, ab der ein Zeichen darin zählt: was ein Ausdruck kostet, wächst sonst mit dem Quadrat."""
    yield text[:size], 0
    for start in range(size // 2, max(len(text) - size // 2, 0), size // 2):
        yield text[start - before:start + size], before


def places(line, text):
    """Wo ein Zeichen steht."""
    if line.startswith("~"):
        return [word.start() for word in re.finditer(r"\w+", text) if begins(word.group(), line[1:])]
    return [found.start() for found in re.finditer(line, text, re.ASCII)]


def signs(words):
    """Was die Überschriften der Zeichen sagen, die gemeint sind; None, wenn keines es ist. „Keine Luft“ ist eines, „keine Atemnot“ ist keines."""
    text, said, found = folded(excerpt(words)), [], False
    also = ""
    for line in pathlib.Path(__file__).with_name("notfall.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            also = line.partition("] ")[2]
        elif line and not line.startswith("#") and any(
                at >= counts and not NEGATED.search(part[:at]) for part, counts in windows(text) for at in places(line, part)):
            found = True
            if also and also not in said:
                said.append(also)
    return said if found else None
