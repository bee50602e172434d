"""Was von Fundstellen des Wissens jeder lesen darf."""

import re

NUMBER = re.compile(r"\b(?:P|PAT|PT)[-_]?\d", re.IGNORECASE)


def readable(results):
    """Fundstellen, die nicht von einem einzelnen Patienten handeln: wer fragt, ist nicht immer der, dessen Nummer er nennt."""
    return [found["passage"] for found in results if "patient_id" not in found["medical_context"] and not NUMBER.search(found["passage"])]
