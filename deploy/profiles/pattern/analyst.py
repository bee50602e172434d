#!/usr/bin/python3
"""analyst: what the sales in prices.csv say, by least squares. Months are counted from 0."""

import csv
import statistics

from team import HERE, Task

task = Task("analyze analysis analyse impact trend compare market statistics forecast data number")
task.covers("market sales sold sell seller lamp month rival competitor nordlicht halo share figure trend correlation average", "There are the lamps that we and the rival have sold, month by month")

with open(HERE / "prices.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
months = list(range(len(rows)))
figures, lines = {}, {}
for name in ("ours", "rival"):
    sold = [float(row[name]) for row in rows]
    lines[name] = statistics.linear_regression(months, sold)
    figures[name] = {
        "mean": round(statistics.mean(sold), 2), "slope": round(lines[name].slope, 3),
        "change_percent": round(100 * (sold[-1] / sold[0] - 1), 1), "last": sold[-1],
    }
ours, rival = lines["ours"], lines["rival"]
figures["correlation"] = round(statistics.correlation([float(row["ours"]) for row in rows], [float(row["rival"]) for row in rows]), 4)
figures["crossing_month"] = round((ours.intercept - rival.intercept) / (rival.slope - ours.slope), 2)
text = "\n".join([
    f"From {rows[0]['month']} to {rows[-1]['month']} we sold {figures['ours']['mean']:g} lamps a month on average, the rival {figures['rival']['mean']:g}.",
    f"Our sales change by {figures['ours']['slope']} a month, the rival's by {figures['rival']['slope']}.",
    f"The correlation of both is {figures['correlation']}; their lines cross at month {figures['crossing_month']}.",
])
task.answer(text, {"figures": figures})
