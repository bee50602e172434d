#!/usr/bin/python3
"""reviewer: holds the newest memo to what it is made of. Each figure has to occur in a result of the others, and each quotation in its file."""

import re

from team import HERE, Task, refuse

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")


def figures(value):
    """All numbers of a result, as people write them."""
    if isinstance(value, dict):
        for part in value.values():
            yield from figures(part)
    elif isinstance(value, list):
        for part in value:
            yield from figures(part)
    elif isinstance(value, str):
        yield from (float(number) for number in NUMBER.findall(value))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


task = Task("review check verify proofread")
memos = [(name, given) for name, given in task.inputs.items() if isinstance(given.get("data"), dict) and "sources" in given["data"]]
if not memos:
    refuse("There is no memo to review.")
name, memo = max(memos, key=lambda found: (found[0].count("fix"), found[0]))  # the last one that was mended
known = {number for other, given in task.inputs.items() if "sources" not in (given.get("data") or {}) for number in figures(given)}
known |= set(figures(task.request))
issues = []
for at, line in enumerate(memo.get("text", "").splitlines(), 1):
    quoted = re.fullmatch(r"- (.+) \(([\w.-]+\.md)\)", line)
    if quoted:
        place = HERE / "corpus" / quoted[2]
        if not place.is_file() or quoted[1] not in place.read_text("utf-8"):
            issues.append({"severity": "error", "message": f"The quotation is not in {quoted[2]}.", "file": "memo.md", "line": at})
        continue
    if line.startswith("On: "):
        continue  # the request
    for number in NUMBER.findall(line):
        if float(number) not in known:
            issues.append({"severity": "error", "message": f"The figure {number} is in no result.", "file": "memo.md", "line": at})
said = f"{len(issues)} finding{'s' * (len(issues) > 1)}" if issues else "Each figure and each quotation has its source."
task.answer(said, {"validation_results": [{"validator": "reviewer", "status": "failed" if issues else "passed", "details": said, "issues": issues}]})
