#!/usr/bin/python3
"""reporter: writes the README of a project of what the others have made, and adds nothing to it.

With the argument slip it begins with a link that leads nowhere, so that checks have something to find.
"""

from specialist import DOCUMENTATION, Task

task = Task()
slips = task.slips({"link": "link to a file that does not exist"})
files = task.files()
name = next((given["data"]["name"] for given in task.inputs.values() if isinstance(given.get("data"), dict) and "name" in given["data"]), "A project")
lines = [f"# {name}", ""]
if documents := sorted(path for path in files if path.startswith("docs/")):
    lines += ["## To read", "", *(f"- [{path}]({path})" for path in documents), ""]
if "link" in slips:
    lines += ["See also [the setup](docs/setup.md).", ""]
if code := sorted(path for path in files if path.startswith(("src/", "R/", "public/", "tests/")) or path.endswith(".py")):
    lines += ["## Files", "", *(f"- [{path}]({path})" for path in code), ""]
checked = [check for given in task.inputs.values() if isinstance(given.get("data"), dict) for check in given["data"].get("validation_results", [])]
if checked:
    lines += ["## Checked", "", *(f"- {check['validator']}: {check['status']}, {check['details']}" for check in checked), ""]
text = "\n".join(lines).rstrip() + "\n"
task.keep("README.md", text, DOCUMENTATION, "what the project is, and where everything stands")
task.answer(text)
