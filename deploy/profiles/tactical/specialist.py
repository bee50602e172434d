"""What the specialists share: reading a request, the files that it builds on, what a review has found, and answering.

A program reads one request as JSON and prints the payload of a response. Exit code 65 is for what no further attempt can help, 78 for a
program that is not installed.
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CODE, CONFIG, DOCUMENTATION, REPORT = "code", "config", "documentation", "report"
# The types of project in which tools look at code, as review.checks in podium.yaml has it, and by the words of a criterion those in which one answers it.
TYPESCRIPT, PYTHON, R = ("frontend", "fullstack"), ("ml", "data_science"), ("analytics",)
ANSWERED = {"it compiles": TYPESCRIPT, "all tests pass": TYPESCRIPT + PYTHON + R, "nothing lets others in": ("audited",)}


def refuse(sentence, code=65):
    print(sentence, file=sys.stderr)
    sys.exit(code)


class Endless(Exception):
    """A program has used up its time, so that what it runs does not come to an end."""


def run(*command, folder, may_end=(0,), **variables):
    """Runs a program in a folder. What it needs of the environment is its path; what it must not do, it cannot. What it leaves is gone with the request."""
    environment = {"PATH": search(), "HOME": tempfile.gettempdir(), "TMPDIR": tempfile.gettempdir(), "LANG": "C.UTF-8", "NO_COLOR": "1", "CI": "1", **variables}
    there(command[0])
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, env=environment)
    except subprocess.TimeoutExpired as late:
        raise Endless(f"{command[0]} has not ended") from late
    if -ran.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise Endless(f"{command[0]} has used up its time")
    if ran.returncode not in may_end:
        refuse(f"{command[0]} has ended by {ran.returncode}: {(ran.stderr or ran.stdout).strip()[-300:]}", 70)
    return ran


def confined(*command):
    """The command without a network, and with a minute of computing: for what agents have written."""
    there(command[0])
    apart = ["unshare", "-n"] if os.getuid() == 0 else ["unshare", "-rn"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        refuse("No program is run here: this system does not let me cut it off the network.", 78)
    return ["prlimit", "--cpu=60", "--", *apart, *command]


def place(folder, path):
    """Where a file is in a folder; None where its path leads elsewhere, by its name or by a link on its way."""
    folder = pathlib.Path(folder).resolve()
    if not path.isprintable() or "\\" in path or {"", ".", ".."} & set(path.split("/")):
        return None
    return folder / path if (folder / path).resolve() == folder / path else None


def there(program):
    if shutil.which(program, path=search()) is None:
        refuse(f"{program} is not installed; README.md of the profile says how it is.", 78)


def search():
    """Where programs are looked for."""
    return f"{tools()}/.bin:{os.environ['PATH']}"


def tools():
    """The directory of npm's packages."""
    return (HERE / os.environ.get("TACTICAL_TOOLS", "node_modules")).resolve()


def not_checked(wanted):
    return "Checked by no tool: " + "; ".join(wanted)


class Task:
    def __init__(self):
        self.task = json.load(sys.stdin)["payload"]["tasks"][0]
        self.context = self.task.get("context", {})
        self.arguments = self.context.get("arguments", {})
        self.inputs = self.context.get("inputs", {})
        self.words = self.context.get("request") or self.task["description"]
        self.folder = pathlib.Path(os.environ["PODIUM_DIR"])
        # Podium removes this folder when the request has ended, and at its next start if it was killed.
        tempfile.tempdir = str(self.folder / "work")
        os.makedirs(tempfile.tempdir, exist_ok=True)
        self.made, self.left = [], []
        listed = json.loads((self.folder / "in" / "index.json").read_text())
        self.attached = {entry["sha256"]: self.folder / entry["file"] for entry in listed if "file" in entry}

    def files(self):
        """The files that this builds on, by path. Of several versions that of the task named last counts, and before it what is mended, which is named first."""
        found = {}
        order = self.task.get("dependencies", [])
        if any(name.startswith("review:") for name in self.inputs):
            order = order[1:] + order[:1]
        for name in sorted(self.inputs, key=lambda name: order.index(name) if name in order else len(order)):
            data = self.inputs[name].get("data")
            for file in data.get("files", []) if isinstance(data, dict) else []:
                if file["sha256"] in self.attached:
                    found[file["path"]] = self.attached[file["sha256"]].read_text("utf-8")
        return found

    def checked_as(self, *types):
        """Ends where no tool would look at the code that this makes, since its task names none of the types of project in which one does."""
        kind = self.context.get("constraints", {}).get("project_type", "")
        if kind not in types:
            refuse(f"Nothing would check this code: context.constraints.project_type of its task is {' or '.join(types)}, and not {kind or 'left out'}.")

    def unchecked(self):
        """What is wanted of this task and no tool answers, as far as its words tell."""
        kind = self.context.get("constraints", {}).get("project_type", "")
        answered = ["no link leads nowhere", *(words for words, types in ANSWERED.items() if kind in types)]
        if self.task.get("deliverables"):
            answered.append("its files are there")
        return [wanted for wanted in self.task.get("validation_criteria", []) if wanted.strip(" .").lower() not in answered]

    def issues(self):
        """What a review has found wrong with what this agent has made."""
        for name, given in self.inputs.items():
            if name.startswith("review:"):
                yield from given["data"]["issues"]

    def slips(self, known):
        """The mistakes that a task is begun with, and when it is mended those that were left, without what a review has found since. Known says by which
        words of a finding each is known. Whoever is deaf to findings mends nothing."""
        found = "" if self.arguments.get("deaf") else " ".join(issue["message"] for issue in self.issues())
        before = self.inputs.get(next(iter(self.task.get("dependencies", [])), ""), {}).get("data") if found else None
        slips = before.get("slip", []) if isinstance(before, dict) else self.arguments.get("slip", [])
        self.left = [slip for slip in slips if known[slip] not in found]
        return self.left

    def keep(self, path, content, kind, description):
        """Sends a file along with the answer. Names come from plans, and none of them leads out of what is sent along."""
        file = self.promise(path, kind, description)
        self.made[-1]["content"] = content
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def promise(self, path, kind, description):
        file = place(self.folder / "out", path)
        if file is None:
            refuse(f"{path!r} leads out of the project.")
        self.made.append({"path": path, "type": kind, "description": description})
        return file

    def answer(self, text, **said):
        files = [{"path": made["path"], "sha256": hashlib.sha256(made["content"].encode()).hexdigest()} for made in self.made if "content" in made]
        unchecked = [] if said.get("status") == "blocked" else self.unchecked()
        if unchecked:
            text = f"{text.rstrip()}\n\n{not_checked(unchecked)}"
        data = {**said.pop("data", {}), **({"files": files} if files else {}), **({"slip": self.left} if self.left else {}), **({"unchecked": unchecked} if unchecked else {})}
        # Whether a deliverable is right the review says.
        deliverables = [
            {"deliverable_id": f"{self.task['task_id']}-{at}", **{member: made[member] for member in ("type", "path", "description")}}
            for at, made in enumerate(self.made, 1)
        ]
        payload = {"status": "completed", "result": {"text": text, **({"data": data} if data else {})}, **said}
        if deliverables:
            payload["deliverables"] = deliverables
        print(json.dumps(payload, ensure_ascii=False))
        sys.exit(0)
