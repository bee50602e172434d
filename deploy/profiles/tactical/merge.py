#!/usr/bin/python3
"""merge: makes one file of versions that were made beside each other, by `git merge-file`. Where two change the same lines it makes none, and says which."""

import pathlib
import tempfile

from specialist import CODE, Task, run

task = Task()
issues = []
for wanted in task.arguments["merges"]:
    path, versions = wanted["path"], wanted["versions"]
    first, *others = (task.attached[version["metadata"]["sha256"]].read_bytes() for version in versions)
    with tempfile.TemporaryDirectory() as folder:
        ours, base, theirs = (pathlib.Path(folder, name) for name in ("ours", "base", "theirs"))
        ours.write_bytes(first)
        base.write_bytes(task.attached[wanted["base"]].read_bytes() if wanted.get("base") in task.attached else b"")
        for other in others:
            theirs.write_bytes(other)
            conflicts = run("git", "merge-file", "-q", "ours", "base", "theirs", folder=folder, may_end=range(128)).returncode
            if conflicts:
                line = ours.read_text("utf-8").splitlines().index(next(line for line in ours.read_text("utf-8").splitlines() if line.startswith("<<<<<<<"))) + 1
                issues.append({"severity": "error", "message": "two change the same lines", "file": path, "line": line})
                break
        else:
            task.keep(path, ours.read_text("utf-8"), versions[0].get("type", CODE), "what both have made of it")
if issues:
    task.made = []
    text = "; ".join(f"{issue['file']}:{issue['line']}: {issue['message']}" for issue in issues)
    task.answer(text, validation_results=[{"validator": "merge", "status": "failed", "details": text, "issues": issues}])
task.answer(", ".join(made["path"] for made in task.made) + ": merged.")
