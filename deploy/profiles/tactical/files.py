#!/usr/bin/python3
"""files: looks whether what is said to be made is there, each file with the size and the SHA-256 that were said. It reads, and changes nothing."""

import hashlib

from specialist import Task

task = Task()
issues, seen = [], 0
for made in task.arguments.get("deliverables", []):
    path, told = made["path"], made.get("metadata", {})
    if "sha256" not in told:
        issues.append({"severity": "error", "message": "it was not made: there is no such file", "file": path, "line": 0})
    elif told["sha256"] not in task.attached:
        issues.append({"severity": "error", "message": "its file cannot be read", "file": path, "line": 0})
    else:
        content = task.attached[told["sha256"]].read_bytes()
        seen += 1
        if len(content) != told["size"] or hashlib.sha256(content).hexdigest() != told["sha256"]:
            issues.append({"severity": "error", "message": "its file is another one than was said", "file": path, "line": 0})
details = f"{seen} files are there"
result = {"validator": "files", "status": "failed" if issues else "passed", "details": details, "issues": issues}
task.answer(f"{details}, {len(issues)} wrong.", validation_results=[result])
