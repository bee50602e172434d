#!/usr/bin/python3
"""browser: opens the pages of a project in Chromium, and says what stands on them once their scripts have run."""

import html
import os
import pathlib
import re
import shutil
import tempfile

from specialist import REPORT, Task, confined, refuse, run

task = Task()
pages = {path: content for path, content in task.files().items() if path.endswith(".html")}
if not pages:
    refuse("There is no page to open.")
chromium = next((found for name in ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome") if (found := shutil.which(name))), None)
if chromium is None:
    refuse("Chromium is not installed; README.md of the profile says how it is.", 78)
told = []
with tempfile.TemporaryDirectory() as folder:
    for path, content in sorted(pages.items()):
        page = pathlib.Path(folder, "page.html")
        page.write_text(content, "utf-8")
        alone = ["--no-sandbox"] if os.getuid() == 0 else []
        options = ["--headless", *alone, "--disable-gpu", f"--user-data-dir={folder}/user", "--virtual-time-budget=2000", "--dump-dom", page.as_uri()]
        shown = run(*confined(chromium), *options, folder=folder, TMPDIR=".").stdout  # by TMPDIR the path of its socket is short
        title = re.search(r"<title>(.*?)</title>", shown)
        items = [html.unescape(item) for item in re.findall(r"<li>(.*?)</li>", shown)]
        told.append({"page": path, "title": html.unescape(title[1]) if title else "", "items": items})
text = "\n".join(f"{page['page']} has the title {page['title']} and shows {', '.join(page['items'])}." for page in told)
task.keep("docs/pages.txt", text + "\n", REPORT, "what stands on the pages")
task.answer(text, data={"pages": told})
