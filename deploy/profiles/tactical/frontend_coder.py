#!/usr/bin/python3
"""frontend_coder: writes a module in TypeScript for records of one kind, its test, and a page where one is asked for, by the rules in its arguments.

With the argument slip it begins with mistakes, so that checks have something to find. It mends what a review names, and nothing else.
"""

import json
import re

from specialist import CODE, TYPESCRIPT, Task, refuse

task = Task()
task.checked_as(*TYPESCRIPT)
module, record, fields = task.arguments["module"], task.arguments["record"], task.arguments["fields"]
if not re.fullmatch(r"[a-z][a-z0-9]*", module) or module == "index" or not re.fullmatch(r"[A-Z][A-Za-z0-9]*", record):
    refuse("A module is named in small letters, and not index; its record begins with a capital one.")
if wrong := [field["name"] for field in fields if not re.fullmatch(r"[a-z][A-Za-z0-9]*", field["name"])]:
    refuse(f"A field is named in letters and digits, a small letter first, and not {wrong[0]!r}.")
# What each mistake is known by in the words of the tool that finds it.
slips = task.slips({"rule": "refuses", "type": "is not assignable", "unused": "never used", "eval": "eval", "absent": "was not made"})
small = record[0].lower() + record[1:]


def rule(field):
    """When a field is refused, and in which words."""
    if field["type"] == "string":
        return f"given.{field['name']} === ''", f"{field['name']} is missing", "''"
    if "min" in field:
        return f"given.{field['name']} < {field['min']}", f"{field['name']} is below {field['min']}", str(field["min"] - 1)
    return None


rules = [found for field in fields if (found := rule(field))]
kept = rules[:-1] if "rule" in slips else rules
lines = [f"/** What a {small} is. */", f"export interface {record} {{", *(f"  {field['name']}: {field['type']};" for field in fields), "}", ""]
lines += [f"/** Takes a {small}, and refuses one that breaks a rule. */", f"export function take{record}(given: {record}): {record} {{"]
if "unused" in slips:
    lines.append("  const seen = 0;")
if "eval" in slips:
    lines.append("  eval('0');")
lines += [f"  if ({condition}) throw new RangeError('{words}');" for condition, words, _ in kept]
lines += [f"  return {{ {', '.join(field['name'] + ': given.' + field['name'] for field in fields)} }};", "}", ""]
lines += [f"/** A {small} in one line. */", f"export function tell{record}({small}: {record}): string {{"]
lines.append(f"  return {len(fields)};" if "type" in slips else f"  return `{', '.join(field['name'] + ': ${' + small + '.' + field['name'] + '}' for field in fields)}`;")
lines.append("}")

example = {"string": "'a'", "number": "1", "boolean": "true"}
given = ", ".join(f"{field['name']}: {max(field['min'], 1) if 'min' in field else example[field['type']]}" for field in fields)
test = [f"import {{ take{record} }} from '../dist/{module}.js';", "", f"const {small} = {{ {given} }};", "", f"test('takes a {small}', () => {{ expect(take{record}({small})).toEqual({small}); }});"]
for (condition, words, wrong), field in zip(rules, (field for field in fields if rule(field))):
    test.append(f"test('refuses a {small} whose {words}', () => {{ expect(() => take{record}({{ ...{small}, {field['name']}: {wrong} }})).toThrow('{words}'); }});")

task.keep(f"src/{module}.ts", "\n".join(lines) + "\n", CODE, f"the module {module}")
if "absent" in slips:
    task.promise(f"src/{module}.test.mjs", CODE, f"the test of the module {module}")
else:
    task.keep(f"src/{module}.test.mjs", "\n".join(test) + "\n", CODE, f"the test of the module {module}")

# Its line goes behind its name in the index, or to the end of that.
index, line = task.files().get("src/index.ts"), f"export * from './{module}.js';\n"
if index is not None and line not in index:
    place = f"// {module}\n"
    index = index.replace(place, place + line) if place in index else index + line
    task.keep("src/index.ts", index, CODE, "the index of all modules")
if task.arguments.get("page"):
    task.keep(f"public/{module}.html", f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{record}</title>
<h1>{record}</h1>
<ul id="fields"></ul>
<script>
  for (const name of {json.dumps([field["name"] for field in fields])}) {{
    document.getElementById('fields').appendChild(document.createElement('li')).textContent = name;
  }}
</script>
</html>
""", CODE, f"the page of the module {module}")
task.answer(f"src/{module}.ts takes and tells records of the kind {record}, by {len(kept)} rule{'s' * (len(kept) != 1)}.", data={"module": module})
