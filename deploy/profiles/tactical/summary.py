#!/usr/bin/python3
"""summary: tells what stands when all is done, by its type, what was left out, and what no tool has looked for."""

import json

from specialist import CODE, CONFIG, DOCUMENTATION, REPORT, Task, not_checked

task = Task()
made = task.arguments.get("deliverables", [])
groups = {kind: sorted(one["path"] for one in made if one["type"] == kind) for kind in (CODE, DOCUMENTATION, CONFIG, REPORT)}
lines = [f"{kind}: {', '.join(paths)}" for kind, paths in groups.items() if paths]
left = [one for one in task.arguments.get("tasks", []) if one["state"] == "skipped"]
lines += ["", *(f"left out: {one['task']} of {one.get('agent', 'nobody')}: {one.get('failure', {}).get('detail') or 'what it builds on has failed'}" for one in left)] if left else []
results = [task.inputs[name].get("data") for name in sorted(task.inputs)]
unchecked = [wanted for data in results if isinstance(data, dict) for wanted in data.get("unchecked", [])]
lines += ["", not_checked(dict.fromkeys(unchecked))] if unchecked else []
print(json.dumps({"data": {"response": f"{len(made)} files stand.\n\n" + "\n".join(lines)}}))
