#!/usr/bin/python3
"""coder: writes a module that computes the share of the market, and its test, and runs the test without network and within limits."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile

from team import HERE, Task, refuse

task = Task("code program implement implementation technical script module compute software test tool")
task.covers("share market sales lamp rival", "I write one program, which computes a share of the market, with its test")

MODULE = '''"""The share of the market of one of two sellers."""


def share(ours, rival):
    """Of all that both have sold, what ours is, in percent with one decimal."""
    return round(100 * ours / (ours + rival), 1)
'''

with open(HERE / "prices.csv", encoding="utf-8") as file:
    last = list(csv.DictReader(file))[-1]
ours, rival = int(last["ours"]), int(last["rival"])
expected = round(100 * ours / (ours + rival), 1)
TEST = f'''from share import share


def test_last_month():
    assert share({ours}, {rival}) == {expected}


def test_both_are_all():
    assert share({ours}, {rival}) + share({rival}, {ours}) == 100
'''

with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "share.py").write_text(MODULE)
    (pathlib.Path(folder) / "test_share.py").write_text(TEST)
    apart = ["unshare", "-n"] if os.getuid() == 0 else ["unshare", "-rn"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        refuse("No program is run here: this system does not let me cut it off the network.", 78)
    ran = subprocess.run(
        ["prlimit", "--as=1073741824", "--cpu=10", "--", *apart, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder, capture_output=True, text=True, timeout=30, env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )
    said = ran.stdout.strip().splitlines()
    if ran.returncode:
        refuse("The test of the module fails: " + " ".join(said[-3:]))
task.keep("share.py", MODULE, "text/x-python")
task.keep("test_share.py", TEST, "text/x-python")
task.answer(
    f"share.py computes our share of the market: {expected} % in {last['month']} ({ours} of {ours + rival} lamps). Its tests pass: {said[-1].split(' in ')[0]}.",
    {"share_percent": expected, "ours": ours, "rival": rival, "total": ours + rival},
)
