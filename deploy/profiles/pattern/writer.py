#!/usr/bin/python3
"""writer: makes a memo of what the others have found. It adds no figure of its own.

With the argument slip the first draft takes the rival's share of the market for ours, so that a review has something to find. What a review
has found is mended from the same results.
"""

import re

from team import Task, refuse

OTHER = re.compile(
    r"(?i)\bin (?:german|french|spanish|italian|dutch|polish|portuguese|turkish|chinese|japanese|arabic)\b|\b(?:letter|article|presentation|slides?|press release|spreadsheet)\b")
task = Task("write draft memo letter summarize strategy respond compose text")

sources = next(task.data("sources"), None)
again = sources is not None  # a draft is mended
if not again:
    sources = {}
    for member in ("quotes", "unfound", "figures", "share_percent"):
        for value in task.data(member):
            sources[member] = value
if not sources:
    refuse("There is nothing to write of: no results of others have come.")

lines = ["# Memo", "", f"On: {task.request}", ""]
if OTHER.search(task.request):
    lines += ["This is a memo in English, which is all that is written here.", ""]
if "quotes" in sources:
    lines += ["## What is known", ""]
    lines += [f"- {quote['text']} ({quote['file']})" for quote in sources["quotes"]]
    lines.append("")
if sources.get("unfound"):
    lines += [f"Nothing was found of: {', '.join(sources['unfound'])}.", ""]
if "figures" in sources:
    ours, rival = sources["figures"]["ours"], sources["figures"]["rival"]
    lines += [
        "## What the figures say", "",
        f"We sold {ours['mean']:g} lamps a month on average and the rival {rival['mean']:g}. Our sales change by {ours['slope']:g} a month, the rival's by {rival['slope']:g}.", "",
    ]
if "share_percent" in sources:
    share = sources["share_percent"]
    if task.context.get("arguments", {}).get("slip") and not again:
        share = round(100 - share, 1)
    lines += [f"In the last month our share of the market was {share} percent.", ""]
if "figures" in sources:
    falling = ours["slope"] < 0 < rival["slope"]
    lines += ["## What to do", "", "The rival grows while we shrink: answer the launch now." if falling else "The figures call for no answer now.", ""]
memo = "\n".join(lines).rstrip() + "\n"
task.keep("memo.md", memo, "text/markdown")
task.answer(memo, {"sources": sources})
