#!/usr/bin/python3
"""handed: carries over the plan that a planner has handed down in the arguments of a request. It makes none."""

import json

from specialist import Task, refuse

given = Task().arguments.get("given", {})
if not isinstance(given, dict) or not given.get("tasks"):
    refuse("Plans are carried out here, and none is made: send a plan, or ask the planner.")
print(json.dumps({"data": {"tasks": given["tasks"]}}, ensure_ascii=False))
