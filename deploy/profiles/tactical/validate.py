#!/usr/bin/python3
"""validate.py VALIDATOR: runs a tool over the files of a project, and answers with what it has found, by file and line.

As a check it looks at all that stands of a run, as a task at what it builds on. A finding is an answer: it fails only where the tool cannot run.
"""

import json
import os
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from specialist import HERE, Endless, Task, confined, place, refuse, run, tools

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
issues = []


def found(severity, message, file="", line=0):
    issue = {"severity": severity, "message": " ".join(ESCAPES.sub("", message).split())}
    if file:
        issue["file"] = os.path.relpath(os.path.join(root, file), root)
        issue["line"] = int(line or 0)
    issues.append(issue)


def compiled(*options):
    """What the compiler of TypeScript says."""
    ran = run(*confined("tsc", "--pretty", "false", *options), folder=root, may_end=(0, 1, 2))
    for line in ran.stdout.splitlines():
        if placed := re.match(r"(.+?)\((\d+),\d+\): (error|warning) (TS\d+: .*)", line):
            yield placed[3], placed[4], placed[1], placed[2]
        elif re.match(r"error TS\d+", line):
            yield "error", line, "", 0


CODE_FOR_NODE = (".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs")


def lacks(settings, tool):
    """Whether a tool has no settings to go by. It is not let look for them in the folders around the project."""
    if settings not in files:
        found("error", f"the project has no {settings}, which {tool} goes by; a task of spec_kit of the type frontend or fullstack makes it")
    return settings not in files


def code_for_node():
    return any(path.endswith(CODE_FOR_NODE) for path in files)


def tsc():
    if not code_for_node() or lacks("tsconfig.json", "tsc"):
        return "nothing compiled"
    for issue in compiled("--noEmit"):
        found(*issue)
    return f"{len(list(pathlib.Path(root).rglob('*.ts')))} files compiled"


def eslint(*options):
    if not code_for_node() or lacks("eslint.config.js", "ESLint"):
        return "no files looked at"
    said = json.loads(run(*confined("eslint", "-f", "json", *options, "."), folder=root, may_end=(0, 1)).stdout)
    for file in said:
        for message in file["messages"]:
            found("error" if message["severity"] == 2 else "warning", f"{message['message']} ({message['ruleId']})", file["filePath"], message.get("line"))
    return f"{len(said)} files looked at"


def security():
    """What runs words as a program, and what looks like a key."""
    rules = json.dumps({name: "error" for name in ("no-eval", "no-implied-eval", "no-new-func", "no-script-url")})
    said = eslint("--rule", rules) if "eslint.config.js" in files else "no code for Node.js"
    others = [issue for issue in issues if not re.search(r"eval|Function|script:", issue["message"])]
    for issue in others:
        issues.remove(issue)
    for path, content in files.items():
        for line, text in enumerate(content.splitlines(), 1):
            if re.search(r"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b", text):
                found("error", "a key stands in the file", path, line)
    return said


def jest():
    if not code_for_node() or lacks("package.json", "jest") or "tsconfig.json" not in files:
        return "no tests"
    list(compiled())  # the tests import what it writes; what it says is the business of tsc
    with tempfile.NamedTemporaryFile() as report:
        run(*confined("jest", "--runInBand", "--passWithNoTests", "--json", "--testLocationInResults", "--outputFile", report.name), folder=root, may_end=(0, 1),
            NODE_OPTIONS="--experimental-vm-modules")
        said = json.load(open(report.name, encoding="utf-8"))
    for file in said["testResults"]:
        if file["status"] == "failed" and not file["assertionResults"]:
            found("error", file["message"][:300], file["name"])
        for test in file["assertionResults"]:
            if test["status"] == "failed":
                found("error", f"{test['fullName']}: {test['failureMessages'][0].split(chr(10) + '    at ')[0]}", file["name"], (test["location"] or {}).get("line"))
    return f"{said['numPassedTests']} of {said['numTotalTests']} tests passed"


def flake8():
    for line in run(*confined("flake8", "--max-line-length=120", "."), folder=root, may_end=(0, 1)).stdout.splitlines():
        file, number, _, message = line.split(":", 3)
        code = message.strip()
        found("error" if code[0] == "F" or code.startswith("E9") else "warning", code, file, number)
    return f"{len([path for path in files if path.endswith('.py')])} files looked at"


def pytest():
    settings = next((name for name in ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg") if name in files), os.devnull)
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        within = ("-c", settings, "--rootdir", root, "--confcutdir", root)  # not those of the folders around it
        run(*confined(sys.executable, "-m", "pytest", "-q", *within, "-p", "no:cacheprovider", f"--junitxml={report.name}", "-o", "junit_family=xunit1"), folder=root,
            may_end=(0, 1, 2, 5), PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=root)
        cases = list(ElementTree.parse(report.name).getroot().iter("testcase"))
    for case in cases:
        for wrong in [*case.findall("failure"), *case.findall("error")]:
            placed = re.findall(r"^(\S+\.py):(\d+):", wrong.text or "", re.MULTILINE)
            file, line = placed[-1] if placed else (case.get("file", ""), int(case.get("line") or -1) + 1)
            found("error", f"{case.get('name')}: {(wrong.get('message') or '').splitlines()[0]}", file, line)
    return f"{len(cases)} tests"


def r(which):
    said = json.loads(run(*confined("Rscript", "--vanilla", str(HERE / "check.R"), which, root), folder=root).stdout)
    for issue in said["issues"]:
        found("error", issue["message"], issue["file"], issue["line"])
    return said["details"]


def documentation():
    def anchor(heading):
        return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")

    documents = {path: content for path, content in files.items() if path.endswith(".md")}
    for path, content in documents.items():
        lines, fence = content.splitlines(), 0
        for number, line in enumerate(lines, 1):
            if line.startswith("```"):
                fence = 0 if fence else number
            for target in [] if fence else re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, heading = target.partition("#")
                other = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if other not in files:
                    found("error", f"link to a file that does not exist: {target}", path, number)
                elif heading and heading not in [anchor(one.lstrip("# ")) for one in files[other].splitlines() if one.startswith("#")]:
                    found("error", f"link to a heading that does not exist: {target}", path, number)
        if fence:
            found("error", "a block of code without an end", path, fence)
        if not any(line.startswith("# ") for line in lines):
            found("warning", "no title", path, 1)
    return f"{len(documents)} documents read"


VALIDATORS = {
    "tsc": tsc, "eslint": eslint, "jest": jest, "flake8": flake8, "pytest": pytest, "r_syntax": lambda: r("syntax"), "testthat": lambda: r("tests"),
    "documentation": documentation, "security": security,
}
if len(sys.argv) != 2 or sys.argv[1] not in VALIDATORS:
    refuse(f"usage: validate.py {'|'.join(VALIDATORS)}", 64)
task = Task()
if made := task.arguments.get("deliverables"):
    files = {
        one["path"]: task.attached[digest].read_text("utf-8")
        for one in made if (digest := one.get("metadata", {}).get("sha256")) in task.attached
    }
else:
    files = task.files()
with tempfile.TemporaryDirectory() as root:
    root = os.path.realpath(root)
    for path, content in files.items():
        file = place(root, path)
        if file is None or path.startswith("node_modules/"):
            issues.append({"severity": "error", "message": "it leads out of the project", "file": path, "line": 0})
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    if tools().is_dir():
        os.symlink(tools(), os.path.join(root, "node_modules"))
    try:
        details = VALIDATORS[sys.argv[1]]()
    except Endless:
        details = "broken off"
        found("error", f"{sys.argv[1]} did not come to an end, so that something in the project goes on for ever")
wrong = any(issue["severity"] == "error" for issue in issues)
result = {"validator": sys.argv[1], "status": "failed" if wrong else "passed", "details": details, "issues": issues}
places = "".join(f"\n{issue['file']}:{issue['line']}: {issue['message']}" if "file" in issue else f"\n{issue['message']}" for issue in issues)
said = {"validation_results": [result]}
task.answer(f"{sys.argv[1]}: {details}, {len(issues)} found." + places, data=said, **said)
