#!/usr/bin/python3
"""architect: plans a project out of the plans in the folder plans, one for each part that the words name. What cannot be carried out it plans anew.

Two who have changed the same lines work one behind the other in the next plan; what a blocked task lacks is named in it.
"""

import json
import re

from specialist import HERE, Task, refuse

task = Task()


def answer(**said):
    print(json.dumps({"data": said}, ensure_ascii=False))


def part(name, words, tasks):
    estimated = {"estimated_tokens": sum(one.get("estimated_tokens", 0) for one in tasks)}
    return {"task_id": name, "description": words, "assigned_to": "supervisor", **estimated, "context": {"arguments": {"tasks": tasks}}}


def behind(tasks, ids):
    """Those of the tasks one behind the other."""
    before = {}
    for one in tasks:
        if one["task_id"] in ids:
            one["dependencies"] += [other for other in before.values() if other not in one["dependencies"]]
            before[one["task_id"]] = one["task_id"]
    return tasks


if task.context["kind"] == "plan":
    words = task.context.get("request", "")
    known = sorted(path.stem for path in (HERE / "plans").glob("*.json"))
    named = [name for name in known if re.search(rf"\b{name}\b", words, re.IGNORECASE)]
    if not named:
        refuse(f"I have plans for these: {', '.join(known)}.")
    answer(tasks=[part(name, f"Build the {name}.", json.loads((HERE / "plans" / f"{name}.json").read_text("utf-8"))["payload"]["tasks"]) for name in named])
else:
    waiting = [{"task_id": one["task"]} for one in task.arguments["tasks"] if one["state"] in ("pending", "ready")]
    again, newest = [], {re.sub(r"^c\d+\.|(-anew)+$", "", one["task"]): one for one in task.arguments["tasks"]}
    for name, failed in newest.items():
        if failed["state"] != "failed":
            continue
        tasks, why = failed["arguments"]["tasks"], failed["failure"].get("detail", "")
        if conflict := re.search(r"Conflict in \S+ between \[.+?\] \(tasks (.+?)\)", why):
            again.append(part(f"{name}-anew", failed["description"], behind(tasks, conflict[1].split(", "))))
        elif "needs a subject" in why:
            for one in tasks:
                if one["assigned_to"] == "research":
                    one["context"].setdefault("arguments", {}).setdefault("subject", task.context.get("request", ""))
            again.append(part(f"{name}-anew", failed["description"], tasks))
    if again:
        answer(tasks=waiting + again)
    else:
        answer(validation_results=[{"validator": "architect", "status": "failed", "details": "No other plan would help.", "issues": []}])
