"""What the agents of this team share: reading a request, judging oneself, and answering.

A program reads one request as JSON and prints a result as JSON. A request of kind assess asks how well the agent could do a task: the
share of the words of what it can do that the task has, at most 1. Exit code 65 is for what no further attempt can help.
"""

import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
FIGURES = "market sales sold sell seller lamp month rival competitor nordlicht halo share figure trend correlation correlates average overtakes crosses"
EVERYDAY = set("""a about after all an and any are as at be been but by can did do does for from has have how i if in into is it its latest many me much my no not of on
or our please so than that the their them then there these they this to us was we were what when which who why will with you your""".split())


def stem(word):
    """A word without its ending, as far as comparing needs it: researches, researching and researched are one."""
    for ending in ("ations", "ation", "ings", "ing", "ers", "er", "ied", "ies", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[:-len(ending)]
    return word


def stems(text):
    return [stem(word) for word in re.findall(r"[^\W\d_]{2,}", text.lower()) if word not in EVERYDAY]


def refuse(sentence, code=65):
    print(sentence, file=sys.stderr)
    sys.exit(code)


class Task:
    def __init__(self, can):
        self.task = json.load(sys.stdin)["payload"]["tasks"][0]
        self.context = self.task.get("context", {})
        self.words = self.task["description"]
        self.request = self.context.get("request") or self.words
        self.inputs = {name: given for name, given in self.context.get("inputs", {}).items() if isinstance(given, dict)}
        self.can, self.what, self.untold = can, "", []
        if self.context.get("kind") == "assess":
            self.assess(can)

    def assess(self, can):
        """Of what the task is about, the share that this agent knows. Three words of its field are as much as can be asked for."""
        known = {stem(word) for word in can.split()}
        shared = {word for word in stems(self.words) if word in known}
        self.answer(None, {"score": round(min(len(shared) / 3, 1), 2)})

    def covers(self, about, what):
        """Refuses a task that has none of the words of what this agent has, and keeps those that it knows nothing of: the answer names them."""
        known = {stem(word) for word in about.split()}
        verbs = {stem(word) for word in self.can.split()}
        words = [word for word in re.findall(r"[^\W\d_]{2,}", self.words) if word.lower() not in EVERYDAY]
        self.what, self.untold = what, list(dict.fromkeys(word for word in words if stem(word.lower()) not in known | verbs))
        if not any(stem(word.lower()) in known for word in words):
            refuse(f"I cannot answer this. {what}, and nothing else.")

    def data(self, member):
        """That member of the data of each result that this task builds on."""
        for given in self.inputs.values():
            data = given.get("data")
            if isinstance(data, dict) and member in data:
                yield data[member]

    def findings(self):
        """What a review has found wrong with the attempt before."""
        for found in self.data("findings"):
            yield from found

    @staticmethod
    def keep(name, content, media_type):
        """Sends a file along with the answer."""
        folder = os.environ.get("PODIUM_DIR")
        if folder:
            (pathlib.Path(folder) / "out" / name).write_text(content, encoding="utf-8")

    def answer(self, text, data):
        result = {"data": data}
        if text:
            result["text"] = text
        if self.untold:
            result["text"] = f"{text}\nNot answered: {', '.join(self.untold)}. {self.what}."
            result = {"status": "partial", "result": result}
        print(json.dumps(result, ensure_ascii=False))
        sys.exit(0)
