#!/usr/bin/python3
"""search_knowledge: the passages of the Markdown files in corpus that share the most words with the question. Put your own files there."""

import pathlib
import re

from step import answer, payload, words_of

EVERYDAY = set("a an and are by does for formula how in is it many molar molecular much name of on smiles structure that the to was weight what which".split())
MOST = 2


def stems(text):
    return {word[:6] for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in EVERYDAY}


def passages():
    folder = pathlib.Path(__file__).with_name("corpus")
    for file in sorted(folder.glob("**/*.md")):
        for passage in re.split(r"\n\s*\n", file.read_text("utf-8")):
            if passage.strip() and not passage.startswith("#"):
                yield file.name, " ".join(passage.split())


asked = stems(words_of(payload()))
found = sorted(((len(asked & stems(passage)), place, passage) for place, passage in passages()), key=lambda one: (-one[0], one[1], one[2]))
found = [{"place": place, "passage": passage} for shared, place, passage in found if shared][:MOST]
answer("\n".join(f"“{one['passage']}” ({one['place']})" for one in found) or "None of the notes says anything of it.", {"passages": found})
