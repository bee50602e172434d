#!/usr/bin/python3
"""summary: tells what stands when all is done, by its type."""

import json

from specialist import CODE, CONFIG, DOCUMENTATION, REPORT, Task

task = Task()
made = task.arguments.get("deliverables", [])
groups = {kind: sorted(one["path"] for one in made if one["type"] == kind) for kind in (CODE, DOCUMENTATION, CONFIG, REPORT)}
lines = [f"{kind}: {', '.join(paths)}" for kind, paths in groups.items() if paths]
print(json.dumps({"data": {"response": f"{len(made)} files stand.\n\n" + "\n".join(lines)}}))
