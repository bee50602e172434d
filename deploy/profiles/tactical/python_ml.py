#!/usr/bin/python3
"""python_ml: writes a module of Python with the functions that its arguments name, and their tests.

With the argument slip it begins with mistakes, so that checks have something to find. It mends what a review names, and nothing else.
"""

import keyword
import re
import sys

from specialist import CODE, CONFIG, DOCUMENTATION, PYTHON, REPORT, Task, refuse

# Of each function the code, the test, and a mistake in the code with its words in the findings.
KNOWN = {
    "mean": (
        'def mean(values):\n    """The arithmetic mean; of nothing it is 0."""\n    return sum(values) / len(values) if values else 0\n',
        "def test_mean():\n    assert mean([1, 2, 3]) == 2\n\n\ndef test_mean_of_nothing():\n    assert mean([]) == 0\n",
        (" if values else 0", ""),
    ),
    "scale": (
        'def scale(values):\n    """The values in parts of the largest one."""\n    top = max(values)\n    return [value / top for value in values]\n',
        "def test_scale():\n    assert scale([1, 2]) == [0.5, 1.0]\n",
        ("max(values)", "min(values)"),
    ),
    "fit": (
        'def fit(values):\n    """The slope and the intercept of the line through values at 0, 1, 2 and so on, by least squares."""\n'
        "    middle = (len(values) - 1) / 2\n    average = mean(values)\n"
        "    above = sum((x - middle) * (y - average) for x, y in enumerate(values))\n"
        "    slope = above / sum((x - middle) ** 2 for x in range(len(values)))\n    return slope, average - slope * middle\n",
        "def test_fit():\n    assert fit([1, 3, 5]) == (2, 1)\n",
        ("- slope * middle", "+ slope * middle"),
    ),
}
# What projects and their tests have by these names.
TAKEN = ("conftest", "modules", "pytest", "setup", "tests")
task = Task()
task.checked_as(*PYTHON)
module, functions = task.arguments.get("module", "model"), task.arguments["functions"]
if not re.fullmatch(r"[a-z][a-z0-9_]*", module) or keyword.iskeyword(module):
    refuse("A module is named in small letters, digits and underscores, and is no word of Python.")
if module in TAKEN or module in sys.stdlib_module_names:
    refuse(f"{module} is the name of another module, of Python or of the project; its tests would find that one.")
if unknown := [name for name in functions if name not in KNOWN]:
    refuse(f"I write {', '.join(KNOWN)}, and not {', '.join(unknown)}.")
if "fit" in functions and "mean" not in functions:
    functions = ["mean", *functions]
slips = task.slips({**{name: f"test_{name}" for name in KNOWN}, "unused": "imported but unused", "absent": "was not made"})
code, tests = [], [f"from {module} import {', '.join(sorted(functions))}\n"]
for name in functions:
    written, test, (right, wrong) = KNOWN[name]
    code.append(written.replace(right, wrong) if name in slips else written)
    tests.append(test)
head = "import os\n\n\n" if "unused" in slips else ""
task.keep(f"{module}.py", head + "\n\n".join(code), CODE, f"the module {module}")
if "absent" in slips:
    task.promise(f"tests/test_{module}.py", CODE, f"the tests of the module {module}")
else:
    task.keep(f"tests/test_{module}.py", "\n\n".join(tests), CODE, f"the tests of the module {module}")

# Where the project keeps indexes, the module enters itself behind its name, or at the end.
names = ", ".join(functions)
entries = {
    "modules.py": (f"# {module}\n", f'MODULES["{module}"] = "{names}"\n', CODE), "setup.cfg": (f"[{module}]\n", f"functions = {names}\n", CONFIG),
    "docs/modules.md": (f"## {module}\n", f"\nHas {names}.\n", DOCUMENTATION), "reports/functions.txt": (f"{module}:\n", f"  {names}\n", REPORT),
}
there = task.files()
if "modules.py" in there:
    for path, (place, entry, kind) in entries.items():
        if entry not in there[path]:
            content = there[path].replace(place, place + entry) if place in there[path] else f"{there[path]}\n{place}{entry}"
            task.keep(path, content, kind, "an index of all modules")
task.answer(f"{module}.py has {', '.join(functions)}, each with its test.", data={"module": module})
