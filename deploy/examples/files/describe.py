#!/usr/bin/env python3
"""An agent for Podium that works with files: it says who has written, what was said before and which files came
along, and answers with a file of its own for each. Run it by

    podium agent exec --name describe -- python3 describe.py

PODIUM_DIR is the folder of one request. Nothing but Python's own library is needed.
"""

import hashlib
import json
import os
import pathlib
import sys

folder = pathlib.Path(os.environ["PODIUM_DIR"])
task = json.load(sys.stdin)["payload"]["tasks"][0]
context = task["context"]
message = context.get("message", {})
said = context.get("conversation", {}).get("messages", [])
index = json.loads((folder / "in" / "index.json").read_text("utf-8"))

lines = [
    f"From: {message.get('from', {}).get('address', 'somebody')} ({message.get('origin', 'unchecked')})",
    f"Subject: {message.get('subject', '')}",
    f"Words: {(folder / 'words.txt').read_text('utf-8')}",
]
lines += [f"Earlier, {part['by']}: {part['text']}" for part in said]
for entry in index:
    if entry.get("missing"):  # too large, or not to be had
        lines.append(f"{entry['name']} is {entry['missing']}")
        continue
    content = (folder / entry["file"]).read_bytes()
    lines.append(f"{entry['name']}: {entry['media_type']}, {len(content)} bytes, of {entry['from']}")
    # The name outside is data and no path: what is made gets the name that the file has here.
    made = folder / "out" / (pathlib.Path(entry["file"]).stem + ".txt")
    made.write_text(f"{hashlib.sha256(content).hexdigest()}  {entry['name']}\n", "utf-8")

print(json.dumps({
    "status": "completed",
    "result": {"text": "\n".join(lines), "data": {"files": len(index)}},
    "recommendations": ["Keep the hashes."],
}))
