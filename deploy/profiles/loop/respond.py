#!/usr/bin/python3
"""return_answer: tells what the steps before have found."""

from step import answer, inputs_of, payload

lines = next((data["lines"] for data in inputs_of(payload()) if data.get("lines")), [])
answer("\n".join(lines) or "Nothing was found.", {"returned": lines})
