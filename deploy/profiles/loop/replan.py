#!/usr/bin/python3
"""replanner: after each step, either the response to the person, or the steps that are still needed. It is asked by a request of kind judge.

Its rules are few. A validation that has failed is reviewed, queried again and validated again, at most twice, where the rules of notation can
tell what is meant or somebody can be asked. When memory is low, what is there is the answer.
"""

import re

from chemistry import answer, asked_name, cannot_of, kinds_of, payload, words_of

SENTENCE = {
    "MOLFORMULA": "The molecular formula of {of} is {value}.", "SMILES": "The SMILES of {of} is {value}.",
    "NUMBER": "The molecular weight of {of} is {value} g/mol.", "EXACT": "The exact mass of {of} is {value} u, of its most common isotopes.", "IUPAC": "{of} is {value}.",
    "LOGP": "The logP of {of} is {value} (Crippen, calculated).", "VALID": "{of} is a valid SMILES.",
}
SYSTEMATIC = re.compile(r"\b(?:IUPAC|systematic) name", re.I)
MOST_REVIEWS = 2
RETURN = "Return the answer to the user"


def respond(words):
    answer(words, {"response": words})


def give_up(words):
    """Says why there is no answer: the run has failed then, and who reads its state alone knows it too."""
    answer(words, {"response": words, "answered": False})


def go_on(steps):
    answer("\n".join(steps), {"steps": steps})


class Work:
    """What has been done, oldest first, each with the data of its result."""

    def __init__(self, task):
        self.words = words_of(task)
        self.kinds = kinds_of(self.words) or ["SMILES"]
        asked, results = task["context"]["arguments"], task["context"].get("inputs", {})
        ended = [step for step in asked["tasks"] if step["state"] in ("completed", "failed")]
        self.done = [(step, results.get(step["task"], {}).get("data") or {}) for step in ended]
        self.left = [step["description"] for step in asked["tasks"] if step["state"] == "pending"]
        self.low = any(condition["name"] == "vram_low" and condition["value"] is True for condition in asked.get("conditions", []))

    def data(self, member):
        return [data for _, data in self.done if member in data]


def mendable(written):
    from mend import perhaps, sure  # RDKit is read only where it is needed
    return sure(written) is not None or perhaps(written) is not None


def after_failure(work, step, data):
    if data.get("valid") is False:
        told = f"{data['written']} is no valid SMILES. RDKit says: {data['error_message']}"
        reviews = len([one for one in work.data("valid") if one["valid"] is False])
        if work.kinds == ["VALID"]:
            return respond(told)
        if reviews > MOST_REVIEWS or work.low or not mendable(data["written"]):
            return give_up(told)
        return go_on([
            f"Review the validation error: {data['error_message']}",
            f"Call 'answer_chemistry_query' again with clearer instructions: the structure nearest to {data['written']}",
            "Call 'validate_smiles_rdkit' to verify the corrected SMILES", RETURN,
        ])
    return give_up(step.get("failure", {}).get("detail") or "It could not be done.")


def sentence(kind, found, name, of, by_rule=False):
    """What is told of one thing that was asked for."""
    if kind == "IUPAC" and name is None:
        return f"No name of {of} is in the table."
    if kind == "IUPAC" and by_rule:
        return f"{found['written']} is {name}, by the table of names; whether that is its name by the rules of IUPAC is not known here."
    value = {"MOLFORMULA": found["formula"], "NUMBER": found["weight"], "EXACT": found["exact"], "LOGP": found["logp"], "IUPAC": name, "VALID": "", "SMILES": found["written"]}[kind]
    return SENTENCE[kind].format(of=found["written"] if kind in ("IUPAC", "VALID") else of, value=value)


def cannot(work):
    words = cannot_of(work.words)
    return [f"This cannot be given here: {', '.join(words)}."] if words else []


def concluded(work):
    """The sentences for the person, once something was answered and validated, or needs no validation."""
    found, checked = work.data("value")[-1], [data for data in work.data("valid") if data["valid"]]
    molecule = {**found["properties"], "written": checked[-1]["written"] if checked else found["value"] if found["kind"] == "SMILES" else found["properties"]["smiles"]}
    told = [" ".join(sentence(kind, molecule, found["name"], found["name"] or molecule["written"], SYSTEMATIC.search(work.words)) for kind in work.kinds)]
    told += [one["mended"] for one in work.data("mended")]
    return "\n".join([*told, *cannot(work), *(f"“{one['passage']}” ({one['place']})" for data in work.data("passages") for one in data["passages"])])


def judge(work):
    step, data = work.done[-1]
    checked = [data for data in work.data("valid") if data["valid"]]
    if step["state"] == "failed":
        return after_failure(work, step, data)
    of_structure = [kind for kind in work.kinds if kind != "IUPAC"]
    if work.low and checked and of_structure:
        left_out = ["VRAM is LOW, so that no name is looked up."] if "IUPAC" in work.kinds else []
        return respond("\n".join([" ".join(sentence(kind, checked[-1], None, checked[-1]["written"]) for kind in of_structure), *left_out, *cannot(work)]))
    if work.low and ("needed" in data or checked):
        about, instead = (checked[-1]["written"], "") if checked else (asked_name(work.words) or "it", ", or write its SMILES, which RDKit reads")
        return give_up(f"VRAM is LOW, so that nothing is looked up about {about}. Ask again later{instead}.")
    if work.data("value") and ("valid" in data or "needed" in data or "value" in data and checked):
        return respond(concluded(work))
    return go_on(work.left) if work.left else give_up("Nothing was found.")


judge(Work(payload()))
