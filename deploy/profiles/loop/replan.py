#!/usr/bin/python3
"""replanner: after each step, either the response to the person, or the steps that are still needed. It is asked by a request of kind judge.

Its rules are few. A validation that has failed is reviewed, queried again and validated again, at most twice, where the rules of notation can
tell what is meant or somebody can be asked. When memory is low, what is there is the answer.
"""

from step import answer, payload, reading_of

MOST_REVIEWS = 2
RETURN = "Return the answer to the user"


def respond(lines, status="completed"):
    words = "\n".join(dict.fromkeys(lines))
    answer(words, {"response": words}, status)


def give_up(words):
    """Says why there is no answer: the run has failed then, and who reads its state alone knows it too."""
    answer(words, {"response": words, "answered": False})


def go_on(steps):
    answer("\n".join(steps), {"steps": steps})


class Work:
    """What has been done, oldest first, each with the data of its result."""

    def __init__(self, task):
        self.task = task
        asked, results = task["context"]["arguments"], task["context"].get("inputs", {})
        ended = [step for step in asked["tasks"] if step["state"] in ("completed", "failed")]
        self.done = [(step, results.get(step["task"], {}).get("data") or {}) for step in ended]
        self.left = [step["description"] for step in asked["tasks"] if step["state"] == "pending"]
        self.low = any(condition["name"] == "vram_low" and condition["value"] is True for condition in asked.get("conditions", []))

    def data(self, member):
        return [data for _, data in self.done if member in data]

    def asks_validity(self):
        """Whether the question is if a SMILES is valid: then a fault of it is the answer."""
        return any(ask.kind == "valid" for clause in reading_of(self.task).clauses for ask in clause.asks)


def mendable(written):
    from chemistry.mend import perhaps, sure  # RDKit is read only where it is needed
    return sure(written) is not None or perhaps(written) is not None


def computed(work):
    """The answer that RDKit alone gives, of the SMILES in the question."""
    from chemistry.replies import reply_to
    reading, left_out = reading_of(work.task), []
    for clause in reading.clauses:
        left_out += [molecule.written for molecule in clause.molecules if molecule.how != "smiles"]
        if any(ask.kind == "name" for ask in clause.asks):
            left_out.append("the name")
        clause.molecules = [molecule for molecule in clause.molecules if molecule.how == "smiles"]
        clause.asks = [ask for ask in clause.asks if ask.kind != "name"]
    reading.clauses = [clause for clause in reading.clauses if clause.molecules and (clause.asks or clause.operations)]
    return reply_to(reading) if reading.clauses else None, list(dict.fromkeys(left_out))


def after_failure(work, step, data):
    if data.get("valid") is False:
        told = f"{data['written']} is no valid SMILES. RDKit says: {data['error_message']}"
        reviews = len([one for one in work.data("valid") if one["valid"] is False])
        if work.asks_validity() or len(data["all"]) > 1:
            reply, _ = computed(work)
            return respond([*reply.lines, *reply.missing], "partial" if reply.missing else "completed") if reply.lines else give_up("\n".join(reply.missing))
        if reviews > MOST_REVIEWS or work.low or not mendable(data["written"]):
            return give_up(told)
        return go_on([
            f"Review the validation error: {data['error_message']}",
            f"Call 'answer_chemistry_query' again with clearer instructions: the structure nearest to {data['written']}",
            "Call 'validate_smiles_rdkit' to verify the corrected SMILES", RETURN,
        ])
    return give_up(step.get("failure", {}).get("detail") or "It could not be done.")


def concluded(work):
    """The sentences for the person, once something was answered and validated, or needs no validation."""
    found = work.data("lines")[-1]
    passages = [f"“{one['passage']}” ({one['place']})" for data in work.data("passages") for one in data["passages"]]
    return respond([*found["lines"], *found["missing"], *found["read"], *passages], "partial" if found["missing"] else "completed")


def judge(work):
    step, data = work.done[-1]
    checked = [data for data in work.data("valid") if data["valid"]]
    if step["state"] == "failed":
        return after_failure(work, step, data)
    if work.low and ("needed" in data or checked):
        reply, left_out = computed(work)
        about = f"VRAM is LOW, so that nothing is looked up about {' and '.join(left_out)}." if left_out else ""
        if reply is None or not reply.lines:
            return give_up(f"{about or 'VRAM is LOW.'} Ask again later, or write its SMILES, which RDKit reads.")
        return respond([*reply.lines, *reply.missing, *filter(None, [about])], "partial" if about or reply.missing else "completed")
    if work.data("lines") and ("valid" in data or "needed" in data or "lines" in data and checked):
        return concluded(work)
    return go_on(work.left) if work.left else give_up("Nothing was found.")


judge(Work(payload()))
