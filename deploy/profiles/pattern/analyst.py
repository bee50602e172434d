#!/usr/bin/python3
"""analyst: what the sales in prices.csv say, by least squares. Months are counted from 0."""

import csv
import re
import statistics

from team import FIGURES, HERE, Task

MONTHS = "january february march april may june july august september october november december".split()
task = Task("analyze analysis analyse impact trend compare market statistics forecast data number sales sold sell average correlates overtakes share month")
task.covers(f"{FIGURES} {' '.join(MONTHS)}", "There are the lamps that we and the rival have sold, month by month")

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
figures["crossing_month"] = crossing = round((ours.intercept - rival.intercept) / (rival.slope - ours.slope), 2)
when = f", between {rows[int(crossing)]['month']} and {rows[int(crossing) + 1]['month']}" if 0 <= crossing < len(rows) - 1 else ""
asked = {f"{year}-{MONTHS.index(name.lower()) + 1:02}" for name, year in re.findall(rf"(?i)\b({'|'.join(MONTHS)})\s+(\d{{4}})", task.words)} | set(re.findall(r"\b\d{4}-\d\d\b", task.words))
text = "\n".join([
    f"From {rows[0]['month']} to {rows[-1]['month']} we sold {figures['ours']['mean']:g} lamps a month on average, the rival {figures['rival']['mean']:g}.",
    f"Our sales change by {figures['ours']['slope']} a month, the rival's by {figures['rival']['slope']}.",
    f"The correlation of both is {figures['correlation']}; their lines cross at month {crossing}, counted from 0{when}.",
])
for month in sorted(asked):
    row = next((row for row in rows if row["month"] == month), None)
    if row:
        text += f"\nIn {month} we sold {row['ours']} lamps and the rival {row['rival']}: our share was {round(100 * int(row['ours']) / (int(row['ours']) + int(row['rival'])), 1)} percent."
    else:
        text += f"\nOf {month} there are no figures."
task.answer(text, {"figures": figures})
