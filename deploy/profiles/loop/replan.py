#!/usr/bin/python3
"""replanner: after each step, either the response to the person, or the steps that are still needed. It is asked by a request of kind judge.

Its rules are few. A validation that has failed is reviewed, queried again and validated again, at most twice. A name that is not known is
looked for by the nearest one, once. When memory is low, what is there is the answer.
"""

import re

from chemistry import answer, asked_name, kind_of, names, nearest, nearest_name, payload, words_of

SENTENCE = {
    "MOLFORMULA": "The molecular formula of {of} is {value}.", "SMILES": "The SMILES of {of} is {value}.",
    "NUMBER": "The molecular weight of {of} is {value} g/mol.", "IUPAC": "{of} is {value}.",
}
MOST_REVIEWS = 2
RETURN = "Return the answer to the user"


def respond(words):
    answer(words, {"response": words})


def go_on(steps):
    answer("\n".join(steps), {"steps": steps})


class Work:
    """What has been done, oldest first, each with the data of its result."""

    def __init__(self, task):
        self.words, self.kind = words_of(task), kind_of(words_of(task))
        asked, results = task["context"]["arguments"], task["context"].get("inputs", {})
        ended = [step for step in asked["tasks"] if step["state"] in ("completed", "failed")]
        self.done = [(step, results.get(step["task"], {}).get("data") or {}) for step in ended]
        self.left = [step["description"] for step in asked["tasks"] if step["state"] == "pending"]
        self.low = any(condition["name"] == "vram_low" and condition["value"] is True for condition in asked.get("conditions", []))

    def data(self, member):
        return [data for _, data in self.done if member in data]


def after_failure(work, step, data):
    if data.get("valid") is False:
        reviews = len([one for one in work.data("valid") if one["valid"] is False])
        if reviews > MOST_REVIEWS or work.low or nearest(data["written"], names()) is None:
            return respond(f"{data['written']} is no valid SMILES. RDKit says: {data['error_message']}")
        return go_on([
            f"Review the validation error: {data['error_message']}",
            f"Call 'answer_chemistry_query' again with clearer instructions: the structure nearest to {data['written']}",
            "Call 'validate_smiles_rdkit' to verify the corrected SMILES", RETURN,
        ])
    why = (step.get("failure", {}).get("detail") or "It could not be done.").removeprefix("The program has failed: ")
    unknown = re.search(r'There is no "(.+)" in the table', why)
    near = nearest_name(unknown[1], names()) if unknown else None
    if near is None or len([step for step, _ in work.done if step["state"] == "failed"]) > 1:
        return respond(why)
    return go_on([f"Call 'answer_chemistry_query' again with clearer instructions: the name {near}", "Call 'validate_smiles_rdkit' to validate the SMILES", RETURN])


def concluded(work):
    """The sentence for the person, once something was answered and validated, or needs no validation."""
    answers, checked = work.data("value"), [data for data in work.data("valid") if data["valid"]]
    found = answers[-1]
    if found["kind"] != work.kind and checked:  # the structure was mended, and what is asked of it is what RDKit says
        found = {**found, "kind": work.kind, "value": of_structure(checked[-1], work.kind) if work.kind != "IUPAC" else found["of"]}
    instead = next((one["instead_of"] for one in answers if "instead_of" in one), None)
    told = SENTENCE[found["kind"]].format(**found) + (f" It was taken for {instead}, which is no valid SMILES." if instead else "")
    return "\n".join([told, *(f"“{one['passage']}” ({one['place']})" for data in work.data("passages") for one in data["passages"])])


def of_structure(checked, kind):
    return {"MOLFORMULA": checked["formula"], "NUMBER": str(checked["weight"])}.get(kind, checked["smiles"])


def judge(work):
    step, data = work.done[-1]
    checked = [data for data in work.data("valid") if data["valid"]]
    if step["state"] == "failed":
        return after_failure(work, step, data)
    if work.low and checked and work.kind != "IUPAC":
        return respond(SENTENCE[work.kind].format(of=checked[-1]["written"], value=of_structure(checked[-1], work.kind)))
    if work.low and "needed" in data:
        return respond(f"VRAM is LOW, so that nothing is looked up about {asked_name(work.words) or 'it'}. Ask again later, or write its SMILES, which RDKit reads.")
    if work.data("value") and ("valid" in data or "needed" in data or "value" in data and checked):
        return respond(concluded(work))
    return go_on(work.left) if work.left else respond("Nothing was found.")


judge(Work(payload()))
