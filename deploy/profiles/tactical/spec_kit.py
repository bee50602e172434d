#!/usr/bin/python3
"""spec_kit: begins a project of a type: its settings, an index of its modules, and what is asked of it."""

import json
import re

from specialist import CODE, CONFIG, DOCUMENTATION, PYTHON, R, REPORT, TYPESCRIPT, Task, refuse

task = Task()
name, modules = task.arguments["name"], task.arguments.get("modules", [])
if wrong := [module for module in modules if not re.fullmatch(r"[a-z][a-z0-9_]*", module)]:
    refuse(f"A module is named in small letters, digits and underscores, and not {wrong[0]!r}.")
if not name.isprintable() or not name.strip():
    refuse("A project has a name of one line.")
kind = task.context.get("constraints", {}).get("project_type", "")

if kind in TYPESCRIPT:
    task.keep("package.json", json.dumps({
        "name": name, "private": True, "type": "module", "jest": {"testMatch": ["**/src/*.test.mjs"], "transform": {}},
    }, indent=2) + "\n", CONFIG, "what Node.js and jest are told")
    task.keep("tsconfig.json", json.dumps({
        "compilerOptions": {"target": "es2022", "module": "nodenext", "strict": True, "outDir": "dist", "rootDir": "src", "types": []}, "include": ["src"],
    }, indent=2) + "\n", CONFIG, "what the compiler is told")
    task.keep("eslint.config.js", """import js from '@eslint/js';
import ts from 'typescript-eslint';

export default ts.config({ ignores: ['**/*.test.mjs', 'dist/**', '*.config.js'] }, js.configs.recommended, ts.configs.recommended);
""", CONFIG, "what is looked for in code")
    # Each module has a place of its own, so that those who work beside each other do not meet.
    task.keep("src/index.ts", "// What this project offers.\n" + "".join(f"\n// {module}\n" for module in modules), CODE, "the index of all modules")
elif kind in PYTHON:
    index = task.arguments.get("index", False)
    task.keep("setup.cfg", "[flake8]\nmax-line-length = 120\n" + "".join(f"\n[{module}]\n" for module in modules if index), CONFIG, "what flake8 is told")
    if index:
        task.keep("modules.py", '"""What this project offers."""\n\nMODULES = {}\n' + "".join(f"\n# {module}\n" for module in modules), CODE, "the index of all modules")
        task.keep("docs/modules.md", "# Modules\n" + "".join(f"\n## {module}\n" for module in modules), DOCUMENTATION, "what each module is for")
        task.keep("reports/functions.txt", "Functions\n" + "".join(f"\n{module}:\n" for module in modules), REPORT, "the functions of each module")
elif kind not in R:
    refuse(f"I begin projects of the types {', '.join(TYPESCRIPT + PYTHON + R)}, and not {kind or 'without one'}.")

wanted = task.task.get("validation_criteria", [])
lines = [f"# {name}", "", f"A project of the type {kind}.", "", "## Modules", "", *(f"- {module}" for module in modules), "", "## What holds", "", *(f"- {one}" for one in wanted)]
task.keep("docs/spec.md", "\n".join(lines).rstrip() + "\n", DOCUMENTATION, "what is asked of the project")
task.answer(f"{name} is begun: {len(task.made)} files.", data={"name": name, "modules": modules})
