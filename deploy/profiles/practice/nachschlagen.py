#!/usr/bin/python3
"""Sagt, was rag_read gefunden hat. Was über einen einzelnen Patienten gelernt ist, bleibt weg."""

import json
import sys

import wissen

found = (json.load(sys.stdin)["payload"]["tasks"][0]["context"].get("inputs", {}).get("finden", {}).get("data") or {}).get("results", [])
passages = wissen.readable(found)
text = "\n".join(f"{number}. {passage}" for number, passage in enumerate(passages, 1)) or "Dazu ist nichts hinterlegt."
print(json.dumps({"text": text, "data": {"passages": passages}}, ensure_ascii=False))
